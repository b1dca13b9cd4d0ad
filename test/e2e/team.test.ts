import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FrameLocator, Page } from 'playwright-core'
import { textOf, type Answer, type ChatMessage, type ChatRequest } from '../support/model-script.ts'
import { startModelServer } from '../support/model-server.ts'
import { withWorkbench, type Workbench } from '../support/workbench.ts'
import { windowThemes } from '../support/window-themes.ts'

interface Task {
  readonly id: string
  readonly revision: number
  readonly subject: string
  readonly status: string
  readonly ownerName?: string
  readonly ready: boolean
  readonly writeScopes: readonly string[]
}

const frames = (page: Page, purpose: string): FrameLocator => page.frameLocator(`iframe.webview.ready[src*="extensionId=bosun.bosun"]${purpose}`).frameLocator('#active-frame')
const chatOf = ({ page }: Workbench) => frames(page, '[src*="purpose=webviewView"]')
const boardOf = ({ page }: Workbench) => frames(page, ':not([src*="purpose=webviewView"])')

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

for (const { theme } of windowThemes)
  test(`a team of three finishes a board with dependencies, in sight of the person (${theme})`, { timeout: 240_000 }, async () => {
    const shade = theme.includes('Light') ? 'light' : 'dark'
    let isSeen = false
    const server = await startModelServer({
      steps: [{ answer: (request) => (textOf(request.messages[0]).includes('You are the teammate') ? teammate(request, isSeen) : lead(request)), repeat: true }],
    })
    const settings = {
      'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: ['scripted'], keyName: null } },
      'bosun.model.provider': 'loopback',
      'bosun.model.name': 'scripted',
      'bosun.titles.enabled': false,
      'bosun.agent.defaultPreset': 'team',
      'bosun.permissions.defaultPreset': 'danger-full-access',
    }
    try {
      await withWorkbench({ settings, theme, viewport: { width: 1500, height: 900 } }, async (workbench) => {
        await workbench.runCommand('Bosun: Open Chat')
        await chatOf(workbench).getByRole('textbox', { name: 'Message' }).fill('Build the parser with a team of three agents')
        await chatOf(workbench).getByRole('button', { name: 'Send' }).click()
        await chatOf(workbench).getByText('Created the teammate ada').first().waitFor({ timeout: 60_000 })
        await workbench.runCommand('Bosun: Show Team Board')
        const board = boardOf(workbench)
        await board.locator('.task-card').nth(5).waitFor({ timeout: 30_000 })
        await board.locator('[data-column="in_progress"] .task-card').first().waitFor({ timeout: 30_000 })
        await workbench.screenshot(`team-working-${shade}`)
        isSeen = true

        await chatOf(workbench).getByText('The whole board is done.').first().waitFor({ timeout: 120_000 })
        await board.getByText('6 of 6 done').waitFor({ timeout: 20_000 })
        assert.equal(await board.locator('[data-column="completed"] .task-card').count(), 6)
        await workbench.screenshot(`team-done-${shade}`)
        const log = await recordedTasks(workbench)
        // Nobody began what waited for another, and every task was written once.
        for (const [index, [, blockedBy]] of work.entries()) {
          const begun = log.findIndex(({ id, status }) => id === `task-${index + 1}` && status === 'in_progress')
          for (const blocker of blockedBy) assert.ok(log.findIndex(({ id, status }) => id === blocker && status === 'completed') < begun, `task-${index + 1} began before ${blocker} was done`)
        }
        for (const [subject, , scope] of work) assert.match(await readFile(join(workbench.folder, scope, 'done.md'), 'utf8'), new RegExp(subject))

        // The person moves a card by keyboard, with the revision that is shown; it is the Lead's move in the log.
        await board.getByText('0 at work').waitFor({ timeout: 30_000 })
        await board.locator('[data-task="task-6"]').focus()
        await workbench.page.keyboard.press('Alt+ArrowLeft')
        await board.getByText('5 of 6 done').waitFor({ timeout: 20_000 })
        const moved = (await recordedTasks(workbench)).at(-1)
        assert.deepEqual([moved?.id, moved?.status, moved?.ownerName], ['task-6', 'pending', undefined])
        await workbench.screenshot(`team-moved-${shade}`)
        await workbench.page.setViewportSize({ width: 920, height: 900 })
        await workbench.screenshot(`team-narrow-${shade}`)
      })
    } finally {
      await server.close()
    }
  })

/** The records of tasks in the log of the Lead, in order. */
async function recordedTasks({ storage }: Workbench): Promise<readonly Task[]> {
  const paths = (await readdir(storage, { recursive: true })).filter((path) => path.endsWith('events.jsonl'))
  const texts = await Promise.all(paths.map((path) => readFile(join(storage, path), 'utf8')))
  const text = texts.find((one) => one.includes('"team/task"')) ?? ''
  return text.split('\n').flatMap((line) => {
    if (!line.includes('"team/task"')) return []
    const { type, data } = JSON.parse(line) as { readonly type: string; readonly data: { readonly task: Task } }
    return type === 'team/task' ? [data.task] : []
  })
}
