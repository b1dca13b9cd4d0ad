import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Workbench } from '../support/workbench.ts'
import { withWorkbench } from '../support/workbench.ts'
import type { ModelScript } from '../support/model-script.ts'
import { startModelServer, type ModelServer } from '../support/model-server.ts'

/** Settings that make a loopback server the model. */
const modelAt = ({ url }: ModelServer) => ({
  'bosun.providers': { loopback: { name: 'Loopback', baseUrl: url, models: ['scripted'], keyName: null } },
  'bosun.model.provider': 'loopback',
  'bosun.model.name': 'scripted',
})

async function withChat(script: ModelScript, body: (workbench: Workbench, server: ModelServer) => Promise<void>, options: Parameters<typeof withWorkbench>[0] = {}) {
  const server = await startModelServer(script)
  try {
    await withWorkbench({ ...options, settings: { ...modelAt(server), ...options.settings } }, async (workbench) => {
      await workbench.runCommand('Bosun: Open Chat')
      await composer(workbench).waitFor()
      await body(workbench, server)
    })
  } finally {
    await server.close()
  }
}

const composer = ({ chat }: Workbench) => chat.getByRole('textbox', { name: 'Message' })
const conversation = ({ chat }: Workbench) => chat.getByRole('log', { name: 'Conversation' })

async function send(workbench: Workbench, text: string) {
  await composer(workbench).fill(text)
  await workbench.chat.getByRole('button', { name: 'Send' }).click()
}

const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] })

test('a request is worked off: search, read, edit, a command after approval; the change opens as a diff; a reload changes nothing', () =>
  withChat(
    {
      steps: [
        { when: /Raise the tide/, answer: { parts: [{ reasoning: 'I look for it first.' }, { text: 'I look for the tide.' }, call('grep', { pattern: 'heightCm: 342' })] } },
        { answer: { parts: [call('read', { file_path: 'src/main.ts' })] } },
        { answer: { parts: [call('todo_write', { todos: [{ content: 'Raise it', status: 'in_progress' }, { content: 'Check it', status: 'pending' }] })] } },
        { answer: { parts: [call('edit', { file_path: 'src/main.ts', old_string: '342', new_string: '399' })] } },
        { answer: { parts: [call('bash', { command: 'touch checked.txt && echo done', description: 'Mark it as checked' })] } },
        { answer: { parts: [{ text: 'The tide is **399** now.' }] } },
      ],
    },
    async (workbench) => {
      const { page, folder } = workbench
      await send(workbench, 'Raise the tide to 399')

      // Each risky call is asked for in a notification; allowing them one by one lets the turn go on.
      const answered: string[] = []
      const end = conversation(workbench).getByText('399 now')
      for (;;) {
        const toast = page.locator('.notification-toast').filter({ hasText: 'Allow once' }).first()
        await Promise.race([toast.waitFor(), end.waitFor()])
        if (await end.isVisible()) break
        answered.push(await toast.innerText())
        if (answered.length === 1) await workbench.screenshot('chat-approval')
        const buttons = await toast.getByRole('button').allInnerTexts()
        assert.ok(buttons.includes('Allow once') && buttons.includes('Deny'), buttons.join(' | '))
        await toast.getByRole('button', { name: 'Allow once' }).click()
        await toast.waitFor({ state: 'detached' })
      }
      await workbench.screenshot('chat-finished')
      assert.ok(answered.length >= 1)
      assert.match(await readFile(join(folder, 'src/main.ts'), 'utf8'), /heightCm: 399/)
      await readFile(join(folder, 'checked.txt'))

      const cards = () => conversation(workbench).locator('[data-tool]').evaluateAll((elements) => elements.map((element) => element.getAttribute('data-tool')))
      const before = { cards: await cards(), articles: await conversation(workbench).getByRole('article').count() }
      assert.deepEqual(new Set(before.cards), new Set(['grep', 'read', 'todo_write', 'edit', 'bash']))
      await workbench.chat.getByRole('region', { name: 'Tasks' }).waitFor()

      const edit = conversation(workbench).locator('[data-tool="edit"]')
      await edit.hover()
      await edit.getByRole('button', { name: 'Open diff' }).click()
      await page.getByRole('tab', { name: 'main.ts (before and now)' }).waitFor()
      await page.locator('.monaco-diff-editor .view-line').filter({ hasText: '399' }).first().waitFor()
      await workbench.screenshot('chat-diff')

      await workbench.reload()
      await conversation(workbench).getByText('399 now').waitFor()
      await workbench.chat.getByRole('region', { name: 'Tasks' }).waitFor()
      assert.deepEqual({ cards: await cards(), articles: await conversation(workbench).getByRole('article').count() }, before)
      await workbench.screenshot('chat-reloaded')
    },
  ))

test('a reload in the middle of an answer keeps what was said, marks the turn, and Continue goes on', () =>
  withChat(
    {
      steps: [
        { answer: { parts: [call('todo_write', { todos: [{ content: 'Tell it', status: 'in_progress' }] })] } },
        { answer: { parts: [{ text: 'The first half is here. ' }, { waitMs: 120_000 }, { text: 'The second half.' }] } },
        { answer: { parts: [{ text: 'And this is the rest of it.' }] } },
      ],
    },
    async (workbench, server) => {
      await send(workbench, 'Tell me a long story')
      await conversation(workbench).getByText('The first half is here.').first().waitFor()
      await workbench.reload()
      await conversation(workbench).getByText('The first half is here.').first().waitFor()
      await conversation(workbench).getByText('The window closed while Bosun was working.').first().waitFor()
      await workbench.chat.getByRole('region', { name: 'Tasks' }).waitFor()
      await workbench.screenshot('chat-interrupted')
      await conversation(workbench).getByRole('button', { name: 'Continue' }).click()
      await conversation(workbench).getByText('the rest of it').first().waitFor()
      assert.equal(server.unused(), 0)
    },
  ))

