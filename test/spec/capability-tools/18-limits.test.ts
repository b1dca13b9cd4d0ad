import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../extension/base/json.ts'
import type { FileSystem } from '../../../extension/capabilities/file-system.ts'
import type { Languages } from '../../../extension/capabilities/languages.ts'
import type { ProcessRunner } from '../../../extension/capabilities/process.ts'
import type { ToolEffect } from '../../../extension/core/policy/tool-effects.ts'
import { settings } from '../../../extension/core/settings/specs.ts'
import type { ToolDefinition } from '../../../extension/core/tools/definition.ts'
import { inlineCapOf } from '../../../extension/core/tools/guards/spill.ts'
import { pwshDialect } from '../../../extension/tools/shell/shell-dialect.ts'
import { createShellTool } from '../../../extension/tools/shell/shell-tool.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'
import { plainEnvironment } from '../../support/plain-environment.ts'

/* Chapter 18: the tables of the tools, as the catalogue shows them. Written down by hand, never taken from the code. */

type Row = readonly [of: string, max: number, unit: string]

const shell: readonly Row[] = [['time', 600_000, 'ms'], ['one stream of output', 64_000, 'bytes'], ['the file with all of one stream', 67_108_864, 'bytes'], ['grace before KILL', 3_000, 'ms']]
const change: readonly Row[] = [['a file that is changed', 52_428_800, 'bytes'], ['a text that is given as it was and is', 10_485_760, 'characters'], ['facts of the card', 65_536, 'bytes']]
const terminal: Row = ['a complete result', 262_144, 'bytes']
const limits: Readonly<Record<string, readonly Row[]>> = {
  bash: shell,
  pwsh: shell,
  'bash of the minimal preset': [['time', 300_000, 'ms'], ['output', 16_000, 'characters'], ['the file with all of it', 67_108_864, 'bytes']],
  read: [
    ['lines', 2_000, 'lines'], ['one line', 2_000, 'characters'], ['text of the lines', 51_200, 'bytes'], ['ranges', 20, 'items'],
    ['a PDF', 52_428_800, 'bytes'], ['a notebook', 52_428_800, 'bytes'], ['facts of the card', 16_384, 'bytes'],
  ],
  // Ours: a larger file is shown as a smaller copy.
  read_image: [
    ['the file', 33_554_432, 'bytes'], ['the image as it is shown', 3_670_016, 'bytes'], ['a side as it is shown', 2_000, 'pixels'], ['the whole image', 40_000_000, 'pixels'],
    ['images of a message', 20, 'items'], ['all images of a message', 104_857_600, 'bytes'],
  ],
  write: change,
  edit: change,
  str_replace_editor: [['the answer', 16_000, 'characters'], ['a file that is shown or changed', 52_428_800, 'bytes']],
  glob: [['paths on a page', 100, 'items'], ['what is found', 20_000_000, 'bytes'], ['facts of the card', 65_536, 'bytes']],
  grep: [
    ['matches on a page unless head_limit says otherwise', 250, 'lines'], ['head_limit', 1_000, 'lines'], ['context around a match', 20, 'lines'],
    ['one line on a page', 2_000, 'bytes'], ['what is found', 20_000_000, 'bytes'], ['facts of the card', 65_536, 'bytes'],
  ],
  job_list: [['running jobs of a session', 10, 'items'], ['turns in a row that ends of jobs start', 3, 'items'], ['one label', 200, 'characters']],
  job_output: [['wait', 600_000, 'ms'], ['input', 64_000, 'bytes']],
  job_kill: [],
  subagent: [['description', 200, 'characters'], ['prompt', 262_144, 'bytes'], ['words on a failure', 4_096, 'bytes']],
  subagent_fork: [['description', 200, 'characters'], ['prompt', 262_144, 'bytes'], ['words on a failure', 4_096, 'bytes']],
  list_agents: [['stored agents that are read at once', 4, 'items']],
  send_message: [['message', 65_536, 'bytes']],
  interrupt_agent: [],
  run_code: [['computing', 60_000, 'ms'], ['a whole program', 600_000, 'ms'], ['memory', 536_870_912, 'bytes'], ['what it prints and returns', 4_194_304, 'bytes'], ['calls', 10_000, 'items']],
  workflow: [['script', 500_000, 'characters'], ['a text of meta, a label or a phase', 4_000, 'characters'], ['result text', 50_000, 'characters'], ['agents of one run', 1_000, 'items'], ['items of one parallel() or pipeline()', 4_096, 'items']],
  ralph: [['objective', 20_000, 'characters'], ['text', 16_384, 'characters'], ['report of a round', 16_384, 'characters'], ['rounds', 64, 'items']],
  todo_write: [['tasks', 200, 'items'], ['one task', 2_000, 'characters']],
  ask_user_question: [['questions', 50, 'items'], ['options of a question', 100, 'items'], ['one text', 10_000, 'characters']],
  spawn_teammate: [['teammates, failed ones too', 8, 'items'], ['name', 64, 'characters'], ['description', 200, 'characters']],
  followup_task: [['one message with its frame', 65_536, 'bytes'], ['messages that wait for one member', 64, 'items']],
  wait_agent: [['the shortest wait', 10_000, 'ms'], ['the longest wait', 3_600_000, 'ms']],
  team_task_create: [['tasks that are not deleted', 256, 'items'], ['subject', 200, 'characters'], ['description', 16_384, 'characters']],
  team_task_get: [],
  team_task_list: [['one page', 100, 'items']],
  team_task_update: [['subject', 200, 'characters'], ['description', 16_384, 'characters']],
  cordis_inspect_list: [],
  cordis_inspect_query: [],
  cordis_inspect_self: [['lines of a plugin', 30, 'lines']],
  cordis_define: [['the code of one half', 200_000, 'bytes'], ['facts of the card', 65_536, 'bytes']],
  cordis_run: [],
  cordis_stop: [],
  cordis_undefine: [],
  exit_plan_mode: [['plan', 60_000, 'characters']],
  create_goal: [['objective', 20_000, 'characters'], ['checks', 20, 'items'], ['one check', 4_000, 'characters'], ['time of one check', 600_000, 'ms'], ['what is kept of the output of one check', 4_000, 'bytes']],
  update_goal: [['objective', 20_000, 'characters'], ['blocked_reason', 4_000, 'characters'], ['the diff that goes with the last account', 6_000, 'bytes']],
  get_goal: [],
  // Ours: a body has no cap of its own, the file that holds it has.
  skill: [['the file of a skill', 1_048_576, 'bytes']],
  session_search: [['query', 1_000, 'characters'], ['sessions', 100, 'items'], ['one call', 30_000, 'ms']],
  session_event_search: [['query', 1_000, 'characters'], ['events', 100, 'items'], ['one call', 30_000, 'ms']],
  // Numbers of events, all of them: the tool itself cuts nothing.
  session_event_trace: [],
  session_trace: [['descendants', 500, 'items']],
  session_event_read: [['neighbours on either side', 50, 'items']],
  web_fetch: [
    ['address', 2_048, 'characters'], ['page after decompression', 5_000_000, 'bytes'], ['PDF', 20_000_000, 'bytes'], ['redirects within a site', 5, 'items'],
    ['text of the page in one call', 100_000, 'characters'], ['whole result', 200_000, 'characters'],
  ],
  web_search: [['queries', 4, 'items'], ['one query', 1_000, 'characters'], ['sources', 8, 'items']],
  schedule_create: [['the prompt', 4_000, 'characters'], ['a calendar rule', 300, 'characters'], ['active reminders of a session', 100, 'items']],
  schedule_list: [['active reminders of a session', 100, 'items']],
  schedule_delete: [],
  terminal_open: [terminal, ['terminals of a session', 8, 'items'], ['name', 80, 'characters']],
  terminal_send: [terminal, ['text', 100_000, 'characters'], ['wait', 30_000, 'ms']],
  terminal_read: [terminal, ['what is kept above the screen', 10_000, 'lines']],
  terminal_signal: [terminal],
  terminal_close: [terminal],
  terminal_list: [terminal],
  lsp: [
    ['places in an answer', 100, 'items'], ['actions in an answer', 50, 'items'], ['the answer', 16_000, 'characters'], ['the file that is asked about', 4_000_000, 'bytes'],
    ['files of one change', 500, 'items'], ['places of one change', 20_000, 'items'], ['time', 60_000, 'ms'],
  ],
}

