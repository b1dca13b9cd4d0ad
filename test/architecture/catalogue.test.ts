import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../extension/base/json.ts'
import type { FileSystem } from '../../extension/capabilities/file-system.ts'
import type { ProcessRunner } from '../../extension/capabilities/process.ts'
import { bashDialect, pwshDialect } from '../../extension/tools/shell/shell-dialect.ts'
import { createShellTool } from '../../extension/tools/shell/shell-tool.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { createMemoryBlobStore } from '../support/memory-blob-store.ts'
import { wholeApplication, type WholeApplication } from '../support/whole-application.ts'
import { plainEnvironment } from '../support/plain-environment.ts'

/** A name of a type, the values of an enumeration, the members of an object, or a list of one of them. A key with `?` is optional. */
type Shape = 'string' | 'number' | 'integer' | 'boolean' | readonly string[] | { readonly [key: string]: Shape } | { readonly list: Shape }

/*
 * Written down by hand from the tables of the tool catalogue, never derived from the code: other people's prompts, logs and
 * programs name tools and arguments as they stand here. A tool may take more optional arguments, never fewer or other ones.
 * A new tool gets its row here.
 */
const shell: Shape = { command: 'string', description: 'string', 'timeoutMs?': 'number', 'workdir?': 'string', 'run_in_background?': 'boolean' }
const catalogue: Readonly<Record<string, { readonly [key: string]: Shape }>> = {
  bash: shell,
  pwsh: shell,
  read: { file_path: 'string', 'offset?': 'number', 'limit?': 'number' },
  read_image: { file_path: 'string' },
  str_replace_editor: {
    command: ['view', 'create', 'str_replace', 'insert'],
    path: 'string',
    'file_text?': 'string',
    'insert_line?': 'integer',
    'new_str?': 'string',
    'old_str?': 'string',
    'view_range?': { list: 'integer' },
  },
  write: { file_path: 'string', content: 'string' },
  edit: { file_path: 'string', old_string: 'string', new_string: 'string', 'replace_all?': 'boolean' },
  glob: { pattern: 'string', 'path?': 'string' },
  grep: { pattern: 'string', 'path?': 'string', 'include?': 'string' },
  job_list: {},
  job_output: { job_id: 'string', 'wait?': 'boolean', 'timeout_ms?': 'number' },
  job_kill: { job_id: 'string', 'reason?': 'string' },
  terminal_list: {},
  terminal_open: { type: 'string', 'name?': 'string', 'cwd?': 'string' },
  terminal_read: { sessionId: 'string', 'offset?': 'number', 'count?': 'number', 'mode?': ['lines', 'screen'] },
  terminal_send: { sessionId: 'string', text: 'string', 'submit?': 'boolean', 'run_in_background?': 'boolean' },
  terminal_signal: { sessionId: 'string', signal: ['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGTSTP', 'SIGHUP'] },
  terminal_close: { sessionId: 'string' },
  skill: { name: 'string' },
  session_search: {
    query: 'string',
    'session_ids?': { list: 'string' },
    'created_at_from?': 'string',
    'created_at_to?': 'string',
    'parent_session_ids?': { list: 'string' },
    'include_root_sessions?': 'boolean',
    'availability?': { list: ['live', 'persisted'] },
    'event_seq_from?': 'integer',
    'event_seq_to?': 'integer',
    'event_time_from?': 'string',
    'event_time_to?': 'string',
    'event_types?': { list: 'string' },
    'event_surfaces?': { list: ['current', 'shadowed', 'log-only'] },
  },
  session_event_search: {
    'session_id?': 'string',
    query: 'string',
    'seq_from?': 'integer',
    'seq_to?': 'integer',
    'time_from?': 'string',
    'time_to?': 'string',
    'event_types?': { list: 'string' },
    'surfaces?': { list: ['current', 'shadowed', 'log-only'] },
  },
  session_trace: { 'session_id?': 'string' },
  session_event_trace: { 'session_id?': 'string', seq: 'integer' },
  session_event_read: { 'session_id?': 'string', seq: 'integer', 'before?': 'integer', 'after?': 'integer' },
  ask_user_question: {
    questions: {
      list: {
        id: 'string',
        question: 'string',
        'header?': 'string',
        'options?': { list: { label: 'string', 'description?': 'string' } },
        'multi_select?': 'boolean',
      },
    },
  },
  exit_plan_mode: { plan: 'string' },
  web_search: { queries: { list: 'string' } },
  web_fetch: { url: 'string', 'offset?': 'number', 'limit?': 'number', 'whole_page?': 'boolean' },
  create_goal: { objective: 'string', 'max_goal_rounds?': 'number' },
  get_goal: {},
  update_goal: {
    goal_id: 'string',
    revision: 'number',
    action: ['edit', 'pause', 'resume', 'complete', 'blocked'],
    'objective?': 'string',
    'max_goal_rounds?': 'number',
    'blocked_reason?': 'string',
  },
  schedule_create: { prompt: 'string', 'after_seconds?': 'number', 'every_seconds?': 'number', 'at?': {} },
  schedule_list: {},
  schedule_delete: { id: 'string' },
  subagent: { description: 'string', prompt: 'string', 'run_in_background?': 'boolean', 'isolation?': ['worktree'] },
  subagent_fork: { description: 'string', prompt: 'string', 'run_in_background?': 'boolean', 'isolation?': ['worktree'] },
  list_agents: { 'scope?': ['children', 'descendants'] },
  send_message: { subagent_id: 'string', message: 'string' },
  interrupt_agent: { agent_id: 'string' },
  run_code: { code: 'string', description: 'string' },
  workflow: {
    script: 'string',
    meta: { name: 'string', description: 'string', 'whenToUse?': 'string', 'phases?': { list: { title: 'string', 'detail?': 'string', 'provider?': 'string', 'model?': 'string' } } },
    'args?': {},
  },
  ralph: { objective: 'string', 'maxRounds?': 'number' },
  spawn_teammate: { name: 'string', description: 'string', prompt: 'string', 'context?': ['fresh', 'fork'] },
  followup_task: { target: 'string', message: 'string' },
  wait_agent: { 'timeout_ms?': 'integer' },
  team_task_create: { subject: 'string', description: 'string', 'blocked_by?': { list: 'string' }, 'write_scopes?': { list: 'string' } },
  team_task_get: { task_id: 'string' },
  team_task_list: { 'status?': ['pending', 'in_progress', 'completed'], 'owner?': 'string', 'ready?': 'boolean', 'cursor?': 'integer', 'limit?': 'integer' },
  team_task_update: {
    task_id: 'string',
    expected_revision: 'integer',
    action: ['claim', 'release', 'edit', 'set_dependencies', 'complete', 'reopen', 'reassign', 'delete'],
    'subject?': 'string',
    'description?': 'string',
    'blocked_by?': { list: 'string' },
    'write_scopes?': { list: 'string' },
    'owner?': 'string',
  },
  cordis_inspect_list: {},
  cordis_inspect_query: { platform: ['host', 'client'], provider: 'string', method: 'string', 'input?': {} },
  cordis_inspect_self: { 'pluginId?': 'string', 'packageId?': 'string' },
  cordis_define: { plugin: {}, name: 'string', purpose: 'string', code: { 'host?': 'string', 'client?': 'string' } },
  cordis_run: { pluginId: 'string', packageId: 'string', mode: ['run', 'update'] },
  cordis_stop: { pluginId: 'string' },
  cordis_undefine: { pluginId: 'string' },
  todo_write: { todos: { list: { content: 'string', status: ['pending', 'in_progress', 'completed'] } } },
}
const parallelSafe = ['cordis_inspect_list', 'cordis_inspect_query', 'cordis_inspect_self', 'read', 'read_image', 'glob', 'grep', 'web_search', 'web_fetch', 'subagent', 'subagent_fork', 'session_trace', 'session_event_trace', 'session_event_read']

