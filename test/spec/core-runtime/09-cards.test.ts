import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { argumentsFrom } from '../../../extension/base/call-arguments.ts'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { Json } from '../../../extension/base/json.ts'
import type { SessionEvent } from '../../../extension/core/log/event.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { PresentedResult } from '../../../extension/core/tools/definition.ts'
import { presentCall, presentResult, type FindPresenters } from '../../../extension/host/present-tool.ts'
import { createShellTool } from '../../../extension/tools/shell/shell-tool.ts'
import { pwshDialect } from '../../../extension/tools/shell/shell-dialect.ts'
import type {} from '../../../extension/features/questions/service.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedCall } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 9: cards, of the tools as they are shipped and as a view gets them. */

let application: WholeApplication
beforeAll(async () => {
  application = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'dynamicPlugins.enabled': true } })
})
afterAll(() => application.dispose())

/** The shell of another machine, which this application does not register. */
const pwsh = createShellTool(pwshDialect, {} as never)
const shipped: FindPresenters = (name) => (name === 'pwsh' ? pwsh : application.ctx.tools.get(name))
const l10n = { t: fillIn }
const text = (words: string): PresentedResult['content'] => [{ type: 'text', text: words }]
const done = (find: FindPresenters, name: string, args: unknown, result: Partial<PresentedResult> = {}) =>
  presentResult(find, { name, args: args as Json }, { content: text('said'), isError: false, ...result }, l10n)

const said = text('said')
const hunk = { oldStart: 2, newStart: 2, oldText: 'b', newText: 'c' }
const asked = { questions: [{ id: 'q', question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }, { id: 'r', question: 'Why?' }] }
const ended = { kind: 'foreground', output: 'out\n', exitCode: 0, signal: null, timedOut: false, aborted: false, durationMs: 5 }
const shellArgs = { command: 'make\nmake test', description: 'Build it', workdir: 'sub' }