/** What may overlap with others, the deadline that the pipeline holds it to, whether it can be told to go on in the background, and what policy takes a call for. */
const matrix: Readonly<Record<string, readonly [parallel: boolean, deadlineMs: number | null, background: boolean, effect: ToolEffect['kind']]>> = {
  bash: [false, null, true, 'shell'],
  pwsh: [false, null, true, 'shell'],
  'bash of the minimal preset': [false, null, false, 'shell'],
  read: [true, null, false, 'read'],
  read_image: [true, null, false, 'read'],
  write: [false, null, false, 'edit'],
  edit: [false, null, false, 'edit'],
  str_replace_editor: [false, null, false, 'edit'],
  // Ours: searches and questions to language services overlap.
  glob: [true, 30_000, false, 'read'],
  grep: [true, 30_000, false, 'read'],
  lsp: [true, 60_000, false, 'read'],
  job_list: [false, null, false, 'none'],
  job_output: [false, null, false, 'none'],
  job_kill: [false, null, false, 'none'],
  subagent: [true, null, true, 'none'],
  subagent_fork: [true, null, true, 'none'],
  list_agents: [false, null, false, 'none'],
  send_message: [false, null, false, 'none'],
  interrupt_agent: [false, null, false, 'none'],
  spawn_teammate: [false, null, false, 'script'],
  followup_task: [false, null, false, 'none'],
  wait_agent: [false, null, false, 'none'],
  team_task_create: [false, null, false, 'none'],
  team_task_get: [false, null, false, 'none'],
  team_task_list: [false, null, false, 'none'],
  team_task_update: [false, null, false, 'none'],
  skill: [false, null, false, 'none'],
  run_code: [false, null, false, 'none'],
  workflow: [false, null, true, 'script'],
  ralph: [false, null, false, 'script'],
  create_goal: [false, null, false, 'none'],
  get_goal: [false, null, false, 'none'],
  update_goal: [false, null, false, 'none'],
  session_search: [false, 30_000, false, 'none'],
  session_event_search: [false, 30_000, false, 'none'],
  session_trace: [true, null, false, 'none'],
  session_event_trace: [true, null, false, 'none'],
  session_event_read: [true, null, false, 'none'],
  cordis_inspect_list: [true, null, false, 'none'],
  cordis_inspect_query: [true, null, false, 'none'],
  cordis_inspect_self: [true, null, false, 'none'],
  // In a session it is a script, which the person reads before.
  cordis_define: [false, null, false, 'none'],
  // Likewise, of a package that is there.
  cordis_run: [false, null, false, 'none'],
  cordis_stop: [false, null, false, 'none'],
  cordis_undefine: [false, null, false, 'none'],
  web_search: [true, 60_000, false, 'network'],
  web_fetch: [true, 30_000, false, 'network'],
  schedule_create: [false, null, false, 'none'],
  schedule_list: [false, null, false, 'none'],
  schedule_delete: [false, null, false, 'none'],
  terminal_open: [false, null, false, 'shell'],
  // At a terminal that is not there; what is typed at one that is there is judged as what takes the keys.
  terminal_send: [false, null, true, 'none'],
  terminal_read: [false, null, false, 'none'],
  terminal_signal: [false, null, false, 'none'],
  terminal_close: [false, null, false, 'none'],
  terminal_list: [false, null, false, 'none'],
}

