import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { catalogueOf, type CatalogueEntry, type CatalogueRow } from '../../extension/catalogue.ts'
import { covers, membersFrom, membersText, shapeFrom, shapeOfSchema, textOf, type Members, type Shape } from '../support/type-notation.ts'
import { wholeApplication, type WholeApplication } from '../support/whole-application.ts'

/*
 * The tables of the tool catalogue that this project began with, copied by hand, word for word, and never derived from the code:
 * prompts, logs and programs of others name tools and arguments as they stand here. `ours` is what a tool takes beside that, also by
 * hand: it may only be optional, and only add values to an enumeration.
 */

const types = {
  Question: '{ id:string, question:string, header?:string, options?:{ label:string, description?:string }[], multi_select?:boolean }',
  Todo: '{ content:string, status:"pending" | "in_progress" | "completed" }',
  WorkflowMeta: '{ name:string, description:string, whenToUse?:string, phases?:{ title:string, detail?:string, provider?:string, model?:string }[] }',
  ScheduleAt: '{ date:string, time:string, time_zone:string }',
  PluginSelector: '{ kind:"new", idPrefix:string } | { kind:"existing", pluginId:string }',
  CordisCode: '{ host?:string, client?:string }',
}

const shell = 'command:string, description:string, timeoutMs?:number, workdir?:string, run_in_background?:boolean'
const start = 'description:string, prompt:string, run_in_background?:boolean'

/** Tools that have their name to themselves, or are the usual ones of it. */
const seed: Readonly<Record<string, string>> = {
  // Shell, files, search
  bash: shell,
  pwsh: shell,
  read: 'file_path:string, offset?:number, limit?:number',
  read_image: 'file_path:string',
  write: 'file_path:string, content:string',
  edit: 'file_path:string, old_string:string, new_string:string, replace_all?:boolean',
  glob: 'pattern:string, path?:string',
  grep: 'pattern:string, path?:string, include?:string',
  // Background jobs, skills
  job_list: '',
  job_output: 'job_id:string, wait?:boolean, timeout_ms?:number',
  job_kill: 'job_id:string, reason?:string',
  skill: 'name:string',
  // Goals and plans
  create_goal: 'objective:string, max_goal_rounds?:number',
  get_goal: '',
  update_goal: 'goal_id:string, revision:number, action:"edit" | "pause" | "resume" | "complete" | "blocked", objective?:string, max_goal_rounds?:number, blocked_reason?:string',
  exit_plan_mode: 'plan:string',
  // Questions and tasks
  ask_user_question: 'questions:Question[]',
  todo_write: 'todos:Todo[]',
  // Agents
  subagent: start,
  subagent_fork: start,
  subagent_codex: start,
  subagent_claude_code: start,
  list_agents: 'scope?:"children" | "descendants"',
  send_message: 'subagent_id:string, message:string',
  interrupt_agent: 'agent_id:string',
  report: 'output:string',
  // Workflows
  workflow: 'script:string, meta:WorkflowMeta, args?:object',
  ralph: 'objective:string, maxRounds?:number',
  // Web
  web_search: 'queries:string[]',
  web_fetch: 'url:string',
  // Code Mode
  run_code: 'code:string, description:string',
  // The minimal preset
  str_replace_editor: 'command:"view" | "create" | "str_replace" | "insert", path:string, file_text?:string, insert_line?:integer, new_str?:string, old_str?:string, view_range?:integer[]',
  // Terminals
  terminal_list: '',
  terminal_open: 'type:string, name?:string, cwd?:string',
  terminal_read: 'sessionId:string, offset?:number, count?:number',
  terminal_send: 'sessionId:string, text:string, submit?:boolean, run_in_background?:boolean',
  terminal_signal: 'sessionId:string, signal:"SIGINT" | "SIGTERM" | "SIGKILL" | "SIGTSTP" | "SIGHUP"',
  terminal_close: 'sessionId:string',
  // Language services
  lsp: 'operation:"goToDefinition" | "findReferences" | "goToImplementation" | "hover", file_path:string, line:number, character:number',
  // Reminders
  schedule_create: 'prompt:string, after_seconds?:number, every_seconds?:number, at?:string | ScheduleAt',
  schedule_list: '',
  schedule_delete: 'id:string',
  // Sessions
  session_event_read: 'session_id?:string, seq:integer, before?:integer, after?:integer',
  session_event_search: 'session_id?:string, query:string, seq_from?:integer, seq_to?:integer, time_from?:string, time_to?:string, event_types?:string[], surfaces?:("current" | "shadowed" | "log-only")[]',
  session_event_trace: 'session_id?:string, seq:integer',
  session_search: 'query:string, session_ids?:string[], created_at_from?:string, created_at_to?:string, parent_session_ids?:string[], include_root_sessions?:boolean, availability?:("live" | "persisted")[], event_seq_from?:integer, event_seq_to?:integer, event_time_from?:string, event_time_to?:string, event_types?:string[], event_surfaces?:("current" | "shadowed" | "log-only")[]',
  session_trace: 'session_id?:string',
  // Teams
  spawn_teammate: 'name:string, description:string, prompt:string, context?:"fresh" | "fork"',
  followup_task: 'target:string, message:string',
  wait_agent: 'timeout_ms?:integer',
  team_task_create: 'subject:string, description:string, blocked_by?:string[], write_scopes?:string[]',
  team_task_get: 'task_id:string',
  team_task_list: 'status?:"pending" | "in_progress" | "completed", owner?:string, ready?:boolean, cursor?:integer, limit?:integer',
  team_task_update: 'task_id:string, expected_revision:integer, action:"claim" | "release" | "edit" | "set_dependencies" | "complete" | "reopen" | "reassign" | "delete", subject?:string, description?:string, blocked_by?:string[], write_scopes?:string[], owner?:string',
  // Dynamic plugins
  cordis_inspect_list: '',
  cordis_inspect_query: 'platform:"host" | "client", provider:string, method:string, input?:unknown',
  cordis_inspect_self: 'pluginId?:string, packageId?:string',
  cordis_define: 'plugin:PluginSelector, name:string, purpose:string, code:CordisCode',
  cordis_run: 'pluginId:string, packageId:string, mode:"run" | "update"',
  cordis_stop: 'pluginId:string',
  cordis_undefine: 'pluginId:string',
}