interface Row {
  readonly tool: string
  readonly args: object
  readonly pending: unknown
  readonly meta?: Json
  /** With the facts, without them, and of a failure; null is the row of name and arguments. */
  readonly completed: unknown
  readonly bare: unknown
  readonly failed: unknown
  /** Of no use to this tool. Absent: an empty object. */
  readonly malformed?: object
}
const rows: readonly Row[] = [
  {
    tool: 'read', args: { file_path: 'a.ts', offset: 3, limit: 2 }, meta: { path: 'a.ts', offset: 3, lines: [{ number: 3, text: 'x' }], totalLines: 9, lang: 'typescript' },
    pending: { card: 'generic', title: 'Read a.ts (3 - 4)', kind: 'read', subject: 'a.ts', locations: [{ path: 'a.ts', line: 3 }] },
    completed: { card: 'read', path: 'a.ts', offset: 3, lines: [{ number: 3, text: 'x' }], totalLines: 9, lang: 'typescript' },
    bare: null, failed: { card: 'generic', content: said },
  },
  {
    tool: 'write', args: { file_path: 'a', content: 'new' }, meta: { operation: 'update', hunks: [hunk] },
    pending: { card: 'diff', title: 'Write a', diffs: [{ path: 'a', oldText: null, newText: 'new' }], locations: [{ path: 'a' }] },
    completed: { card: 'diff', title: 'Wrote a', diffs: [{ path: 'a', ...hunk }] },
    bare: { card: 'diff', title: 'Wrote a', diffs: [{ path: 'a', oldText: null, newText: 'new' }] }, failed: { card: 'generic', title: 'Write a', content: said },
  },
  {
    tool: 'edit', args: { file_path: 'a', old_string: 'b', new_string: 'c' }, meta: { operation: 'update', hunks: [hunk, { ...hunk, oldText: '' }] },
    pending: { card: 'diff', title: 'Edit a', diffs: [{ path: 'a', oldText: 'b', newText: 'c' }], locations: [{ path: 'a' }] },
    completed: { card: 'diff', title: 'Edited a', diffs: [{ path: 'a', ...hunk }, { path: 'a', ...hunk, oldText: null }] },
    bare: { card: 'generic', title: 'Edit a', content: said }, failed: { card: 'generic', title: 'Edit a', content: said },
  },
  {
    tool: 'read_image', args: { file_path: 'a.png' },
    pending: { card: 'generic', title: 'Read image a.png', kind: 'read', subject: 'a.png', locations: [{ path: 'a.png' }] },
    completed: { card: 'generic', title: 'Read image a.png', content: [] }, bare: { card: 'generic', title: 'Read image a.png', content: [] }, failed: { card: 'generic', title: 'Read image a.png', content: said },
  },
  {
    tool: 'str_replace_editor', args: { command: 'view', path: 'a', view_range: [3, 5] },
    pending: { card: 'generic', title: 'View a', kind: 'read', subject: 'a', locations: [{ path: 'a', line: 3 }] }, completed: null, bare: null, failed: null,
  },
  {
    tool: 'str_replace_editor', args: { command: 'str_replace', path: 'a', old_str: 'b', new_str: 'c' },
    pending: { card: 'diff', title: 'Edit a', diffs: [{ path: 'a', oldText: 'b', newText: 'c' }], locations: [{ path: 'a' }] }, completed: null, bare: null, failed: null,
  },
  {
    tool: 'web_fetch', args: { url: 'https://a.test/x' }, meta: { url: 'https://a.test/x', statusCode: 200, truncated: false },
    pending: { card: 'generic', title: 'Fetch https://a.test/x', kind: 'fetch', subject: 'https://a.test/x' },
    completed: { card: 'web', kind: 'fetch', url: 'https://a.test/x', statusCode: 200, truncated: false }, bare: null, failed: { card: 'generic', content: said },
  },
  {
    tool: 'skill', args: { name: 'review' }, pending: { card: 'generic', title: 'Load skill review', kind: 'read' },
    completed: { card: 'generic', title: 'Loaded skill review', content: said }, bare: { card: 'generic', title: 'Loaded skill review', content: said }, failed: { card: 'generic', content: said },
  },
  { tool: 'session_search', args: { query: 'date  test' }, pending: { card: 'generic', title: 'Search sessions for date test', doneTitle: 'Searched sessions for date test', kind: 'search', subject: 'date test', rawInput: 'date  test' }, completed: null, bare: null, failed: null },
  { tool: 'session_event_search', args: { query: 'date', session_id: 's1' }, pending: { card: 'generic', title: 'Search session s1 for date', doneTitle: 'Searched session s1 for date', kind: 'search', subject: 'date', rawInput: 'date' }, completed: null, bare: null, failed: null },
  { tool: 'session_trace', args: { session_id: 's1' }, pending: { card: 'generic', title: 'Trace session s1', doneTitle: 'Traced session s1', kind: 'read' }, completed: null, bare: null, failed: null, malformed: { session_id: 1 } },
  { tool: 'session_event_trace', args: { seq: 7 }, pending: { card: 'generic', title: 'Trace event 7', doneTitle: 'Traced event 7', kind: 'read' }, completed: null, bare: null, failed: null },
  { tool: 'session_event_read', args: { seq: 7, session_id: 's1' }, pending: { card: 'generic', title: 'Read event 7 of session s1', kind: 'read' }, completed: null, bare: null, failed: null },
  { tool: 'terminal_list', args: {}, pending: { card: 'generic', title: 'List terminals', doneTitle: 'Listed terminals', kind: 'read' }, completed: null, bare: null, failed: null, malformed: [] },
  { tool: 'terminal_open', args: { type: 'shell', name: 'dev' }, pending: { card: 'generic', title: 'Open a shell terminal: dev', doneTitle: 'Opened a shell terminal: dev', kind: 'execute' }, completed: null, bare: null, failed: null },
  { tool: 'terminal_read', args: { sessionId: 't1', mode: 'screen' }, pending: { card: 'generic', title: 'Look at the screen of t1', doneTitle: 'Looked at the screen of t1', kind: 'read' }, completed: null, bare: null, failed: null },
  { tool: 'terminal_signal', args: { sessionId: 't1', signal: 'SIGINT' }, pending: { card: 'generic', title: 'Send SIGINT to t1', doneTitle: 'Sent SIGINT to t1', kind: 'execute' }, completed: null, bare: null, failed: null },
  { tool: 'terminal_close', args: { sessionId: 't1' }, pending: { card: 'generic', title: 'Close terminal t1', doneTitle: 'Closed terminal t1', kind: 'delete' }, completed: null, bare: null, failed: null },
  {
    tool: 'bash', args: { command: 'touch /x', description: 'd' }, meta: { kind: 'foreground', exitCode: 1, output: 'no', sandbox: { mode: 'workspace-write', denied: true } },
    pending: { card: 'terminal', title: 'touch /x', description: 'd' }, completed: { card: 'terminal', output: 'no', exitCode: 1, sandbox: 'denied' }, bare: { card: 'generic', content: text('```console\nsaid\n```') }, failed: { card: 'generic', content: text('```console\nsaid\n```') },
  },
  {
    tool: 'terminal_send', args: { sessionId: 't1', text: 'ls' }, meta: { output: 'a.txt' }, pending: { card: 'terminal', title: 'ls', description: 't1', typed: 'text' },
    completed: { card: 'terminal', output: 'a.txt' }, bare: null, failed: null,
  },
  {
    tool: 'terminal_send', args: { sessionId: 't1', text: '8080' }, meta: { output: '8080', isTyped: true }, pending: { card: 'terminal', title: '8080', description: 't1', typed: 'text' },
    completed: { card: 'terminal', output: '8080', isTyped: true }, bare: null, failed: null,
  },
  {
    tool: 'terminal_send', args: { sessionId: 't1', text: '' }, meta: { output: '' }, pending: { card: 'terminal', title: 'Press Enter', description: 't1', typed: 'enter' },
    completed: { card: 'terminal', output: '' }, bare: null, failed: null,
  },
  {
    tool: 'terminal_send', args: { sessionId: 't1', text: '', submit: false }, meta: { output: '' }, pending: { card: 'terminal', title: 'Wait for output', description: 't1', typed: 'nothing' },
    completed: { card: 'terminal', output: '' }, bare: null, failed: null,
  },
  {
    tool: 'glob', args: { pattern: '*.ts', path: 'src' }, meta: { paths: ['src/a.ts'], total: 3, truncated: true },
    pending: { card: 'generic', title: 'Find *.ts in src', kind: 'search', subject: '*.ts in src' },
    completed: { card: 'search', shape: 'paths', paths: ['src/a.ts'], total: 3, truncated: true }, bare: null, failed: { card: 'generic', content: said },
  },
  {
    tool: 'grep', args: { pattern: 'x+', path: 'src', include: '*.ts' }, meta: { files: [{ path: 'a', matches: [{ lineNumber: 1, line: 'xx', column: 1 }] }], total: 1, truncated: false },
    pending: { card: 'generic', title: 'Search for x+ in src (*.ts)', kind: 'search', subject: 'x+ in src (*.ts)' },
    completed: { card: 'search', shape: 'matches', files: [{ path: 'a', matches: [{ lineNumber: 1, line: 'xx', column: 1 }] }], total: 1, truncated: false, query: { pattern: 'x+', isCaseSensitive: true, files: 'src/**/*.ts' } }, bare: null, failed: { card: 'generic', content: said },
  },
  ...['bash', 'pwsh'].map((tool): Row => ({
    tool, args: shellArgs, meta: ended,
    pending: { card: 'terminal', title: 'make\nmake test', description: 'Build it', cwd: 'sub' },
    completed: { card: 'terminal', output: 'out\n', exitCode: 0, durationMs: 5 },
    bare: { card: 'generic', content: text('```console\nsaid\n```') }, failed: { card: 'generic', content: text('```console\nsaid\n```') },
  })),
  {
    tool: 'bash', args: { ...shellArgs, run_in_background: true }, meta: { kind: 'background', jobId: 'bash-1' },
    pending: { card: 'generic', title: 'Start in the background: make', kind: 'execute', subject: 'make', rawInput: 'make\nmake test', content: text('Build it'), cwd: 'sub' },
    completed: { card: 'generic', content: text('```console\nsaid\n```'), jobId: 'bash-1' }, bare: { card: 'generic', content: text('```console\nsaid\n```') }, failed: { card: 'generic', content: text('```console\nsaid\n```') },
  },
  { tool: 'job_list', args: {}, pending: { card: 'generic', title: 'List background jobs', doneTitle: 'Listed background jobs', kind: 'read' }, completed: null, bare: null, failed: null, malformed: [] },
  { tool: 'job_output', args: { job_id: 'bash-1', wait: true }, pending: { card: 'generic', title: 'Wait for bash-1', doneTitle: 'Waited for bash-1', kind: 'read' }, completed: null, bare: null, failed: null },
  { tool: 'job_kill', args: { job_id: 'bash-1' }, pending: { card: 'generic', title: 'Stop bash-1', doneTitle: 'Stopped bash-1', kind: 'execute' }, completed: null, bare: null, failed: null },
  ...['subagent', 'subagent_fork'].map((tool): Row => ({
    tool, args: { description: 'Look for it', prompt: 'Find it.' }, meta: { runId: 'r' },
    pending: { card: 'generic', title: 'Agent: Look for it', kind: 'other', face: 'agent', rawInput: 'Find it.' },
    completed: { card: 'generic', title: 'Agent: Look for it', content: said }, bare: { card: 'generic', title: 'Agent: Look for it', content: said }, failed: null,
  })),
  {
    tool: 'subagent', args: { description: 'Look for it', prompt: 'Find it.', run_in_background: true }, meta: { subagentId: 's' },
    pending: { card: 'generic', title: 'Agent: Look for it', kind: 'other', face: 'agent', rawInput: 'Find it.' },
    completed: { card: 'generic', title: 'Started agent: Look for it', agentId: 's' }, bare: { card: 'generic', title: 'Agent: Look for it', content: said }, failed: null,
  },
  {
    tool: 'run_code', args: { code: 'return 1', description: 'Count the tests of each folder' },
    pending: { card: 'generic', title: 'Count the tests of each folder', kind: 'execute', rawInput: 'return 1' }, completed: null, bare: null, failed: null,
  },
  {
    tool: 'workflow', args: { script: 'return 1', meta: { name: 'review', description: 'd' } }, meta: { name: 'review', agentsStarted: 2 },
    pending: { card: 'generic', title: 'Workflow review', kind: 'other', rawInput: 'return 1' },
    completed: { card: 'generic', title: 'Workflow review: 2 agents', content: said }, bare: { card: 'generic', content: said }, failed: null,
  },
  { tool: 'cordis_inspect_list', args: {}, pending: { card: 'generic', title: 'List what can be inspected', doneTitle: 'Listed what can be inspected', kind: 'read' }, completed: null, bare: null, failed: null, malformed: [] },
  {
    tool: 'cordis_inspect_query', args: { platform: 'host', provider: 'tools', method: 'get', input: { name: 'read' } },
    pending: { card: 'generic', title: 'Inspect host tools.get', doneTitle: 'Inspected host tools.get', kind: 'read', rawInput: { name: 'read' } }, completed: null, bare: null, failed: null,
  },
  { tool: 'cordis_inspect_self', args: { pluginId: 'hello-1' }, pending: { card: 'generic', title: 'Inspect hello-1', doneTitle: 'Inspected hello-1', kind: 'read' }, completed: null, bare: null, failed: null, malformed: [{ pluginId: 5 }] },
  {
    tool: 'cordis_define', args: { plugin: { kind: 'new', idPrefix: 'hello' }, name: 'Hello', purpose: 'Greets', code: { host: 'return', client: 'draw()' } }, meta: { pluginId: 'hello-1', packageId: 'pkg-1', halves: ['host', 'client'], folder: '/s/plugins/hello-1/pkg-1' },
    pending: { card: 'diff', title: 'Define Hello', diffs: [{ path: 'hello/host.js', oldText: null, newText: 'return' }, { path: 'hello/client.js', oldText: null, newText: 'draw()' }], isDraft: true },
    completed: { card: 'diff', title: 'Defined Hello (hello-1 pkg-1)', diffs: [{ path: '/s/plugins/hello-1/pkg-1/host.js', oldText: null, newText: 'return' }, { path: '/s/plugins/hello-1/pkg-1/client.js', oldText: null, newText: 'draw()' }], isDraft: true },
    bare: null, failed: null,
  },
  {
    tool: 'cordis_define', args: { plugin: { kind: 'existing', pluginId: 'hello-1' }, name: 'Hello', purpose: 'Greets', code: { host: 'return 2' } },
    meta: { pluginId: 'hello-1', packageId: 'pkg-2', halves: ['host'], folder: '/s', isApproved: true, against: 'pkg-1', hunks: [{ half: 'host', oldStart: 1, newStart: 1, oldText: 'return', newText: 'return 2' }] },
    pending: { card: 'diff', title: 'Define Hello', diffs: [{ path: 'hello-1/host.js', oldText: null, newText: 'return 2' }], isDraft: true },
    completed: { card: 'diff', title: 'Defined Hello (hello-1 pkg-2)', diffs: [{ path: '/s/host.js', oldText: 'return', newText: 'return 2', oldStart: 1, newStart: 1 }], note: 'You let this version run in this session. Shown against pkg-1.', isDraft: true },
    bare: null, failed: null,
  },
  {
    tool: 'cordis_run', args: { pluginId: 'hello-1', packageId: 'pkg-2', mode: 'update' }, meta: { runId: 'run-2', state: 'awaiting' },
    pending: { card: 'generic', title: 'Update the plugin hello-1 to pkg-2', kind: 'execute' }, completed: { card: 'generic', title: 'Started the plugin hello-1 (pkg-2)', content: said }, bare: null, failed: null,
  },
  { tool: 'cordis_stop', args: { pluginId: 'hello-1' }, meta: { wasRunning: false }, pending: { card: 'generic', title: 'Stop the plugin hello-1', doneTitle: 'Stopped the plugin hello-1', kind: 'other' }, completed: { card: 'generic', title: 'The plugin hello-1 did not run', content: said }, bare: null, failed: null },
  { tool: 'cordis_undefine', args: { pluginId: 'hello-1' }, meta: { wasRunning: true }, pending: { card: 'generic', title: 'Remove the plugin hello-1', doneTitle: 'Removed the plugin hello-1', kind: 'other' }, completed: null, bare: null, failed: null },
  {
    tool: 'ralph', args: { objective: 'Make it green' }, meta: { status: 'complete', rounds: 1 },
    pending: { card: 'generic', title: 'ralph', kind: 'other', rawInput: 'Make it green' },
    completed: { card: 'generic', title: 'ralph: complete after 1 round', content: said }, bare: { card: 'generic', content: said }, failed: null,
  },
  { tool: 'list_agents', args: {}, pending: { card: 'generic', title: 'List agents', doneTitle: 'Listed agents', kind: 'read' }, completed: null, bare: null, failed: null, malformed: [] },
  { tool: 'send_message', args: { subagent_id: 's', message: 'm' }, pending: { card: 'generic', title: 'Message to agent s', doneTitle: 'Sent a message to agent s', kind: 'other', rawInput: 'm' }, completed: null, bare: null, failed: null },
  { tool: 'interrupt_agent', args: { agent_id: 's' }, pending: { card: 'generic', title: 'Interrupt agent s', doneTitle: 'Interrupted agent s', kind: 'other' }, completed: null, bare: null, failed: null },
  {
    tool: 'spawn_teammate', args: { name: 'ada', description: 'Writes tests', prompt: 'Begin.' },
    pending: { card: 'generic', title: 'Create the teammate ada', doneTitle: 'Created the teammate ada', kind: 'other', content: text('Writes tests\n\nBegin.') }, completed: null, bare: null, failed: null,
  },
  { tool: 'followup_task', args: { target: 'ada', message: 'm' }, meta: { status: 'accepted' }, pending: { card: 'generic', title: 'Next task for ada', doneTitle: 'Gave the next task to ada', kind: 'other', content: text('m') }, completed: null, bare: null, failed: null },
  { tool: 'wait_agent', args: {}, pending: { card: 'generic', title: 'Wait for the team', doneTitle: 'Waited for the team', kind: 'other' }, completed: null, bare: null, failed: null, malformed: [] },
  {
    tool: 'team_task_create', args: { subject: 'Parse', description: '' }, meta: { id: 'task-1', subject: 'Parse', status: 'pending', revision: 1 },
    pending: { card: 'generic', title: 'Add the task “Parse”', doneTitle: 'Added the task “Parse”', kind: 'other' }, completed: { card: 'generic', content: text('task-1 [pending] Parse') }, bare: null, failed: null,
  },
  { tool: 'team_task_get', args: { task_id: 'task-1' }, pending: { card: 'generic', title: 'Read task 1', doneTitle: 'Read task 1', kind: 'read' }, completed: null, bare: null, failed: null },
  { tool: 'team_task_list', args: {}, pending: { card: 'generic', title: 'Look at the board', doneTitle: 'Looked at the board', kind: 'read' }, completed: null, bare: null, failed: null, malformed: [] },
  ...([
    ['claim', {}, 'Claim task 1', 'Claimed task 1'], ['release', {}, 'Release task 1', 'Released task 1'], ['edit', { subject: 'x' }, 'Edit task 1', 'Edited task 1'],
    ['set_dependencies', { blocked_by: [] }, 'Change what blocks task 1', 'Changed what blocks task 1'], ['complete', {}, 'Complete task 1', 'Completed task 1'], ['reopen', {}, 'Reopen task 1', 'Reopened task 1'],
    ['reassign', { owner: 'ada' }, 'Give task 1 to ada', 'Gave task 1 to ada'], ['reassign', { owner: ' ' }, 'Take task 1 from its owner', 'Took task 1 from its owner'], ['delete', {}, 'Delete task 1', 'Deleted task 1'],
  ] as const).map(([action, more, title, doneTitle]): Row => ({
    tool: 'team_task_update', args: { task_id: 'task-1', expected_revision: 1, action, ...more }, meta: { id: 'task-1', subject: 'Parse', status: 'in_progress', revision: 2 },
    pending: { card: 'generic', title, doneTitle, kind: 'other' }, completed: { card: 'generic', content: text('task-1 [in progress] Parse') }, bare: null, failed: null,
  })),
  {
    tool: 'schedule_create', args: { prompt: 'Water\nAll of them.', after_seconds: 60 }, meta: { refused: 'No.' },
    pending: { card: 'generic', title: 'Set the reminder “Water”', doneTitle: 'Set the reminder “Water”', kind: 'other', rawInput: 'Water\nAll of them.' },
    completed: { card: 'generic', title: 'Set no reminder', content: [{ type: 'text', text: 'No.' }] }, bare: null, failed: null,
  },
  { tool: 'schedule_list', args: {}, pending: { card: 'generic', title: 'List reminders', doneTitle: 'Listed reminders', kind: 'read' }, completed: null, bare: null, failed: null, malformed: [] },
  { tool: 'schedule_delete', args: { id: 'schedule-1' }, pending: { card: 'generic', title: 'Delete a reminder', doneTitle: 'Deleted a reminder', kind: 'other', rawInput: 'schedule-1' }, completed: null, bare: null, failed: null },
  {
    tool: 'todo_write', args: { todos: [{ content: 'a', status: 'completed' }, { content: 'b', status: 'pending' }] },
    pending: { card: 'generic', title: 'Update the task list', kind: 'other', rawInput: [{ content: 'a', status: 'completed' }, { content: 'b', status: 'pending' }] },
    completed: { card: 'generic', title: 'Updated the task list, 1 of 2 done', content: [{ type: 'text', text: '✓ a\n○ b' }] }, bare: { card: 'generic', title: 'Updated the task list, 1 of 2 done', content: [{ type: 'text', text: '✓ a\n○ b' }] }, failed: null,
  },
  {
    tool: 'exit_plan_mode', args: { plan: '# P\n\n1. a' },
    pending: { card: 'generic', title: 'P', kind: 'other', face: 'plan', content: text('# P\n\n1. a') },
    completed: { card: 'generic', title: 'Plan review', face: 'plan', content: said }, bare: { card: 'generic', title: 'Plan review', face: 'plan', content: said }, failed: { card: 'generic', title: 'Plan review', face: 'plan', content: said },
  },
  {
    tool: 'create_goal', args: { objective: 'Make it green' },
    pending: { card: 'generic', title: 'Set a goal', kind: 'other', rawInput: 'Make it green' }, completed: null, bare: null, failed: null,
  },
  { tool: 'get_goal', args: {}, pending: { card: 'generic', title: 'Read the current goal', kind: 'read' }, completed: null, bare: null, failed: null, malformed: [] },
  {
    tool: 'update_goal', args: { goal_id: 'goal-1', revision: 2, action: 'blocked', objective: '', max_goal_rounds: 0, blocked_reason: 'No key' },
    pending: { card: 'generic', title: 'Mark goal', kind: 'other', rawInput: 'No key' }, completed: null, bare: null, failed: null,
  },
  ...([['edit', { objective: 'Other', max_goal_rounds: 9 }, 'Edit goal', 'Other'], ['edit', { objective: '', max_goal_rounds: 9 }, 'Edit goal', 9], ['pause', {}, 'Pause goal', 'goal-1'], ['resume', {}, 'Resume goal', 'goal-1'], ['complete', {}, 'Complete goal', 'goal-1']] as const).map(([action, more, title, rawInput]): Row => ({
    tool: 'update_goal', args: { goal_id: 'goal-1', revision: 2, action, ...more },
    pending: { card: 'generic', title, kind: 'other', rawInput }, completed: null, bare: null, failed: null,
  })),
  {
    tool: 'ask_user_question', args: asked, meta: [{ id: 'q', selected: ['A'] }, { id: 'r', selected: [], custom: 'because' }],
    pending: { card: 'generic', title: 'Ask 2 questions', kind: 'other', content: [{ type: 'text', text: 'Which?\n- A\n- B' }, { type: 'text', text: 'Why?' }] },
    completed: { card: 'question', items: [{ question: 'Which?', options: ['A', 'B'], selected: ['A'] }, { question: 'Why?', options: [], selected: [], custom: 'because' }] },
    bare: null, failed: { card: 'generic', title: 'Question not answered', content: said },
  },
]

