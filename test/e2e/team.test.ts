import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { textOf, type Answer, type ChatMessage, type ChatRequest } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { windowThemes } from '../support/window-themes.ts'
import { untilEqual, type Workbench } from '../support/workbench.ts'

interface Task {
  readonly id: string
  readonly revision: number
  readonly subject: string
  readonly status: string
  readonly ownerName?: string
  readonly ready: boolean
  readonly writeScopes: readonly string[]
}

const names = ['ada', 'bob', 'cleo'] as const
const work: readonly (readonly [subject: string, blockedBy: readonly string[], scope: string])[] = [
  ['Write the grammar', [], 'src/grammar'],
  ['Write the lexer', [], 'src/lexer'],
  ['Write the parser', ['task-1', 'task-2'], 'src/parser'],
  ['Describe the language', ['task-1'], 'docs/language'],
  ['Test the parser', ['task-3'], 'test/parser'],
  ['Write the release notes', ['task-4', 'task-5'], 'docs/release'],
]

const call = (name: string, args: object): Answer => ({ parts: [{ waitMs: 250 }, { toolCalls: [{ name, arguments: args }] }] })
const say = (text: string): Answer => ({ parts: [{ text }] })

/** The calls of the newest answer with what came of them, once all did. */
function lastResults({ messages }: ChatRequest): readonly { readonly name: string; readonly text: string; readonly args: string }[] {
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  if (messages.slice(at + 1).some(({ role }) => role !== 'tool')) return []
  return (messages[at]?.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({ name, args, text: textOf(messages.find((message: ChatMessage) => message.tool_call_id === id)) }))
}

/** Looks at the board, takes what is ready, writes a file in its scope, completes it once the person looks on; rests when nothing is ready. */
function teammate(request: ChatRequest, isSeen: boolean): Answer {
  const [last] = lastResults(request)
  const parsed = (text: string) => JSON.parse(text) as Task & { readonly tasks: readonly Task[] }
  if (last === undefined || (last.name === 'team_task_update' && !last.text.startsWith('{'))) return call('team_task_list', { ready: true })
  if (last.name === 'team_task_list') {
    const task = parsed(last.text).tasks[0]
    return task === undefined ? say('Nothing is ready for me now.') : call('team_task_update', { task_id: task.id, expected_revision: task.revision, action: 'claim' })
  }
  if (last.name === 'team_task_update') {
    const task = parsed(last.text)
    return task.status === 'completed' ? call('team_task_list', { ready: true }) : call('write', { file_path: `${task.writeScopes[0]}/done.md`, content: `${task.id}@${task.revision} ${task.subject}\n` })
  }
  const [, id = '', revision = ''] = /(task-\d+)@(\d+)/.exec(last.args) ?? []
  // Never the same call twice, of which a model would be reminded.
  if (!isSeen) return call('bash', { command: `sleep 0.5 # ${id}@${revision}, ${request.index}`, description: 'Wait' })
  return call('team_task_update', { task_id: id, expected_revision: Number(revision), action: 'complete' })
}

/** Makes team and board, then waits, and wakes whoever sleeps while something is ready. */
function lead(request: ChatRequest): Answer {
  const results = lastResults(request)
  const isBegun = request.messages.some(({ tool_calls: calls = [] }) => calls.some(({ function: { name } }) => name === 'spawn_teammate'))
  if (!isBegun)
    return {
      parts: [
        {
          toolCalls: [
            ...work.map(([subject, blocked_by, scope]) => ({ name: 'team_task_create', arguments: { subject, description: `${subject}, in ${scope}.`, blocked_by, write_scopes: [scope] } })),
            ...names.map((name) => ({ name: 'spawn_teammate', arguments: { name, description: `Takes what is ready (${name})`, prompt: 'Take tasks from the board until none is ready.' } })),
          ],
        },
      ],
    }
  const [last] = results
  if (last?.name === 'team_task_list') {
    const { tasks } = JSON.parse(last.text) as { readonly tasks: readonly Task[] }
    if (tasks.every(({ status }) => status === 'completed')) return say('The whole board is done.')
    const ready = tasks.filter((task) => task.ready)
    if (ready.length > 0 && tasks.every(({ status }) => status !== 'in_progress')) return { parts: [{ toolCalls: names.slice(0, ready.length).map((target) => ({ name: 'followup_task', arguments: { target, message: 'Something is ready: look at the board.' } })) }] }
    return call('wait_agent', { timeout_ms: 10_000 })
  }
  return call('team_task_list', {})
}

const settings = { 'bosun.titles.enabled': false, 'bosun.agent.defaultPreset': 'team', 'bosun.permissions.defaultPreset': 'danger-full-access' }

for (const { name: shade, theme } of windowThemes)
  test(`a team of three finishes a board with dependencies, in sight of the person (${theme})`, () => {
    let isSeen = false
    const steps = [{ answer: (request: ChatRequest) => (textOf(request.messages[0]).includes('You are the teammate') ? teammate(request, isSeen) : lead(request)), repeat: true }]
    return withModelWindow({ steps }, { settings, theme, viewport: { width: 1500, height: 900 } }, async (workbench) => {
      const { conversation, editorPage: board, send } = workbench
      await workbench.runCommand('Bosun: Open Chat')
      await send('Build the parser with a team of three agents')
      await conversation.getByText('Created the teammate ada').first().waitFor()
      await workbench.runCommand('Bosun: Show Team Board')
      await board.locator('.task-card').nth(5).waitFor()
      await board.locator('[data-column="in_progress"] .task-card').first().waitFor()
      await workbench.screenshot(`team-working-${shade}`)
      isSeen = true

      await conversation.getByText('The whole board is done.').first().waitFor()
      await board.getByText('6 of 6 done').waitFor()
      await untilEqual(() => board.locator('[data-column="completed"] .task-card').count(), 6)
      await workbench.screenshot(`team-done-${shade}`)
      await untilEqual(() => recordedTasks(workbench).filter(({ status }) => status === 'completed').length, 6)
      const log = recordedTasks(workbench)
      // Nobody began what waited for another, and every task was written once.
      for (const [index, [, blockedBy]] of work.entries()) {
        const begun = log.findIndex(({ id, status }) => id === `task-${index + 1}` && status === 'in_progress')
        for (const blocker of blockedBy) assert.ok(log.findIndex(({ id, status }) => id === blocker && status === 'completed') < begun, `task-${index + 1} began before ${blocker} was done`)
      }
      for (const [subject, , scope] of work) assert.match(await readFile(join(workbench.folder, scope, 'done.md'), 'utf8'), new RegExp(subject))

      // The person moves a card by keyboard, with the revision that is shown; it is the Lead's move in the log.
      await board.getByText('0 at work').waitFor()
      await board.locator('[data-task="task-6"]').press('Alt+ArrowLeft')
      await board.getByText('5 of 6 done').waitFor()
      const lastRecorded = () => {
        const last = recordedTasks(workbench).at(-1)
        return [last?.id, last?.status, last?.ownerName]
      }
      await untilEqual(lastRecorded, ['task-6', 'pending', undefined])
      await workbench.screenshot(`team-moved-${shade}`)
      await workbench.page.setViewportSize({ width: 920, height: 900 })
      await workbench.screenshot(`team-narrow-${shade}`)
    })
  })

/** The records of tasks in the log of the Lead, in order. */
function recordedTasks({ logs }: Workbench): readonly Task[] {
  const records = logs().map(({ rows }) => rows.filter(({ type }) => type === 'team/task').map(({ data }) => data['task'] as Task))
  return records.find((tasks) => tasks.length > 0) ?? []
}