/** Those that stand in the place of the usual one of the same name, in one preset. */
const seedVariants: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  minimal: { bash: 'command:string', pwsh: 'command:string' },
  team: { list_agents: '', send_message: 'target:string, message:string', interrupt_agent: 'target:string' },
}

/** What ours take beside that. */
const ours: Readonly<Record<string, string>> = {
  bash: 'wake_on?:string, interactive?:boolean',
  pwsh: 'wake_on?:string, interactive?:boolean',
  read: 'ranges?:integer[][], symbol?:string',
  edit: 'near_line?:integer',
  glob: 'include_ignored?:boolean',
  grep: 'ignore_case?:boolean, context?:integer, multiline?:boolean, type?:string, include_ignored?:boolean, output_mode?:"content" | "files" | "count", head_limit?:integer',
  job_output: 'input?:string',
  create_goal: 'checks?:string[], max_tokens?:number, max_cost?:number, max_minutes?:number',
  subagent: 'isolation?:"worktree"',
  subagent_fork: 'isolation?:"worktree"',
  subagent_codex: 'isolation?:"worktree"',
  subagent_claude_code: 'isolation?:"worktree"',
  send_message: 'mode?:"next_turn" | "now"',
  workflow: 'resume_run_id?:string, run_in_background?:boolean',
  web_fetch: 'offset?:number, limit?:number, whole_page?:boolean',
  terminal_read: 'mode?:"lines" | "screen"',
  lsp: 'symbol?:string, near_line?:number, query?:string, new_name?:string, title?:string',
  session_event_search: 'match?:"words" | "prefix" | "substring", files?:string[], symbols?:string[]',
  session_search: 'match?:"words" | "prefix" | "substring", files?:string[], symbols?:string[]',
  spawn_teammate: 'isolation?:"worktree"',
  schedule_create: 'calendar?:{ rule:string, time_zone:string }, action?:"tell" | "do", catch_up?:"once" | "skip"',
}