let application: WholeApplication
beforeAll(async () => {
  application = await wholeApplication({ settings: { 'tools.web.searchProvider': 'brave', 'dynamicPlugins.enabled': true } })
})
afterAll(() => application.dispose())

describe('the catalogue', () => {
  it('has a row for every tool of the application, and a tool for every row', () => {
    const names = [...application.ctx.tools.schemas().map(({ name }) => name), ...(application.ctx.tools.get('run_code', null) ? ['run_code'] : [])]
    const here = process.platform === 'win32' ? 'pwsh' : 'bash'
    expect(names.toSorted()).toEqual(Object.keys(catalogue).filter((name) => !['bash', 'pwsh'].includes(name) || name === here).toSorted())
  })

  it.each(Object.keys(catalogue))('%s takes what its row says, and nothing more that must be given', (name) => {
    expect(problems(catalogue[name] ?? {}, definitionOf(name).parameters, name)).toEqual([])
  })

  it.each(Object.keys(catalogue))('%s says what it is for and overlaps with others only where that is safe', (name) => {
    const { description, isConcurrencySafe } = definitionOf(name)
    expect(description.trim()).not.toBe('')
    expect(isConcurrencySafe?.(sampleOf(catalogue[name] ?? {}) as never) === true).toBe(parallelSafe.includes(name))
  })
})