let application: WholeApplication
let minimal: ToolDefinition | undefined
beforeAll(async () => {
  application = await wholeApplication({
    settings: { 'dynamicPlugins.enabled': true, 'tools.web.fetchEnabled': true, 'tools.web.searchProvider': 'searxng', 'tools.web.providers': { searxng: { baseUrl: 'http://127.0.0.1:9' } } },
    alter: (world) => ({ ...world, languages: {} as Languages }),
  })
  const agent = await application.ctx.agents.create({ cwd: application.folder, preset: 'minimal' })
  minimal = application.ctx.tools.get('bash', agent.scope)
})
afterAll(() => application.dispose())

/** Also the shells that this machine does not register. */
function definitionOf(name: string): ToolDefinition | undefined {
  if (name.endsWith('of the minimal preset')) return minimal
  if (name !== 'pwsh') return application.ctx.tools.get(name, null)
  const needs = { processes: {} as ProcessRunner, files: {} as FileSystem, blobs: createMemoryBlobStore(), clock: createManualClock() }
  return createShellTool(pwshDialect, { ...needs, program: () => name, defaultTimeoutMs: () => 1, environment: plainEnvironment, jobs: application.ctx.jobs })
}

describe('the limits in the catalogue', () => {
  it.each(Object.entries(limits))('of %s', (name, rows) => {
    expect((definitionOf(name)?.limits ?? []).map(({ of, max, unit }) => [of, max, unit])).toEqual(rows)
  })

  it.each(Object.keys(limits))('of %s name the text that stays inline, unless it pages itself', (name) => {
    const inlineBytes = application.ctx.settings.get(settings.toolsMaxInlineBytes)
    expect(inlineCapOf(definitionOf(name)?.name ?? '', inlineBytes)).toBe(name === 'read' ? null : 50_000)
  })

  it('say nothing of a cap that the person turned off', () => expect(inlineCapOf('bash', 0)).toBeNull())
})