/** Values that ours name beside those of the table, by tool and argument. */
const ourValues: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  lsp: {
    operation: ['goToTypeDefinition', 'documentSymbols', 'workspaceSymbols', 'incomingCalls', 'outgoingCalls', 'supertypes', 'subtypes', 'diagnostics', 'codeActions', 'rename', 'applyCodeAction'],
  },
}

/*
 * What a program gets of a successful call, as the specification of each tool states it, by hand as well. A value may have more
 * members than these, never fewer or others.
 */
const valueTypes = {
  Stream: '{ text:string, truncated:boolean, spillPath?:string }',
  ShellValue: '{ kind:"foreground", exitCode:integer | null, signal:string | null, timedOut:boolean, aborted:boolean, timeoutMs:number, stdout:Stream, stderr:Stream } | Background',
  Background: '{ kind:"background", jobId:string }',
  Job: '{ id:string, kind:string, label:string, status:string, detail?:string, startedAt:number, finishedAt?:number }',
  Foreground: '{ kind:"foreground", runId:string, output:object[] }',
  GoalValue: '{ goal:{ id:string, revision:integer, objective:string, phase:string, roundsStarted:integer, maxGoalRounds:integer, blockedReason?:{ code:string, message:string } } | null, activation?:string }',
  Status: '{ kind:"running" } | { kind:"exited", exitCode:integer | null, signal:string | null }',
  Position: '{ line:integer, character:integer }',
  Range: '{ start:Position, end:Position }',
  Reminder: '{ id:string, kind:string, prompt:string, scheduledAt:string, state:"scheduled" | "overdue", deliveryMode:"session-local", afterSeconds?:integer, everySeconds?:integer }',
  Refused: '{ code:string, message:string }',
}
const values: Readonly<Record<string, string>> = {
  bash: 'ShellValue',
  pwsh: 'ShellValue',
  read: '{ path:string, offset:integer, lines:{ number:integer, text:string }[], totalLines:integer }',
  read_image: '{ path:string, image:{ attachmentId:string, mediaType:string, bytes:integer, width:integer, height:integer, name?:string } }',
  // A text that is too large to be shown is null.
  write: '{ path:string, operation:"create" | "update", before:string | null, after:string | null }',
  edit: '{ path:string, before:string | null, after:string | null }',
  str_replace_editor: 'string',
  glob: '{ root:string, paths:string[] }',
  grep: '{ matches:{ path:string, lineNumber:integer, line:string }[] }',
  job_list: 'Job[]',
  job_output: '{ text:string, job:Job }',
  job_kill: '{ outcome:"cancellation-requested" | "already-finished", job:Job }',
  skill: '{ name:string, provider:string, resourceBase?:{ kind:"directory", path:string } | { kind:"url", url:string } | { kind:"opaque", description:string }, content:string }',
  create_goal: 'GoalValue',
  get_goal: 'GoalValue',
  update_goal: 'GoalValue',
  exit_plan_mode: '{ approved:true }',
  ask_user_question: '{ answers:{ id:string, selected:string[], custom?:string }[] }',
  todo_write: '{ todos:{ content:string, status:"pending" | "in_progress" | "completed" }[], counts:{ pending:integer, inProgress:integer, completed:integer } }',
  subagent: 'Foreground | Background | { kind:"continuable", subagentId:string }',
  subagent_fork: 'Foreground | Background | { kind:"continuable", subagentId:string }',
  subagent_codex: 'Foreground | Background',
  subagent_claude_code: 'Foreground | Background',
  list_agents: '({ kind:"child", id:string, label:string, status:"running" | "idle" | "ready", parent?:string, depth?:integer } | { kind:"diagnostic", id:string, reason:"corrupt" | "unsupported" | "unavailable", parent?:string, depth?:integer })[]',
  interrupt_agent: '{ accepted:true }',
  report: '{ messageId:string }',
  workflow: '{ runId:string, agentsStarted:integer, result:unknown }',
  ralph: '{ runId:string, agentsStarted:integer, result:{ status:"complete" | "blocked" | "budget-limited", roundsStarted:integer, report:unknown } }',
  web_search: '{ content?:string, sources:{ url:string, title?:string, snippet?:string, publishedAt?:string }[], truncated:boolean }',
  web_fetch: '{ url:string, statusCode:integer, body:{ kind:"html" | "text", content:string }, truncated:boolean }',
  run_code: '{ logs:string[], result?:unknown }',
  terminal_open: '{ sessionId:string, name?:string, type:string, pid?:integer, status:Status, motd:string }',
  terminal_send: '{ kind:"foreground", viewport:string, waitReason:"stdin_read" | "inferred_idle" | "timeout" | "session_exit", sessionStatus:Status, truncated:boolean } | Background',
  terminal_read: '{ text:string, totalLines:integer, lineBegin:integer, lineEnd:integer, truncated:boolean }',
  terminal_signal: '{ delivered:true, targetPgid:integer | null }',
  terminal_close: '{ sessionId:string, outcome:"closed" | "already-closing" }',
  lsp: '{ kind:"locations", locations:{ uri:string, range:Range }[], resolvedWorkspaceUri:string } | { kind:"hover", hover:{ contents:string, range?:Range } | null }',
  schedule_create: 'Reminder | Refused',
  schedule_list: 'Reminder[] | Refused',
  schedule_delete: '{ id:string, deleted:true } | { id:string, deleted:false, code:"schedule_not_found" } | Refused',
  session_event_read: 'string',
  session_event_search: 'string',
  session_event_trace: 'string',
  session_search: 'string',
  session_trace: 'string',
  followup_task: '{ messageId:string, status:"accepted" | "queued" }',
  cordis_define: '{ pluginId:string, packageId:string }',
  cordis_run: '{ runId:string }',
  cordis_undefine: '{ wasRunning:boolean }',
  wait_agent: '{ timedOut:boolean, noProgress?:{ reason:"no-active-peer", message:string } }',
}
const variantValues: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  minimal: { bash: 'string', pwsh: 'string' },
  team: {
    list_agents: '{ id:string, name:string, role:"lead" | "teammate", status:string, description?:string, provider?:string, context?:string, model?:string, diagnostics:string[] }[]',
    send_message: '{ messageId:string, status:"accepted" | "queued" }',
    interrupt_agent: '{ previousStatus:"running" | "idle" | "inactive" }',
  },
}

