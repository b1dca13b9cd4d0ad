import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../scripts/root.ts'
import type { ScriptStep } from '../support/model-script.ts'
import { startModelServer } from '../support/model-server.ts'
import { windowThemes } from '../support/window-themes.ts'
import { withWorkbench, type Workbench } from '../support/workbench.ts'

/** Asks three things, one of them a password that it does not show. */
const ask = `read -p 'Your name? ' name
read -s -p 'Password: ' password; echo
read -p 'Port? ' port
echo "$name listens on $port, and the password has \${#password} characters."
`

const call = (name: string, args: object): ScriptStep => ({ answer: { parts: [{ toolCalls: [{ name: `terminal_${name}`, arguments: args }] }] } })
const say = (text: string): ScriptStep => ({ answer: { parts: [{ text }] } })

const conversation = ({ chat }: Workbench) => chat.getByRole('log', { name: 'Conversation' })

async function send({ chat }: Workbench, text: string) {
  const composer = chat.getByRole('textbox', { name: 'Message' })
  await composer.fill(text)
  await composer.press('Enter')
}

/** Keys that are pressed before it has the focus would go elsewhere. */
async function focusTerminal({ page, runCommand }: Workbench) {
  await runCommand('Terminal: Focus Terminal')
  await page.locator('.terminal-wrapper.active .xterm-screen').click()
  await page.locator('.terminal-wrapper.active .xterm.focus').waitFor()
}

const modelSettings = (url: string) => ({
  'bosun.providers': { loopback: { name: 'Loopback', baseUrl: url, models: ['scripted'], keyName: null } },
  'bosun.model.provider': 'loopback',
  'bosun.model.name': 'scripted',
  'bosun.permissions.defaultPreset': 'danger-full-access',
  // Text in the page instead of a picture of it.
  'terminal.integrated.gpuAcceleration': 'off',
})