describe.each(rows)('$tool $args', ({ tool, args, pending, meta, completed, bare, failed, malformed = {} }) => {
  it('is shown while it waits', () => expect(presentCall(shipped, tool, args as Json)).toEqual(pending))
  it('is shown when it is done, from its facts', () => expect(done(shipped, tool, args, meta === undefined ? {} : { meta })).toEqual(completed))
  it('is shown without its facts', () => expect(done(shipped, tool, args)).toEqual(bare))
  it('is shown when it failed', () => expect(done(shipped, tool, args, { isError: true })).toEqual(failed))
  it('takes facts of every odd shape for no facts, and never throws', () => {
    const odd: readonly Json[] = [null, 1, 'x', [], [null], {}, { kind: 'background' }, { operation: 'update', hunks: [{}] }, { paths: [1], total: 1, truncated: false }, { files: [{ path: 'a', matches: [{}] }], total: 1, truncated: false }, { path: 1, offset: 1, lines: [], totalLines: 1 }]
    for (const facts of odd) expect(done(shipped, tool, args, { meta: facts })).toEqual(bare)
  })
  it('has no card for malformed arguments', () => {
    for (const bad of [malformed, null, 'x', [args], { ...args, ...Object.fromEntries(Object.keys(args).map((key) => [key, { not: 'this' }])) }]) {
      if (Object.keys(args).length === 0 && !Array.isArray(bad) && typeof bad === 'object' && bad !== null) continue
      expect([presentCall(shipped, tool, bad as Json), done(shipped, tool, bad, meta === undefined ? {} : { meta })]).toEqual([null, null])
    }
  })
  it('is the same each time, and changes neither arguments nor facts', () => {
    const frozen = deepFrozen({ args, meta: meta ?? null }) as { args: Json; meta: Json }
    const twice = () => [presentCall(shipped, tool, frozen.args), done(shipped, tool, frozen.args, meta === undefined ? {} : { meta: frozen.meta })]
    expect(twice()).toEqual(twice())
  })
})