/** Also the shell of the other platforms, which this one does not register. */
function definitionOf(name: string) {
  const registered = application.ctx.tools.get(name, null)
  if (registered) return registered
  const needs = { processes: {} as ProcessRunner, files: {} as FileSystem, blobs: createMemoryBlobStore(), clock: createManualClock() }
  return createShellTool(name === 'pwsh' ? pwshDialect : bashDialect, { ...needs, program: () => name, defaultTimeoutMs: () => 1, environment: plainEnvironment, jobs: application.ctx.jobs })
}

/** The smallest arguments of a shape. */
function sampleOf(shape: Shape): Json {
  if (typeof shape === 'string') return { string: 'x', number: 1, integer: 1, boolean: true }[shape]
  if (isValues(shape)) return shape[0] ?? null
  if (isList(shape)) return [sampleOf(shape.list)]
  return Object.fromEntries(Object.entries(shape).flatMap(([key, inner]) => (key.endsWith('?') ? [] : [[key, sampleOf(inner)]])))
}

describe('a tool is refused by this test', () => {
  const row: Shape = { a: 'string', 'b?': 'number', 'c?': ['x', 'y'], 'd?': { list: { e: 'boolean' } } }
  const schema = (properties: JsonObject, required: readonly string[] = ['a']) => ({ type: 'object', properties, required })
  const right = { a: { type: 'string' }, b: { type: 'number' }, c: { type: 'string', enum: ['x', 'y'] }, d: { type: 'array', items: { type: 'object', properties: { e: { type: 'boolean' } }, required: ['e'] } } }
  const check = (parameters: JsonObject, found: readonly string[]) => expect(problems(row, parameters, 't')).toEqual(found)

  it('not when it is as its row says, or takes more', () => {
    check(schema(right), [])
    check(schema({ ...right, c: { type: 'string', enum: ['x', 'y', 'z'] }, more: { type: 'string' } }), [])
  })
  it('when an argument is missing', () => check(schema({ a: right.a, c: right.c, d: right.d }), ['t.b is missing']))
  it('when an argument has another type', () => check(schema({ ...right, b: { type: 'integer' } }), ['t.b is integer, not number']))
  it('when it lacks a value', () => check(schema({ ...right, c: { type: 'string', enum: ['x'] } }), ['t.c does not take y']))
  it('when what is required is not what should be', () => check(schema(right, ['b']), ['t.a must be required', 't.b must not be required']))
  it('when it must be given more', () => check(schema({ ...right, more: { type: 'string' } }, ['a', 'more']), ['t.more must not be required']))
  it('for what is inside a list, too', () =>
    check(schema({ ...right, d: { type: 'array', items: { type: 'object', properties: { e: { type: 'string' } } } } }), ['t.d[].e must be required', 't.d[].e is string, not boolean']))
})

function problems(shape: Shape, schema: JsonObject, path: string): readonly string[] {
  const type = typeof schema['type'] === 'string' ? schema['type'] : 'of no type'
  if (typeof shape === 'string') return type === shape ? [] : [`${path} is ${type}, not ${shape}`]
  if (isValues(shape)) {
    const values = schema['enum'] as readonly string[] | undefined
    return values === undefined ? [`${path} names no values`] : shape.filter((value) => !values.includes(value)).map((value) => `${path} does not take ${value}`)
  }
  if (isList(shape)) return type === 'array' ? problems(shape.list, schema['items'] as JsonObject, `${path}[]`) : [`${path} is no list`]
  return memberProblems(shape, schema, path)
}

function memberProblems(shape: { readonly [key: string]: Shape }, schema: JsonObject, path: string): readonly string[] {
  const properties = (schema['properties'] ?? {}) as { readonly [key: string]: JsonObject }
  const required = (schema['required'] ?? []) as readonly string[]
  const found: string[] = []
  const mustBeGiven = Object.keys(shape).filter((key) => !key.endsWith('?'))
  for (const key of mustBeGiven) if (!required.includes(key)) found.push(`${path}.${key} must be required`)
  for (const key of required) if (!mustBeGiven.includes(key)) found.push(`${path}.${key} must not be required`)
  for (const [key, inner] of Object.entries(shape)) {
    const name = key.replace(/\?$/, '')
    const property = properties[name]
    found.push(...(property === undefined ? [`${path}.${name} is missing`] : problems(inner, property, `${path}.${name}`)))
  }
  return found
}

const isValues = (shape: Shape): shape is readonly string[] => Array.isArray(shape)
const isList = (shape: Shape): shape is { readonly list: Shape } => typeof shape === 'object' && 'list' in shape