for (const { name: look, theme } of windowThemes) {
  test(`an interactive program is driven in a native terminal by agent and person in turn (${look})`, async () => {
    const server = await startModelServer({
      steps: [
        call('open', { type: 'bash', name: 'setup' }),
        call('send', { sessionId: 'pty-1', text: 'bash ask.sh' }),
        say('Please answer the first two questions in the terminal.'),
        call('read', { sessionId: 'pty-1', mode: 'screen' }),
        call('send', { sessionId: 'pty-1', text: '8080' }),
        call('send', { sessionId: 'pty-1', text: `"${process.execPath}" menu.mjs` }),
        say('Please choose in the menu.'),
        call('read', { sessionId: 'pty-1', mode: 'screen' }),
        say('The menu is done.'),
        call('send', { sessionId: 'pty-1', text: 'stty size' }),
        say('I have seen the size.'),
        say('You closed it.'),
      ],
    })
    /** What the model was told last, in the words of the wire. */
    const told = () => server.chats().at(-1)?.body ?? ''
    try {
      await withWorkbench({ theme, settings: modelSettings(server.url), files: { 'ask.sh': ask, 'menu.mjs': await readFile(join(root, 'test/fixtures/menu.mjs')) } }, async (workbench) => {
        const { page } = workbench
        const rows = page.locator('.terminal-wrapper.active .xterm-rows')
        const shows = (text: string) => rows.getByText(text).first().waitFor()
        const said = (text: string) => conversation(workbench).getByText(text).first().waitFor()
        await workbench.runCommand('Bosun: Open Chat')
        await send(workbench, 'Set the server up')
        await said('first two questions')
        // The terminal is there, in the panel nobody opened, and the keyboard is still where the person had it.
        assert.equal(await page.locator('.part.panel').isVisible(), false)
        assert.equal(await workbench.chat.getByRole('textbox', { name: 'Message' }).evaluate((element) => element === element.ownerDocument.activeElement), true)

        await focusTerminal(workbench)
        await shows('Your name?')
        await page.locator('.pane-header, .panel .composite.title').getByText('Bosun: setup').first().waitFor()
        await page.keyboard.type('ada\n')
        await shows('Password:')
        await page.keyboard.type('hunter2\n')
        await shows('Port?')
        await workbench.screenshot(`term-asked-${look}`)

        await send(workbench, 'I typed my name and the password')
        await said('choose in the menu')
        await shows('Where is the gauge?')
        const [asked, answered] = server.chats().slice(-3).map(({ body }) => body)
        assert.match(asked ?? '', /Port\?[^]*the person typed here: [^]*ada[^]*⟪hidden⟫/)
        assert.match(answered ?? '', /ada listens on 8080, and the password has 7 characters/)
        assert.match(told(), /> North Pier/)
        // Nobody but the program ever got the password.
        for (const { body } of server.chats()) assert.ok(!body.includes('hunter2'))
        await workbench.screenshot(`term-menu-${look}`)

        await focusTerminal(workbench)
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('ArrowDown')
        await shows('> Lighthouse')
        await page.keyboard.press('Enter')
        await shows('The gauge is at Lighthouse.')
        await send(workbench, 'I have chosen')
        await said('The menu is done.')
        assert.match(told(), /The gauge is at Lighthouse/)
        assert.match(told(), /\\\\u001b\[B/)

        // The program has the size of the tab.
        await page.setViewportSize({ width: 1000, height: 800 })
        const columns = async () => Number(/(\d+)\\n\$/.exec(/stty size\\n\d+ [^"]*/.exec(told())?.[0] ?? '')?.[1])
        await send(workbench, 'Look how large it is')
        await said('I have seen the size.')
        const small = await columns()
        assert.ok(small > 10 && small < 160, `${small} columns`)
        await workbench.screenshot(`term-done-${look}`)

        await workbench.runCommand('Terminal: Kill the Active Terminal Instance')
        await rows.waitFor({ state: 'detached' })
        await send(workbench, 'I closed it')
        await said('You closed it.')
        assert.match(told(), /The person closed your bash terminal pty-1 \(setup\)/)
        await workbench.screenshot(`term-closed-${look}`)
        assert.equal(server.unused(), 0)
      })
    } finally {
      await server.close()
    }
  })
}

test('a terminal of the person’s is asked for by its name, driven where they see it, and taken back', async () => {
  const server = await startModelServer({
    steps: [
      call('list', {}),
      call('open', { type: 'bash', adopt: 'person-1' }),
      call('send', { sessionId: 'pty-1', text: 'sleep 1; echo "sum $((40+2))"' }),
      say('It is done in your terminal.'),
      say('It is yours again.'),
    ],
  })
  const told = () => server.chats().at(-1)?.body ?? ''
  try {
    await withWorkbench({ settings: { ...modelSettings(server.url), 'bosun.terminals.adopt': true } }, async (workbench) => {
      const { page } = workbench
      const rows = page.locator('.terminal-wrapper.active .xterm-rows')
      const said = (text: string) => conversation(workbench).getByText(text).first().waitFor()
      await workbench.runCommand('Terminal: Create New Terminal')
      await rows.getByText(/[#$]/).first().waitFor()
      // Shell integration is there once a command is known to have ended.
      await page.keyboard.type('sleep 0.5; echo re""ady\n')
      await rows.getByText('ready').first().waitFor()
      await workbench.runCommand('Bosun: Open Chat')
      await send(workbench, 'Run the sum in my terminal')
      const toast = page.locator('.notification-toast').filter({ hasText: 'Read and type in your terminal' })
      await toast.waitFor()
      await workbench.screenshot('term-adopt-asked')
      await toast.getByRole('button', { name: 'Allow once' }).click()
      await said('It is done in your terminal.')
      await rows.getByText('sum 42').first().waitFor()
      assert.match(told(), /\$ sleep 1; echo [^]*sum 42/)
      await workbench.screenshot('term-adopted')

      await workbench.runCommand('Bosun: Take Back Terminals')
      await workbench.chat.getByText('Your terminal is yours alone again.').first().waitFor()
      await workbench.screenshot('term-taken-back')
      await send(workbench, 'I took it back')
      await said('It is yours again.')
      assert.match(told(), /The person took their terminal pty-1/)
      assert.equal(server.unused(), 0)
    })
  } finally {
    await server.close()
  }
})
