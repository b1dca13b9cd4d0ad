import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelScript } from '../support/model-script.ts'
import type { ModelServer } from '../support/model-server.ts'
import { withModelWindow } from '../support/model-window.ts'
import { clickLine, until, untilEqual, type Workbench, type WorkbenchOptions } from '../support/workbench.ts'

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

const script: ModelScript = {
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
}

const withPlanner = (options: Pick<WorkbenchOptions, 'theme' | 'viewport'>, body: (workbench: Workbench, server: ModelServer) => Promise<void>) => withModelWindow(script, { ...options, settings: { 'bosun.titles.enabled': false } }, body)

/** Every event of the one session on the disk. */
const events = (workbench: Workbench) => workbench.logs().flatMap(({ rows }) => rows)

async function startPlanning({ page, runCommand }: Workbench) {
  await runCommand('Bosun: Toggle Plan Mode')
  await page.locator('.statusbar-item').filter({ hasText: 'Plan' }).first().waitFor()
}

const lastRequest = (server: ModelServer) => JSON.stringify(server.chats().at(-1)?.body)

test('a plan is read in a document, changed in place, commented on by line, and approved: the model gets the difference and the comment, and the steps are the tasks', () =>
  withPlanner({ viewport: { width: 1500, height: 950 } }, async (workbench, server) => {
    const { page, chat, conversation, message, send, runCommand, screenshot, reload } = workbench
    await runCommand('Bosun: Open Chat')
    await startPlanning(workbench)
    await send('Make the date tests independent of the zone.')
    const dock = chat.getByRole('region', { name: 'Plan' })
    await dock.getByText('The tests pass here and fail on CI').waitFor()
    const tab = page.locator('.tab').filter({ hasText: 'Run the date tests in UTC.md' })
    await tab.waitFor()
    // Opened beside, without the focus.
    await message.waitFor()
    await screenshot('plan-waits')

    // Changed in place and saved: the log has it.
    const editor = page.locator('.editor-instance .monaco-editor').filter({ hasText: 'Run the whole suite' }).first()
    await clickLine(editor.getByText('Run the whole suite'))
    await page.keyboard.press('End')
    await page.keyboard.type(' Twice.')
    await page.keyboard.press('ControlOrMeta+S')
    await dock.getByText('You changed it.').waitFor()

    // A comment on a line, through the editor's own box.
    await clickLine(editor.getByText('Set ', { exact: false }).first())
    await runCommand('Comments: Add Comment on Current Selection')
    const box = page.locator('.review-widget').first()
    await box.locator('.monaco-editor').first().click()
    await box.locator('.monaco-editor.focused').waitFor()
    await page.keyboard.type('Only on CI, please.')
    await box.getByRole('button', { name: 'Add Comment' }).click()
    await dock.getByText('1 comment of yours.').waitFor()
    await screenshot('plan-commented')

    // It waits again after a reload, as it was left.
    await reload()
    await dock.getByText('You changed it. 1 comment of yours.').waitFor()

    await tab.click()
    await page.locator('.editor-actions').getByRole('button', { name: 'Approve Plan' }).first().click()
    await conversation.getByText('The work begins.').waitFor()
    const told = lastRequest(server)
    assert.match(told, /\+3\. Run the whole suite\. Twice\./)
    assert.match(told, /Steps, line 8 .*Only on CI, please\./)
    await until(() => events(workbench).some(({ type, data }) => type === 'plan/approved' && data['isEdited'] === true), 'the approval in the log')
    await dock.waitFor({ state: 'detached' })
    await tab.waitFor({ state: 'detached' })
    await chat.getByRole('region', { name: 'Tasks' }).filter({ hasText: '0 of 3' }).waitFor()
    await screenshot('plan-approved')
  }))

test('a plan is refused from the chat with words, submitted again, and closed to be discussed', () =>
  withPlanner({ theme: 'Default Light Modern' }, async (workbench, server) => {
    const { chat, conversation, send, runCommand } = workbench
    await runCommand('Bosun: Open Chat')
    await startPlanning(workbench)
    await send('Make the date tests independent of the zone.')
    const dock = chat.getByRole('region', { name: 'Plan' })
    await dock.getByRole('button', { name: 'Refuse…' }).click()
    await dock.getByRole('textbox', { name: 'What should be different?' }).fill('Say which tests.')
    await dock.getByRole('button', { name: 'Keep planning' }).click()
    await conversation.getByText('Say which tests.').first().waitFor()
    await dock.getByRole('button', { name: 'Discuss' }).click()
    await conversation.getByText('I see.').waitFor()
    assert.match(lastRequest(server), /wait for what they say/)
    const modes = events(workbench).filter(({ type }) => type === 'plan/mode').map(({ data }) => data['active'])
    assert.deepEqual(modes, [true])
  }))

test('tasks are ticked, reordered, added and removed by keyboard alone, and the model hears of it once', () =>
  withPlanner({}, async (workbench, server) => {
    const { page, chat, conversation, send, runCommand, screenshot } = workbench
    await runCommand('Bosun: Open Chat')
    await send('Make a list.')
    await conversation.getByText('The list is made.').waitFor()
    const tasks = chat.getByRole('region', { name: 'Tasks' })
    const line = tasks.getByRole('button', { name: /1 of 4/ })
    await line.press('Enter')
    const mark = (name: RegExp) => tasks.getByRole('checkbox', { name })
    /** Press a key once keys speak to that task. */
    const pressAt = async (name: RegExp, key: string) => {
      await mark(name).and(chat.locator(':focus')).waitFor()
      await page.keyboard.press(key)
    }
    await mark(/Find the cause/).press('ArrowDown')
    await pressAt(/Fix the test/, 'Space')
    await tasks.getByText('2 of 4').waitFor()
    await pressAt(/Fix the test/, 'ArrowDown')
    await pressAt(/Run the whole suite/, 'ArrowDown')
    await pressAt(/Update the changelog/, 'Alt+ArrowUp')
    await tasks.locator('.task').nth(2).getByText('Update the changelog').waitFor()
    // The moved row is still the one that keys speak to.
    await pressAt(/Update the changelog/, 'Alt+ArrowUp')
    await tasks.locator('.task').nth(1).getByText('Update the changelog').waitFor()
    const added = tasks.getByRole('textbox', { name: 'Add a task' })
    await added.fill('Tell the team')
    await added.press('Enter')
    await tasks.locator('.task').nth(4).getByText('Tell the team').waitFor()
    await mark(/Find the cause/).press('Delete')
    await tasks.getByText('1 of 4').waitFor()
    await untilEqual(() => tasks.locator('.task-content').allTextContents(), ['Update the changelog', 'Fix the test', 'Run the whole suite', 'Tell the team'])
    await screenshot('tasks-by-keyboard')
    await send('Go on.')
    await conversation.getByText('I see.').waitFor()
    const told = lastRequest(server)
    assert.equal(told.match(/The person changed the task list/g)?.length, 1)
    assert.match(told, /\[ \] Update the changelog\\+n\[x\] Fix the test\\+n\[ \] Run the whole suite\\+n\[ \] Tell the team/)
    assert.equal(events(workbench).filter(({ type }) => type === 'todo/write').length, 1)
  }))