test('without a key the tour plays, says that it is a script, and changes only a file of its own', () =>
  withWorkbench({}, async (workbench) => {
    await workbench.runCommand('Bosun: Open Chat')
    await composer(workbench).waitFor()
    await workbench.chat.getByText('No model is set up yet.').first().waitFor()
    await workbench.screenshot('chat-first-run')
    const untouched = await readFile(join(workbench.folder, 'src/main.ts'), 'utf8')
    await send(workbench, 'start')
    const end = conversation(workbench).locator('article.turn-end')
    for (let asked = 0; !(await end.isVisible()); asked += 1) {
      const allow = workbench.page.locator('.notification-toast').getByRole('button', { name: 'Allow once' }).first()
      await Promise.race([allow.waitFor(), end.waitFor()])
      if (await allow.isVisible()) await allow.click()
      assert.ok(asked < 20)
    }
    await workbench.screenshot('chat-tour')
    assert.ok((await readdir(workbench.folder)).some((name) => name.startsWith('bosun-tour')))
    assert.equal(await readFile(join(workbench.folder, 'src/main.ts'), 'utf8'), untouched)
    await conversation(workbench).locator('[data-card="diff"]').first().waitFor()
  }))

test('unsaved text stays beside the change of the agent, undo takes back the agent’s alone; an answer in the chat clears the notification', () =>
  withChat(
    {
      steps: [
        { answer: { parts: [call('read', { file_path: 'src/tides.ts' })] } },
        { answer: { parts: [call('edit', { file_path: 'src/tides.ts', old_string: 'undefined,\n  )', new_string: 'undefined, // none\n  )' })] } },
        { answer: { parts: [call('bash', { command: 'rm -rf src', description: 'Remove the sources' })] } },
        { answer: { parts: [{ text: 'That is all.' }] } },
      ],
    },
    async (workbench) => {
      const { page, chat, folder } = workbench
      const onDisk = await readFile(join(folder, 'src/tides.ts'), 'utf8')
      await workbench.openFile('src/tides.ts')
      const editor = page.locator('.editor-instance .monaco-editor').first()
      await editor.locator('.view-line').first().click()
      await page.keyboard.press('ControlOrMeta+Home')
      await page.keyboard.type('/* mine */')
      // The editor draws what is typed a frame or more later, so the text is waited for.
      const shows = (text: RegExp) => editor.locator('.view-lines').filter({ hasText: text }).waitFor()
      await shows(/mine\s\*\/export\stype\sTide/)

      await send(workbench, 'Say what it means')
      const toast = page.locator('.notification-toast').filter({ hasText: 'Allow once' })
      const approvals = chat.getByRole('region', { name: 'Approvals' })
      await toast.waitFor()
      await approvals.getByRole('button', { name: 'Allow once' }).click()
      await approvals.getByText(/rm -rf src/).first().waitFor()
      await workbench.screenshot('chat-destructive')
      await approvals.getByRole('button', { name: 'Deny', exact: true }).click()
      await conversation(workbench).getByText('That is all.').waitFor()
      await toast.waitFor({ state: 'hidden' })

      await shows(/mine\s\*\/export\stype\sTide[\s\S]*undefined,\s\/\/\snone/)
      assert.equal(await readFile(join(folder, 'src/tides.ts'), 'utf8'), onDisk)
      await workbench.screenshot('chat-unsaved')
      await editor.locator('.view-line').nth(2).click()
      await page.keyboard.press('ControlOrMeta+Z')
      await page.waitForFunction(() => !document.querySelector('.editor-instance .view-lines')?.textContent?.includes('none'))
      await shows(/mine\s\*\/export\stype\sTide/)
    },
    { settings: { 'files.autoSave': 'off' } },
  ))

test('a folder nobody has trusted offers the model reading tools alone, and what it tries all the same changes nothing', () =>
  withChat(
    {
      steps: [
        { answer: { parts: [call('read', { file_path: 'a.txt' })] } },
        { answer: { parts: [call('write', { file_path: 'a.txt', content: 'changed' })] } },
        { answer: { parts: [{ text: 'Nothing more.' }] } },
      ],
    },
    async (workbench, server) => {
      await send(workbench, 'Change it')
      await conversation(workbench).getByText('Nothing more.').waitFor()
      const { tools } = JSON.parse(server.chats()[0]?.body ?? '{}') as { readonly tools: readonly { readonly function: { readonly name: string } }[] }
      const offered = tools.map((tool) => tool.function.name)
      assert.deepEqual(['bash', 'edit', 'write'].filter((name) => offered.includes(name)), [])
      assert.deepEqual(['glob', 'grep', 'read'].filter((name) => !offered.includes(name)), [])
      assert.equal(await readFile(join(workbench.folder, 'a.txt'), 'utf8'), 'as it was\n')
      await workbench.screenshot('chat-untrusted')
    },
    { withWorkspaceTrust: true, isEmpty: true, files: { 'a.txt': 'as it was\n' } },
  ))