let application: WholeApplication
let rows: ReadonlyMap<string, CatalogueRow>
beforeAll(async () => {
  application = await wholeApplication()
  rows = new Map((await catalogueOf(application)).map((row) => [row.name, row]))
})
afterAll(() => application.dispose())

const argumentsOf = ({ parameters }: Pick<CatalogueEntry, 'parameters'>): Members => {
  const shape = shapeOfSchema(parameters)
  return shape.kind === 'object' ? shape.members : {}
}
const variantOf = (preset: string, name: string) => rows.get(name)?.variants.find(({ presets }) => presets.includes(preset))

function wantedFor(name: string): Members {
  const added = membersFrom(ours[name] ?? '', types)
  const values = ourValues[name] ?? {}
  const table = Object.entries(membersFrom(seed[name] ?? '', types)).map(([key, member]) => [key, { ...member, shape: withValues(member.shape, values[key] ?? []) }] as const)
  return { ...Object.fromEntries(table), ...added }
}

const withValues = (shape: Shape, values: readonly string[]): Shape =>
  values.length === 0 ? shape : shapeFrom([textOf(shape), ...values.map((value) => `"${value}"`)].join(' | '))

describe('the catalogue of tools', () => {
  it('has every name of the tables, and no other', () => expect([...rows.keys()].toSorted()).toEqual(Object.keys(seed).toSorted()))

  it.each(Object.keys(seed))('%s takes the arguments of its row, and beside them what is listed as ours', (name) =>
    expect(membersOf(argumentsOf(rows.get(name)!))).toEqual(membersOf(wantedFor(name))))

  it.each(pairs(seedVariants))('in the preset %s, %s takes the arguments of its own row', (preset, name) => {
    const variant = variantOf(preset, name)
    expect(variant && membersOf(argumentsOf(variant))).toEqual(membersOf(membersFrom(seedVariants[preset]![name]!, types)))
  })

  it.each(Object.keys(ours))('what ours of %s adds is optional, and in no row', (name) => {
    const added = membersFrom(ours[name]!, types)
    expect(Object.entries(added).filter(([key, { isRequired }]) => isRequired || key in membersFrom(seed[name]!, types))).toEqual([])
  })

  const valueOf = ({ output }: Pick<CatalogueEntry, 'output'>) => shapeOfSchema(output)
  it.each(Object.keys(values))('a program gets of %s what its specification states', (name) => {
    const own = valueOf(rows.get(name)!)
    expect(covers(shapeFrom(values[name]!, valueTypes), own) ? 'as stated' : textOf(own)).toBe('as stated')
  })
  it.each(pairs(variantValues))('in the preset %s, a program gets of %s what its specification states', (preset, name) => {
    const own = valueOf(variantOf(preset, name)!)
    expect(covers(shapeFrom(variantValues[preset]![name]!, valueTypes), own) ? 'as stated' : textOf(own)).toBe('as stated')
  })

  it('says of each tool what it does, what it gives, where it comes from, and what one that is not here needs', () => {
    for (const [name, row] of rows) for (const one of [row, ...row.variants]) {
      expect([name, one.description.trim().length > 10, typeof one.output, one.group?.length !== 0, one.needs === null || /^[A-Z].*\.$/.test(one.needs), one.effects.length > 0]).toEqual([name, true, 'object', true, true, true])
    }
  })

  it('says of those that are not there here what they need', () => {
    const missing = [...rows.values()].filter(({ needs }) => needs !== null).map(({ name }) => name)
    const otherShell = process.platform === 'win32' ? 'bash' : 'pwsh'
    expect(missing).toEqual(['cordis_define', 'cordis_inspect_list', 'cordis_inspect_query', 'cordis_inspect_self', 'cordis_run', 'cordis_stop', 'cordis_undefine', 'lsp', otherShell, 'report', 'session_event_read', 'session_event_search', 'session_event_trace', 'session_search', 'session_trace', 'subagent_claude_code', 'subagent_codex', 'web_search'].toSorted())
  })
})

