import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../scripts/root.ts'
import type { ModelScript, ScriptStep } from '../support/model-script.ts'
import type { ModelServer } from '../support/model-server.ts'
import { withModelWindow } from '../support/model-window.ts'
import { windowThemes } from '../support/window-themes.ts'
import type { Workbench } from '../support/workbench.ts'

/** Asks three things, one of them a password that it does not show. */
const ask = `read -p 'Your name? ' name
read -s -p 'Password: ' password; echo
read -p 'Port? ' port
echo "$name listens on $port, and the password has \${#password} characters."
`

const call = (name: string, args: object): ScriptStep => ({ answer: { parts: [{ toolCalls: [{ name: `terminal_${name}`, arguments: args }] }] } })
const say = (text: string): ScriptStep => ({ answer: { parts: [{ text }] } })

/** By key, which keeps the focus in the box. */
async function send({ message }: Workbench, text: string) {
  await message.fill(text)
  await message.press('Enter')
}

/** What the model was told last, in the words of the wire. */
const lastTold = (server: ModelServer) => server.chats().at(-1)?.body ?? ''

/** Keys that are pressed before it has the focus would go elsewhere. */
async function focusTerminal({ page, runCommand }: Workbench) {
  await runCommand('Terminal: Focus Terminal')
  await page.locator('.terminal-wrapper.active .xterm-screen').click()
  await page.locator('.terminal-wrapper.active .xterm.focus').waitFor()
}

const settings = {
  'bosun.permissions.defaultPreset': 'danger-full-access',
  // Text in the page instead of a picture of it.
  'terminal.integrated.gpuAcceleration': 'off',
}

const interactive: ModelScript = {
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
}

for (const { name: look, theme } of windowThemes) {
  test(`an interactive program is driven in a native terminal by agent and person in turn (${look})`, async () =>
    withModelWindow(interactive, { theme, settings, files: { 'ask.sh': ask, 'menu.mjs': await readFile(join(root, 'test/fixtures/menu.mjs')) } }, async (workbench, server) => {
      const { page } = workbench
      const rows = page.locator('.terminal-wrapper.active .xterm-rows')
      const shows = (text: string) => rows.getByText(text).first().waitFor()
      const said = (text: string) => workbench.conversation.getByText(text).first().waitFor()
      await workbench.runCommand('Bosun: Open Chat')
      await send(workbench, 'Set the server up')
      await said('first two questions')
      // The terminal is there, in the panel nobody opened, and the keyboard is still where the person had it.
      assert.equal(await page.locator('.part.panel').isVisible(), false)
      assert.equal(await workbench.message.evaluate((element) => element === element.ownerDocument.activeElement), true)

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
      assert.match(lastTold(server), /> North Pier/)
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
      assert.match(lastTold(server), /The gauge is at Lighthouse/)
      assert.match(lastTold(server), /\\\\u001b\[B/)

      // The program has the size of the tab.
      await page.setViewportSize({ width: 1000, height: 800 })
      await send(workbench, 'Look how large it is')
      await said('I have seen the size.')
      const small = Number(/(\d+)\\n\$/.exec(/stty size\\n\d+ [^"]*/.exec(lastTold(server))?.[0] ?? '')?.[1])
      assert.ok(small > 10 && small < 160, `${small} columns`)
      await workbench.screenshot(`term-done-${look}`)

      await workbench.runCommand('Terminal: Kill the Active Terminal Instance')
      await rows.waitFor({ state: 'detached' })
      await send(workbench, 'I closed it')
      await said('You closed it.')
      assert.match(lastTold(server), /The person closed your bash terminal pty-1 \(setup\)/)
      await workbench.screenshot(`term-closed-${look}`)
      assert.equal(server.unused(), 0)
    }))
}

const inTheirs: ModelScript = {
  steps: [
    call('list', {}),
    call('open', { type: 'bash', adopt: 'person-1' }),
    call('send', { sessionId: 'pty-1', text: 'sleep 1; echo "sum $((40+2))"' }),
    say('It is done in your terminal.'),
    say('It is yours again.'),
  ],
}

test('a terminal of the person’s is asked for by its name, driven where they see it, and taken back', () =>
  withModelWindow(inTheirs, { settings: { ...settings, 'bosun.terminals.adopt': true } }, async (workbench, server) => {
    const { page } = workbench
    const rows = page.locator('.terminal-wrapper.active .xterm-rows')
    const said = (text: string) => workbench.conversation.getByText(text).first().waitFor()
    await workbench.runCommand('Terminal: Create New Terminal')
    await rows.getByText(/[#$]/).first().waitFor()
    await page.locator('.terminal-wrapper.active .xterm.focus').waitFor()
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
    assert.match(lastTold(server), /\$ sleep 1; echo [^]*sum 42/)
    await workbench.screenshot('term-adopted')

    await workbench.runCommand('Bosun: Take Back Terminals')
    await workbench.chat.getByText('Your terminal is yours alone again.').first().waitFor()
    await workbench.screenshot('term-taken-back')
    await send(workbench, 'I took it back')
    await said('It is yours again.')
    assert.match(lastTold(server), /The person took their terminal pty-1/)
    assert.equal(server.unused(), 0)
  }))
