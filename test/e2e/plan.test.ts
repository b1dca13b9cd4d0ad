import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startModelServer, type ModelServer } from '../support/model-server.ts'
import { withWorkbench, type Workbench } from '../support/workbench.ts'

const plan = `# Run the date tests in UTC

The tests pass here and fail on CI, since they read the local zone.

## Steps

1. Build the expectation with \`Date.UTC\` in src/date.test.ts.
2. Set \`TZ=UTC\` in the script \`test\`.
3. Run the whole suite.

## Assumptions

- No other test depends on the zone.
`

const todo = (content: string, status: string) => ({ content, status })

const script = () =>
  startModelServer({
    steps: [
      { when: /date tests/, answer: { parts: [{ toolCalls: [{ name: 'exit_plan_mode', arguments: { plan } }] }] } },
      // The facts that changed with it come behind the result.
      { when: ({ messages }) => JSON.stringify(messages).includes('approved the plan'), answer: { parts: [{ text: 'The work begins.' }] } },
      { when: /keep planning/, answer: { parts: [{ toolCalls: [{ name: 'exit_plan_mode', arguments: { plan } }] }] } },
      {
        when: /Make a list/,
        answer: { parts: [{ toolCalls: [{ name: 'todo_write', arguments: { todos: [todo('Find the cause in src/date.ts:12', 'completed'), todo('Fix the test', 'in_progress'), todo('Run the whole suite', 'pending'), todo('Update the changelog', 'pending')] } }] }] },
      },
      { when: /Task list updated/, answer: { parts: [{ text: 'The list is made.' }] } },
      { answer: { parts: [{ text: 'I see.' }] }, repeat: true },
    ],
  })

const settingsFor = (server: ModelServer) => ({
  'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: ['scripted'], keyName: null } },
  'bosun.model.provider': 'loopback',
  'bosun.model.name': 'scripted',
  'bosun.titles.enabled': false,
})

const conversation = ({ chat }: Workbench) => chat.getByRole('log', { name: 'Conversation' })
const send = async ({ chat }: Workbench, text: string) => {
  await chat.getByRole('textbox', { name: 'Message' }).fill(text)
  await chat.getByRole('button', { name: 'Send' }).click()
}

/** Every event of the one session on the disk. */
async function events({ storage }: Workbench): Promise<readonly { readonly type: string; readonly data: Record<string, unknown> }[]> {
  const sessions = join(storage, 'sessions')
  const [id] = await readdir(sessions)
  const text = await readFile(join(sessions, id ?? '', 'events.jsonl'), 'utf8')
  return text.split('\n').filter((line) => line !== '').slice(1).map((line) => JSON.parse(line) as { type: string; data: Record<string, unknown> })
}
const lastRequest = (server: ModelServer) => JSON.stringify(server.chats().at(-1)?.body)

test('a plan is read in a document, changed in place, commented on by line, and approved: the model gets the difference and the comment, and the steps are the tasks', async () => {
  const server = await script()
  try {
    await withWorkbench({ settings: settingsFor(server), viewport: { width: 1500, height: 950 } }, async (workbench) => {
      const { page, chat, runCommand, screenshot, reload } = workbench
      await runCommand('Bosun: Open Chat')
      await runCommand('Bosun: Toggle Plan Mode')
      await page.locator('.statusbar-item').filter({ hasText: 'Plan' }).first().waitFor()
      await send(workbench, 'Make the date tests independent of the zone.')
      const dock = chat.getByRole('region', { name: 'Plan' })
      await dock.getByText('The tests pass here and fail on CI').waitFor()
      const tab = page.locator('.tab').filter({ hasText: 'Run the date tests in UTC.md' })
      await tab.waitFor()
      // Opened beside, without the focus.
      await chat.getByRole('textbox', { name: 'Message' }).waitFor()
      await screenshot('plan-waits')

      // Changed in place and saved: the log has it.
      const editor = page.locator('.editor-instance .monaco-editor').filter({ hasText: 'Run the whole suite' }).first()
      await editor.getByText('Run the whole suite').click()
      await page.keyboard.press('End')
      await page.keyboard.type(' Twice.')
      await page.keyboard.press('ControlOrMeta+S')
      await dock.getByText('You changed it.').waitFor()

      // A comment on a line, through the editor's own box.
      await editor.getByText('Set ', { exact: false }).first().click()
      await runCommand('Comments: Add Comment on Current Selection')
      const box = page.locator('.review-widget').first()
      await box.locator('.monaco-editor').first().click()
      await page.keyboard.type('Only on CI, please.')
      await box.getByRole('button', { name: 'Add Comment' }).click()
      await dock.getByText('1 comment of yours.').waitFor()
      await screenshot('plan-commented')

      // It waits again after a reload, as it was left.
      await reload()
      await dock.getByText('You changed it. 1 comment of yours.').waitFor()

      await page.locator('.tab').filter({ hasText: 'Run the date tests in UTC.md' }).first().click()
      await page.locator('.editor-actions').getByRole('button', { name: 'Approve Plan' }).first().click()
      await conversation(workbench).getByText('The work begins.').waitFor()
      const told = lastRequest(server)
      assert.match(told, /\+3\. Run the whole suite\. Twice\./)
      assert.match(told, /Steps, line 8 .*Only on CI, please\./)
      assert.ok((await events(workbench)).some(({ type, data }) => type === 'plan/approved' && data['isEdited'] === true))
      await dock.waitFor({ state: 'detached' })
      assert.equal(await page.locator('.tab').filter({ hasText: 'Run the date tests in UTC.md' }).count(), 0)
      assert.match((await chat.getByRole('region', { name: 'Tasks' }).textContent()) ?? '', /0 of 3/)
      await screenshot('plan-approved')
    })
  } finally {
    await server.close()
  }
})

