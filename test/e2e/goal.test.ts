import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelScript, ScriptPart } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { pressInRow, until, untilEqual, type Workbench, type WorkbenchOptions } from '../support/workbench.ts'

const call = (name: string, args: object): ScriptPart => ({ toolCalls: [{ name, arguments: args }] })
const say = (text: string): ScriptPart => ({ text })
const answers = (...all: readonly (ScriptPart | readonly ScriptPart[])[]) => all.map((parts) => ({ answer: { parts: [parts].flat() } }))

const withModel = (script: ModelScript, options: Pick<WorkbenchOptions, 'theme'>, body: (workbench: Workbench) => Promise<void>) =>
  withModelWindow(script, { ...options, isEmpty: true, files: { 'notes.txt': 'nothing yet\n' }, settings: { 'bosun.permissions.defaultPreset': 'danger-full-access', 'bosun.titles.enabled': false } }, async (workbench) => {
    await workbench.runCommand('Bosun: Open Chat')
    await body(workbench)
  })

/** The events of the one log on the disk. */
const events = (workbench: Workbench) => workbench.logs().flatMap(({ rows }) => rows)
/** What became of the goal, in order. */
const operations = (log: ReturnType<typeof events>) => log.flatMap(({ type, data }) => (type === 'goal/change' ? [data['operation']] : []))

const completes = call('update_goal', { goal_id: '{{match:goal (goal-[0-9a-f-]+), revision}}', revision: 1, action: 'complete' })

test('a goal is driven over five rounds to its completion, with a check that fails first and passes then', () =>
  withModel(
    {
      steps: answers(
        call('create_goal', { objective: 'report.txt says that the work is finished', max_goal_rounds: 12, checks: ['grep -q finished report.txt'], max_tokens: 900_000 }),
        say('I will keep at it until the report says so.'),
        // 1
        call('write', { file_path: 'report.txt', content: 'begun\n' }),
        say('The report is begun.'),
        // 2
        call('edit', { file_path: 'report.txt', old_string: 'begun', new_string: 'begun\nhalf done' }),
        // While the person looks on: what is waited for below has to be seen before it is over.
        [{ waitMs: 30_000 }, say('Half of it is there.')],
        // 3
        completes,
        say('The check does not pass yet, so there is more to do.'),
        // 4
        call('edit', { file_path: 'report.txt', old_string: 'half done', new_string: 'half done\nfinished' }),
        say('The report says it now.'),
        // 5
        completes,
        say('The report says that the work is finished; the check passed.'),
      ),
    },
    { theme: 'Default Dark Modern' },
    async (workbench) => {
      const { page, chat } = workbench
      await workbench.send('Pursue it: report.txt has to say that the work is finished')
      const goal = chat.getByRole('region', { name: 'Goal' })
      const item = page.locator('.statusbar-item').filter({ hasText: /\d+\/12/ })
      await item.waitFor()
      await chat.getByRole('article', { name: 'Round 2 of 12' }).waitFor()

      // While round 2 runs: one line over the composer, which opens into the panel.
      await goal.getByRole('button', { name: /active/ }).click()
      await goal.getByText('Active: Bosun goes on by itself').waitFor()
      await goal.getByText('2 of 12').waitFor()
      await goal.getByRole('listitem').filter({ hasText: 'not run yet' }).waitFor()
      await item.filter({ hasText: 'active 2/12' }).waitFor()
      await workbench.screenshot('goal-running')

      // The check failed in round 3, and the goal stayed active.
      await chat.getByRole('article', { name: 'Round 4 of 12' }).waitFor()
      await chat.getByText('The report says that the work is finished; the check passed.', { exact: true }).first().waitFor()
      await goal.getByRole('button', { name: /complete 5\/12/ }).waitFor()
      await goal.getByRole('listitem').filter({ hasText: 'exit code 0' }).waitFor()
      await item.waitFor({ state: 'detached' })
      await workbench.screenshot('goal-complete')

      await until(() => JSON.stringify(events(workbench)).includes('the check passed.'), 'the last words in the log')
      const log = events(workbench)
      const rounds = log.flatMap(({ type, data }) => (type === 'user/message' ? [data['source'] as { kind: string; round?: number }] : [])).filter(({ kind }) => kind === 'goal')
      assert.deepEqual(rounds.map(({ round }) => round), [1, 2, 3, 4, 5])
      const checked = log.filter(({ type }) => type === 'goal/checked').map(({ data }) => (data['results'] as { isOk: boolean }[]).map(({ isOk }) => isOk))
      assert.deepEqual(checked, [[false], [true]])
      const codes = log.flatMap(({ type, data }) => (type === 'tool/result' && data['error'] !== undefined ? [(data['error'] as { code: string }).code] : []))
      assert.deepEqual(codes, ['GOAL_TOOL_CHECK_FAILED'])
      assert.deepEqual(operations(log), ['create', 'complete'])
      const wrapUp = log.findLast(({ type, data }) => type === 'user/message' && (data['source'] as { plugin?: string }).plugin === 'tool-goal')
      assert.match(JSON.stringify(wrapUp), /passed: grep -q finished report\.txt[\s\S]*report\.txt \(new\) \+3 -0/)
      assert.equal(await readFile(join(workbench.folder, 'report.txt'), 'utf8'), 'begun\nhalf done\nfinished\n')

      // A round is a place to go back to, as a message of the person is.
      const round = chat.getByRole('article', { name: 'Round 4 of 12' })
      await round.scrollIntoViewIfNeeded()
      await pressInRow(round, 'Restore files to before this round')
      await page.locator('.monaco-dialog-box').getByRole('button', { name: 'Restore' }).click()
      await chat.getByText(/Undone|Restored|restored/).first().waitFor()
      await untilEqual(() => readFile(join(workbench.folder, 'report.txt'), 'utf8'), 'begun\nhalf done\n')
    },
  ))

