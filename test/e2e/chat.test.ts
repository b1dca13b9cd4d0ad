import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelScript } from '../support/model-script.ts'
import type { ModelServer } from '../support/model-server.ts'
import { withModelWindow } from '../support/model-window.ts'
import { clickLine, pressInRow, pressUntil, untilEqual, withWorkbench, type Workbench, type WorkbenchOptions } from '../support/workbench.ts'

const withChat = (script: ModelScript, body: (workbench: Workbench, server: ModelServer) => Promise<void>, options: WorkbenchOptions = {}) =>
  withModelWindow(script, options, async (workbench, server) => {
    await workbench.runCommand('Bosun: Open Chat')
    await workbench.message.waitFor()
    await body(workbench, server)
  })

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
      const { page, chat, conversation, folder } = workbench
      await workbench.send('Raise the tide to 399')

      // Each risky call is asked for in a notification; allowing them one by one lets the turn go on.
      const toast = workbench.notification('Allow once').first()
      const answered = await pressUntil(toast.getByRole('button', { name: 'Allow once' }), conversation.getByText('399 now'), async (count) => {
        // What the mouse is over stays.
        await toast.hover()
        for (const name of ['Allow once', 'Deny']) await toast.getByRole('button', { name, exact: true }).waitFor()
        if (count === 0) await workbench.screenshot('chat-approval')
      })
      await workbench.screenshot('chat-finished')
      assert.ok(answered >= 1)
      assert.match(await readFile(join(folder, 'src/main.ts'), 'utf8'), /heightCm: 399/)
      await readFile(join(folder, 'checked.txt'))

      const cards = () => conversation.locator('[data-tool]').evaluateAll((elements) => elements.map((element) => element.getAttribute('data-tool')))
      await conversation.locator('article.turn-end').waitFor()
      const before = { cards: await cards(), articles: await conversation.getByRole('article').count() }
      assert.deepEqual(new Set(before.cards), new Set(['grep', 'read', 'todo_write', 'edit', 'bash']))
      await chat.getByRole('region', { name: 'Tasks' }).waitFor()

      const edit = conversation.locator('[data-tool="edit"]')
      await pressInRow(edit, 'Open diff')
      await page.getByRole('tab', { name: 'main.ts (before and now)' }).waitFor()
      await page.locator('.monaco-diff-editor .view-line').filter({ hasText: '399' }).first().waitFor()
      await workbench.screenshot('chat-diff')

      await workbench.reload()
      await conversation.getByText('399 now').waitFor()
      await chat.getByRole('region', { name: 'Tasks' }).waitFor()
      await untilEqual(async () => ({ cards: await cards(), articles: await conversation.getByRole('article').count() }), before)
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
      const { chat, conversation } = workbench
      await workbench.send('Tell me a long story')
      await conversation.getByText('The first half is here.').first().waitFor()
      await workbench.reload()
      await conversation.getByText('The first half is here.').first().waitFor()
      await conversation.getByText('The window closed while Bosun was working.').first().waitFor()
      await chat.getByRole('region', { name: 'Tasks' }).waitFor()
      await workbench.screenshot('chat-interrupted')
      await conversation.getByRole('button', { name: 'Continue' }).click()
      await conversation.getByText('the rest of it').first().waitFor()
      assert.equal(server.unused(), 0)
    },
  ))

test('without a key the tour plays, says that it is a script, and changes only a file of its own', () =>
  withWorkbench({}, async (workbench) => {
    await workbench.runCommand('Bosun: Open Chat')
    await workbench.message.waitFor()
    await workbench.chat.getByText('No model is set up yet.').first().waitFor()
    await workbench.screenshot('chat-first-run')
    const untouched = await readFile(join(workbench.folder, 'src/main.ts'), 'utf8')
    await workbench.send('start')
    const asked = await pressUntil(workbench.notification('Allow once').getByRole('button', { name: 'Allow once' }).first(), workbench.conversation.locator('article.turn-end'))
    assert.ok(asked < 20)
    await workbench.screenshot('chat-tour')
    assert.ok((await readdir(workbench.folder)).some((name) => name.startsWith('bosun-tour')))
    assert.equal(await readFile(join(workbench.folder, 'src/main.ts'), 'utf8'), untouched)
    await workbench.conversation.locator('[data-card="diff"]').first().waitFor()
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
      const { page, chat, conversation, folder } = workbench
      const onDisk = await readFile(join(folder, 'src/tides.ts'), 'utf8')
      await workbench.openFile('src/tides.ts')
      const editor = page.locator('.editor-instance .monaco-editor').first()
      await clickLine(editor.locator('.view-line').first())
      await page.keyboard.press('ControlOrMeta+Home')
      await page.keyboard.type('/* mine */')
      // The editor draws what is typed a frame or more later, so the text is waited for.
      const shows = (text: RegExp) => editor.locator('.view-lines').filter({ hasText: text }).waitFor()
      await shows(/mine\s\*\/export\stype\sTide/)

      await workbench.send('Say what it means')
      const toast = workbench.notification('Allow once').first()
      const approvals = chat.getByRole('region', { name: 'Approvals' })
      await toast.waitFor()
      await approvals.getByRole('button', { name: 'Allow once' }).click()
      await approvals.getByText(/rm -rf src/).first().waitFor()
      await workbench.screenshot('chat-destructive')
      await approvals.getByRole('button', { name: 'Deny', exact: true }).click()
      await conversation.getByText('That is all.').waitFor()
      await toast.waitFor({ state: 'hidden' })

      await shows(/mine\s\*\/export\stype\sTide[\s\S]*undefined,\s\/\/\snone/)
      assert.equal(await readFile(join(folder, 'src/tides.ts'), 'utf8'), onDisk)
      await workbench.screenshot('chat-unsaved')
      await clickLine(editor.locator('.view-line').nth(2))
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
      await workbench.send('Change it')
      await workbench.conversation.getByText('Nothing more.').waitFor()
      const { tools } = JSON.parse(server.chats()[0]?.body ?? '{}') as { readonly tools: readonly { readonly function: { readonly name: string } }[] }
      const offered = tools.map((tool) => tool.function.name)
      assert.deepEqual(['bash', 'edit', 'write'].filter((name) => offered.includes(name)), [])
      assert.deepEqual(['glob', 'grep', 'read'].filter((name) => !offered.includes(name)), [])
      assert.equal(await readFile(join(workbench.folder, 'a.txt'), 'utf8'), 'as it was\n')
      await workbench.screenshot('chat-untrusted')
    },
    { withWorkspaceTrust: true, isEmpty: true, files: { 'a.txt': 'as it was\n' } },
  ))