describe('the matrix of tools', () => {
  it.each(Object.entries(matrix))('%s', (name, row) => {
    const tool = definitionOf(name)
    const properties = (tool?.parameters['properties'] ?? {}) as object
    const args = sampleOf(tool)
    expect([tool?.isConcurrencySafe?.(args) === true, tool?.timeoutMs ?? null, 'run_in_background' in properties, application.ctx.permissions.effectOf(tool?.name ?? '', args, null).kind]).toEqual(row)
  })
})

/** The smallest arguments of a tool; of several kinds of call one that changes files, where there is one. */
function sampleOf(tool: ToolDefinition | undefined): JsonObject {
  const required = (tool?.parameters['required'] ?? []) as readonly string[]
  const properties = (tool?.parameters['properties'] ?? {}) as Readonly<Record<string, { readonly type?: string }>>
  const samples: Readonly<Record<string, Json>> = { string: 'x', number: 1, integer: 1, boolean: true, array: ['x'] }
  const full = Object.fromEntries(required.map((key) => [key, samples[properties[key]?.type ?? 'string'] ?? null]))
  return { ...full, ...('operation' in full && { operation: 'hover' }), ...('command' in full && tool?.name === 'str_replace_editor' && { command: 'create' }), ...('platform' in full && { platform: 'host' }), ...('url' in full && { url: 'https://a.example/' }) }
}

/*
 * Each code, the error it belongs to, and a suite in which a call of the family raises it. Ours: what the specification's fence closes
 * is denied by policy before any tool runs, so its code is DENIED, and FS_SANDBOX_DENIED where the call may ask for more.
 */