test('a plan is refused from the chat with words, submitted again, and closed to be discussed', async () => {
  const server = await script()
  try {
    await withWorkbench({ settings: settingsFor(server), theme: 'Default Light Modern' }, async (workbench) => {
      const { chat, runCommand } = workbench
      await runCommand('Bosun: Open Chat')
      await runCommand('Bosun: Toggle Plan Mode')
      await send(workbench, 'Make the date tests independent of the zone.')
      const dock = chat.getByRole('region', { name: 'Plan' })
      await dock.getByRole('button', { name: 'Refuse…' }).click()
      await dock.getByRole('textbox', { name: 'What should be different?' }).fill('Say which tests.')
      await dock.getByRole('button', { name: 'Keep planning' }).click()
      await conversation(workbench).getByText('Say which tests.').first().waitFor()
      await dock.getByRole('button', { name: 'Discuss' }).click()
      await conversation(workbench).getByText('I see.').waitFor()
      assert.match(lastRequest(server), /wait for what they say/)
      const modes = (await events(workbench)).filter(({ type }) => type === 'plan/mode').map(({ data }) => data['active'])
      assert.deepEqual(modes, [true])
    })
  } finally {
    await server.close()
  }
})

test('tasks are ticked, reordered, added and removed by keyboard alone, and the model hears of it once', async () => {
  const server = await script()
  try {
    await withWorkbench({ settings: settingsFor(server) }, async (workbench) => {
      const { page, chat, runCommand, screenshot } = workbench
      await runCommand('Bosun: Open Chat')
      await send(workbench, 'Make a list.')
      await conversation(workbench).getByText('The list is made.').waitFor()
      const tasks = chat.getByRole('region', { name: 'Tasks' })
      const line = tasks.getByRole('button', { name: /1 of 4/ })
      await line.focus()
      await page.keyboard.press('Enter')
      const mark = (name: RegExp) => tasks.getByRole('checkbox', { name })
      await mark(/Find the cause/).focus()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Space')
      await tasks.getByText('2 of 4').waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Alt+ArrowUp')
      const order = async () => await tasks.locator('.task-content').allTextContents()
      await tasks.locator('.task').nth(2).getByText('Update the changelog').waitFor()
      // The moved row is still the one that keys speak to.
      await page.keyboard.press('Alt+ArrowUp')
      await tasks.locator('.task').nth(1).getByText('Update the changelog').waitFor()
      await tasks.getByRole('textbox', { name: 'Add a task' }).fill('Tell the team')
      await page.keyboard.press('Enter')
      await tasks.locator('.task').nth(4).getByText('Tell the team').waitFor()
      await mark(/Find the cause/).focus()
      await page.keyboard.press('Delete')
      await tasks.getByText('1 of 4').waitFor()
      assert.deepEqual(await order(), ['Update the changelog', 'Fix the test', 'Run the whole suite', 'Tell the team'])
      await screenshot('tasks-by-keyboard')
      await send(workbench, 'Go on.')
      await conversation(workbench).getByText('I see.').waitFor()
      const told = lastRequest(server)
      assert.equal(told.match(/The person changed the task list/g)?.length, 1)
      assert.match(told, /\[ \] Update the changelog\\+n\[x\] Fix the test\\+n\[ \] Run the whole suite\\+n\[ \] Tell the team/)
      assert.equal((await events(workbench)).filter(({ type }) => type === 'todo/write').length, 1)
    })
  } finally {
    await server.close()
  }
})