test('after a reload the goal waits; the person resumes it from the notification, edits, pauses and clears it', () =>
  withModel(
    {
      steps: [
        ...answers(call('create_goal', { objective: 'Keep the notes in order', max_goal_rounds: 9 }), say('I will.')),
        // Round 1 never ends by itself.
        { answer: { hang: 'after-headers' } },
        ...answers(say('Round done.')),
        { answer: { hang: 'after-headers' }, repeat: true },
      ],
    },
    { theme: 'Default Light Modern' },
    async (workbench) => {
      const { page, chat } = workbench
      await workbench.send('Keep the notes in order until I say stop')
      await chat.getByRole('article', { name: 'Round 1 of 9' }).waitFor()
      await workbench.reload()
      const goal = chat.getByRole('region', { name: 'Goal' })
      await goal.getByText('waits for you').waitFor()
      await workbench.notification('waits, round 1 of 9').getByRole('button', { name: 'Resume' }).waitFor()
      await goal.getByRole('button', { name: /waits for you/ }).click()
      await workbench.screenshot('goal-disarmed-light')
      assert.equal(await chat.getByRole('article', { name: 'Round 2 of 9' }).count(), 0)

      await workbench.pressInNotification('waits, round 1 of 9', 'Resume')
      await chat.getByRole('article', { name: /Round 3 of 9/ }).waitFor()

      await goal.getByRole('button', { name: 'Edit' }).click()
      await workbench.screenshot('goal-form-light')
      await goal.getByRole('textbox', { name: 'Minutes' }).fill('90')
      await goal.getByRole('textbox', { name: 'Rounds' }).fill('20')
      await goal.getByRole('button', { name: 'Save' }).click()
      await goal.getByText('3 of 20').waitFor()
      await goal.getByText(/of 1 h 30 min/).waitFor()

      await workbench.runCommand('Bosun Goal: Pause Goal')
      await goal.getByText('Paused: it goes on when you resume it.').waitFor()
      // Of the round; the goal has a Stop of its own, which asks.
      await chat.getByTitle('Stop (Escape twice)').click()
      await page.locator('.statusbar-item').filter({ hasText: 'paused 3/20' }).waitFor()

      await workbench.runCommand('Bosun Goal: Clear Goal')
      await page.locator('.monaco-dialog-box').getByRole('button', { name: 'Stop and Clear' }).click()
      await goal.waitFor({ state: 'detached' })
      await untilEqual(() => operations(events(workbench)), ['create', 'resume', 'edit', 'pause', 'clear'])
    },
  ))