function pairs(all: Readonly<Record<string, object>>): readonly (readonly [preset: string, name: string])[] {
  return Object.entries(all).flatMap(([preset, tools]) => Object.keys(tools).map((name) => [preset, name] as const))
}

describe('where little is there', () => {
  it('the catalogue is as long, with the same arguments, and says of each tool that is missing what it needs', async () => {
    const poor = await wholeApplication({
      settings: { 'tools.web.fetchEnabled': false, 'tools.disabled': ['read'] },
      alter: (world) => ({ ...world, terminals: { ...world.terminals!, problem: 'This system has no terminals.' }, machine: { ...world.machine, bash: null, pwsh: null } }),
    })
    const found = await catalogueOf(poor)
    await poor.dispose()
    expect(found.map(({ name, parameters }) => [name, shapeOfSchema(parameters)])).toEqual([...rows.values()].map(({ name, parameters }) => [name, shapeOfSchema(parameters)]))
    const needs = Object.fromEntries(found.map((row) => [row.name, row.needs]))
    expect(needs).toMatchObject({
      read: 'Its name taken out of the setting bosun.tools.disabled.',
      [process.platform === 'win32' ? 'pwsh' : 'bash']: expect.stringContaining('none was found') as string,
      terminal_open: 'Terminals, which cannot be opened here. This system has no terminals.',
      terminal_list: 'Terminals, which cannot be opened here. This system has no terminals.',
      web_fetch: 'The setting bosun.tools.web.fetchEnabled, which is off.',
      cordis_run: 'Plugins that a model writes are off. The setting bosun.dynamicPlugins.enabled turns them on.',
    })
  })
})

/** Argument by argument, so that a difference is told by its name. */
const membersOf = (members: Members): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, membersText({ [name]: member })]))