it('every tool there is has its row above', () => {
  expect(application.ctx.tools.list().map(({ name }) => name).filter((name) => !rows.some(({ tool }) => tool === name))).toEqual([])
})

describe('a terminal', () => {
  const facts: readonly (readonly [string, object, object])[] = [
    ['ended by a signal', { exitCode: null, signal: 'SIGKILL' }, { signal: 'SIGKILL' }],
    ['out of time', { exitCode: null, signal: 'SIGTERM', timedOut: true, logPath: '/l' }, { signal: 'SIGTERM', timedOut: true, logPath: '/l' }],
    ['stopped', { exitCode: null, signal: 'SIGTERM', aborted: true }, { signal: 'SIGTERM', aborted: true }],
  ]
  it.each(facts)('%s says so, and how it ended is never read from its text', (_what, more, shown) =>
    expect(done(shipped, 'bash', shellArgs, { content: text('x\n[exit code: 9]'), meta: { ...ended, ...more } as Json })).toEqual({ card: 'terminal', output: 'out\n', durationMs: 5, ...shown }))
})

describe('what a presenter gives', () => {
  const call = (view: unknown) => presentCall(() => ({ presentCall: () => view as never }), 'x', {})
  const result = (view: unknown) => done(() => ({ presentResult: () => view as never }), 'x', {})
  const getter = { card: 'generic', get title() { throw new Error('x') } }
  const calls: readonly (readonly [string, unknown])[] = [
    ['nothing', undefined], ['null', null], ['a text', 'generic'], ['another card', { card: 'table', title: 'x' }], ['a result’s card', { card: 'search', shape: 'paths', paths: [], truncated: false, total: 0 }],
    ['a card of the prototype', { card: 'constructor', title: 'x' }], ['no title', { card: 'generic' }], ['a title that is none', { card: 'terminal', title: 7 }], ['content that is none', { card: 'generic', title: 'x', content: 'x' }],
    ['content of its own kind', { card: 'generic', title: 'x', content: [{ type: 'html', text: 'x' }] }], ['another kind', { card: 'generic', title: 'x', kind: 'magic' }], ['a diff without a path', { card: 'diff', title: 'x', diffs: [{ oldText: null, newText: '' }] }],
    ['places that are none', { card: 'generic', title: 'x', locations: ['a'] }], ['what cannot be sent', { card: 'generic', title: 'x', rawInput: () => 1 }], ['a getter that throws', getter], ['a promise', Promise.resolve({ card: 'generic', title: 'x' })],
  ]
  it.each(calls)('%s falls back to name and arguments while it waits', (_what, view) => expect(call(view)).toBeNull())
  const results: readonly (readonly [string, unknown])[] = [
    ['nothing', undefined], ['a text', 'x'], ['another card', { card: 'table' }], ['an output that is none', { card: 'terminal', output: {} }], ['lines that are none', { card: 'read', path: 'a', offset: 1, lines: ['x'], totalLines: 1 }],
    ['a search of no shape', { card: 'search', truncated: false, total: 1 }], ['matches that are none', { card: 'search', shape: 'matches', files: [{}], truncated: false, total: 1 }], ['a page without address', { card: 'web', kind: 'fetch', statusCode: 200, truncated: false }],
    ['questions that are none', { card: 'question', items: [{}] }], ['a getter that throws', getter],
  ]
  it.each(results)('%s falls back when it is done', (_what, view) => expect(result(view)).toBeNull())
  const drawn: readonly unknown[] = [
    { card: 'generic' }, { card: 'terminal', exitCode: 1 }, { card: 'diff', diffs: [{ path: 'a', oldText: null, newText: 'x' }] }, { card: 'search', shape: 'paths', paths: ['a'], truncated: false, total: 1 },
    { card: 'web', kind: 'search', sources: [{ url: 'https://a.test', title: 't' }], answer: 'a', truncated: false }, { card: 'web', kind: 'fetch', url: 'https://a.test', statusCode: 404, truncated: true },
  ]
  it.each(drawn)('%j is drawn as it is', (view) => expect(result(view)).toEqual(view))
  it('takes the fields that cards have and no others', () => expect(result({ card: 'generic', title: 'x', content: undefined, more: Symbol('s'), onClick: () => 1 })).toEqual({ card: 'generic', title: 'x' }))
  it('a tool that is gone, or that throws, falls back too', () => {
    const broken: FindPresenters = () => ({ presentCall: () => { throw new Error('x') }, presentResult: () => { throw new Error('x') } })
    expect([presentCall(() => undefined, 'x', {}), presentCall(broken, 'x', {}), done(broken, 'x', {})]).toEqual([null, null, null])
  })
})