type Code = readonly [code: string, error: string, suite: string]
const spec = 'spec/capability-tools'
const codes: Readonly<Record<string, readonly Code[]>> = {
  'the pipeline': [
    ['INVALID_ARGS', 'ToolError', 'spec/core-runtime/05-pipeline'],
    ['UNKNOWN_TOOL', 'ToolError', 'spec/core-runtime/05-pipeline'],
    ['INVALID_TOOL_OUTPUT', 'ToolError', 'spec/core-runtime/05-pipeline'],
    ['ABORTED', 'ToolError', `${spec}/00-shared`],
    ['ABORTED_BEFORE_DISPATCH', 'ToolError', `${spec}/00-shared`],
    ['TOOL_TIMEOUT', 'ToolError', `${spec}/00-shared`],
    ['WORKSPACE_UNTRUSTED', 'ToolError', `${spec}/00-shared`],
    ['DENIED', 'ToolError', `${spec}/00-shared`],
    ['FS_SANDBOX_DENIED', 'ToolError', `${spec}/00-sandbox`],
    ...['NO_APPROVALS', 'NO_AGENT', 'NO_CHANNEL', 'REJECTED', 'CANCELLED'].map((end) => [`ESCALATION_${end}`, 'ToolError', `${spec}/00-sandbox`] as const),
  ],
  'files and images': [
    ['FS_NOT_FOUND', 'FileError', `${spec}/05-read`],
    ['FS_NOT_REGULAR_FILE', 'FileError', `${spec}/05-read`],
    ['FS_NOT_TEXT', 'FileError', `${spec}/05-read`],
    ['FS_TOO_LARGE', 'FileError', `${spec}/05-read`],
    ['FS_NOT_OBSERVED', 'FileError', `${spec}/04-observation`],
    ['FS_STALE_VERSION', 'FileError', `${spec}/04-observation`],
    ['FS_EDIT_NOT_FOUND', 'FileError', `${spec}/08-edit`],
    ['FS_AMBIGUOUS_EDIT', 'FileError', `${spec}/08-edit`],
    ['FS_IO_ERROR', 'FileError', `${spec}/07-write`],
    ['FS_ABORTED', 'FileError', 'contract/file-system.suite'],
    ['INVALID_IMAGE', 'ImageError', `${spec}/06-read-image`],
  ],
  'the shell and its jobs': [
    ['SANDBOX_UNAVAILABLE', 'SandboxError', `${spec}/00-sandbox`],
    ['BAD_WORKDIR', 'ShellError', 'unit/tools/shell/shell-tool'],
    ['BACKGROUND_UNAVAILABLE', 'ShellError', 'unit/tools/shell/shell-tool'],
    ['JOB_LIMIT', 'JobError', 'unit/tools/shell/shell-tool'],
    ['UNKNOWN_JOB', 'JobError', 'unit/tools/jobs/job-tools'],
    ['FOREIGN_JOB', 'JobError', 'unit/tools/jobs/job-tools'],
  ],
  searches: [
    ['SEARCH_INVALID_PATTERN', 'SearchError', `${spec}/11-grep`],
    ['SEARCH_FAILED', 'SearchError', `${spec}/11-grep`],
    ['SEARCH_RAW_OUTPUT_OVERFLOW', 'SearchError', 'unit/platform/node/ripgrep-search'],
    ['SEARCH_ABORTED', 'SearchError', `${spec}/11-grep`],
  ],
  'the web': [
    ['WEB_INVALID_URL', 'WebError', `${spec}/15-web-fetch`],
    ['WEB_BLOCKED_URL', 'WebError', `${spec}/15-web-fetch`],
    ['WEB_REDIRECT_BLOCKED', 'WebError', `${spec}/15-web-fetch`],
    ['WEB_FETCH_TOO_LARGE', 'WebError', `${spec}/15-web-fetch`],
    ['WEB_FETCH_TIMEOUT', 'WebError', `${spec}/15-web-fetch`],
    ['WEB_UNSUPPORTED_CONTENT_TYPE', 'WebError', `${spec}/15-web-fetch`],
    ['WEB_ABORTED', 'WebError', `${spec}/15-web-fetch`],
    ['WEB_PROVIDER_UNAVAILABLE', 'WebError', `${spec}/14-web-search`],
    ['WEB_PROVIDER_AMBIGUOUS', 'WebError', `${spec}/14-web-search`],
    ['WEB_PROVIDER_CONFIGURED_UNAVAILABLE', 'WebError', `${spec}/14-web-search`],
    ['WEB_PROVIDER_CREDENTIAL_MISSING', 'WebError', `${spec}/14-web-search`],
    ['WEB_PROVIDER_ERROR', 'WebError', `${spec}/14-web-search`],
  ],
  terminals: [
    ['NO_SESSION', 'TerminalSessionError', `${spec}/16-terminal`],
    ['FOREIGN_SESSION', 'TerminalSessionError', `${spec}/16-terminal`],
    ['NO_BACKEND', 'TerminalSessionError', `${spec}/16-terminal`],
    ['DUPLICATE_NAME', 'TerminalSessionError', `${spec}/16-terminal`],
    ['OWNER_NOT_LIVE', 'TerminalSessionError', `${spec}/16-terminal`],
    ['SEND_ACTIVE', 'TerminalSessionError', `${spec}/16-terminal`],
    ['SERVICE_DISPOSING', 'TerminalSessionError', `${spec}/16-terminal`],
  ],
  'language services': [
    ['LSP_WORKSPACE_REQUIRED', 'LanguageError', `${spec}/17-lsp`],
    ['LSP_UNAVAILABLE', 'LanguageError', `${spec}/17-lsp`],
    ['LSP_UNSUPPORTED_OPERATION', 'LanguageError', 'unit/platform/node/language-servers/protocol-languages'],
    ['LSP_MALFORMED_RESPONSE', 'LanguageError', 'unit/platform/node/language-servers/protocol-languages'],
    ['LSP_DISPOSED', 'LanguageError', 'unit/platform/node/language-servers/protocol-languages'],
  ],
  skills: [
    ['SKILL_INVALID_NAME', 'SkillError', `${spec}/13-skill`],
    ['SKILL_NOT_FOUND', 'SkillError', `${spec}/13-skill`],
    ['SKILL_NOT_ALLOWED', 'SkillError', `${spec}/13-skill`],
    ['WORKSPACE_UNTRUSTED', 'SkillError', `${spec}/13-skill`],
  ],
}

describe('the codes of errors', () => {
  const root = new URL('../../../', import.meta.url)
  const contract = readFile(new URL('docs/runtime-contract.md', root), 'utf8')

  it.each(Object.entries(codes))('of %s are in the contract of the runtime, and each is raised in a test', async (_family, rows) => {
    const known = new Map([...(await contract).matchAll(/^\| `(\w+Error)` \| (.+) \|$/gm)].map(([, error = '', list = '']) => [error, new Set([...list.matchAll(/`([^`]+)`/g)].map(([, code]) => code))]))
    const problems = await Promise.all(
      rows.map(async ([code, error, suite]) => {
        if (!known.get(error)?.has(code)) return [`${error} has no ${code}`]
        const text = await readFile(new URL(`test/${suite}${suite.endsWith('.suite') ? '' : '.test'}.ts`, root), 'utf8')
        return new RegExp(`\\b${code}\\b`).test(text) ? [] : [`${suite} says nothing of ${code}`]
      }),
    )
    expect(problems.flat()).toEqual([])
  })
})