describe('live and replayed', () => {
  const turn = async (agent: Agent, adapter: ReturnType<typeof createScriptedAdapter>, calls: readonly ScriptedCall[]) => {
    adapter.play(callTools(...calls), sayText('done'))
    agent.followup({ id: `p${agent.session.length}`, role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await agent.whenIdle()
  }
  /** Both cards of each call, from events alone. */
  const cards = (find: FindPresenters, events: readonly SessionEvent[]) => {
    const calls = new Map(events.flatMap((event) => (event.type === 'tool/call' ? [[event.data.callId, event.data] as const] : [])))
    return events.flatMap((event) => {
      if (event.type !== 'tool/result') return []
      const { name, arguments: written } = calls.get(event.data.message.source.callId)!
      const { meta, message: { content: [{ content, isError }] } } = event.data
      const args = argumentsFrom(written)
      return [{ name, isError, call: presentCall(find, name, args), result: presentResult(find, { name, args }, { content, isError, ...(meta !== undefined && { meta }) }, l10n) }]
    })
  }

  it('every tool’s cards are the same after a restart with the workspace gone', async () => {
    const whole = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1' } })
    const adapter = createScriptedAdapter()
    whole.ctx.models.register(adapter)
    whole.ctx.questions.attach()
    const agent = await whole.ctx.agents.create({ cwd: whole.folder, preset: 'standard' })
    whole.ctx.permissions.select(agent.id, 'danger-full-access')
    await writeFile(join(whole.folder, 'a.ts'), 'one\ntwo\nthree\n')
    const live: SessionEvent[] = []
    whole.ctx.on('session/event', (_session, event) => void live.push(event))
    const description = 'test'
    await turn(agent, adapter, [
      { id: '1', name: 'read', args: { file_path: 'a.ts' } },
      { id: '2', name: 'edit', args: { file_path: 'a.ts', old_string: 'two', new_string: '2' } },
      { id: '3', name: 'write', args: { file_path: 'b.ts', content: 'new\n' } },
      { id: '4', name: 'glob', args: { pattern: '*.ts' } },
      { id: '5', name: 'grep', args: { pattern: '2' } },
      { id: '6', name: 'bash', args: { command: 'echo out; exit 3', description } },
      { id: '7', name: 'bash', args: { command: 'echo job', description, run_in_background: true } },
      { id: '8', name: 'job_list', args: {} },
      { id: '9', name: 'job_output', args: { job_id: 'bash-1', wait: true } },
      { id: '10', name: 'job_kill', args: { job_id: 'bash-1' } },
      { id: '11', name: 'todo_write', args: { todos: [{ content: 'a', status: 'completed' }] } },
      { id: '12', name: 'read', args: { file_path: 'nowhere' } },
      { id: '13', name: 'edit', args: '{"file_path":' },
      { id: '14', name: 'nope', args: {} },
    ])
    const question = turn(agent, adapter, [{ id: '15', name: 'ask_user_question', args: asked }])
    await expect.poll(() => whole.ctx.questions.pending().length).toBe(1)
    whole.ctx.questions.answer(whole.ctx.questions.pending()[0]!.id, [{ id: 'q', selected: ['B'] }, { id: 'r', selected: [], custom: 'so' }] as never)
    await question
    const before = cards((name) => whole.ctx.tools.get(name), live)
    expect(before.map(({ name, isError, call, result }) => `${name} ${isError ? 'failed' : 'ok'} ${call?.card ?? '-'} ${result?.card ?? '-'}`)).toEqual([
      'read ok generic read', 'edit ok diff diff', 'write ok diff diff', 'glob ok generic search', 'grep ok generic search', 'bash ok terminal terminal', 'bash ok generic generic',
      'job_list ok generic -', 'job_output ok generic -', 'job_kill ok generic -', 'todo_write ok generic generic', 'read failed generic generic', 'edit failed - -', 'nope failed - -', 'ask_user_question ok generic question',
    ])
    // What only a person sees is in no message for the model.
    expect(JSON.stringify(agent.session.messages())).not.toContain('console')
    const { id } = agent
    await rm(whole.folder, { recursive: true })
    const again = await whole.restart()
    const { session } = await again.ctx.agents.resume(id)
    expect(cards((name) => again.ctx.tools.get(name), session.events())).toEqual(before)
    await again.dispose()
    await whole.dispose().catch(() => {})
  })
  it('a call inside a call has no card facts', async () => {
    const { ctx, folder } = application
    await writeFile(join(folder, 'n.txt'), 'x\n')
    const agent = await ctx.agents.create({ cwd: folder })
    const call = (parent?: { readonly id: string }) => ctx.tools.execute({ callId: 'c', name: 'read', arguments: { file_path: 'n.txt' }, agent, signal: new AbortController().signal, ...(parent && { parent }) })
    expect([(await call()).meta !== undefined, 'meta' in (await call({ id: 'p' }))]).toEqual([true, false])
  })
})

it('presenters reach for nothing but what they are given', async () => {
  const folder = join(import.meta.dirname, '../../../extension/tools')
  const { globSync } = await import('node:fs')
  const files = globSync('**/*.card.ts', { cwd: folder })
  expect(files.length).toBeGreaterThan(7)
  for (const file of files) expect(await readFile(join(folder, file), 'utf8'), file).not.toMatch(/\b(Date|Math\.random|performance|process|fetch\(|await|async|new Intl|toLocale\w+|globalThis)\b/)
})

function deepFrozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFrozen)
    Object.freeze(value)
  }
  return value
}
