import type { Json, JsonObject } from '../../base/json.ts'
import type { ScopeKey } from '../kernel/plugin.ts'
import type { Execution, PlannedChange } from '../tools/definition.ts'

/** What a call would do to the world, as far as its arguments say. */
export type ToolEffect =
  /** Nothing outside the session. */
  | { readonly kind: 'none' }
  | { readonly kind: 'read'; readonly paths: readonly string[] }
  | EditEffect
  | { readonly kind: 'shell'; readonly shell: 'bash' | 'pwsh'; readonly command: string; readonly workdir: string | null; /** It runs in the sandbox where there is one. */ readonly isConfined?: true }
  | NetworkEffect
  | ScriptEffect
  | UnknownEffect

/** Nobody knows: tools of others. */
export interface UnknownEffect {
  readonly kind: 'unknown'
  /** Whose it is, for people: the id of another extension. */
  readonly from?: string
  /** Whose it is says that it changes nothing. That is their word: the person is told it, and asked all the same. */
  readonly isSaidToRead?: true
}

/** Changes files. */
export interface EditEffect {
  readonly kind: 'edit'
  /** As far as the arguments say. */
  readonly paths: readonly string[]
  readonly plan?: PlanEdit
}

/**
 * Works out which files a call would change and how, where its arguments alone do not say, such as for a rename. Asked before policy
 * decides, and never in a session that may only read; the same call always gets the same plan.
 * Errors: whatever keeps it from being worked out is the call's failure.
 */
export type PlanEdit = (exec: Execution) => Promise<PlannedEdit>

/** The changes of one call, before anybody made them. */
export interface PlannedEdit {
  /** For the person, as Markdown: "Rename `a → b` in 10 files". */
  readonly words: string
  readonly changes: readonly PlannedChange[]
}

/** Reads what stands at hosts of the network, and changes nothing here. */
export interface NetworkEffect {
  readonly kind: 'network'
  /** In small letters. */
  readonly hosts: readonly string[]
  /** What the hosts get to see; no secret may be in it. */
  readonly sent: readonly string[]
  /** For the person, as Markdown: "Read `https://…`". */
  readonly words: string
  /** Why nobody has to be asked, such as that the person chose these hosts in the settings; null: a rule has to allow it, or the person. */
  readonly settled: string | null
  /** The host is this machine with a port, whose servers were not made for others: only a rule that names it opens it, the person, or full access, where the shell reaches it too. */
  readonly isOwnMachine?: boolean
}

/** Runs a script of the model that can act through other calls alone, each judged by itself; the person reads it before its first run. */
export interface ScriptEffect {
  readonly kind: 'script'
  /** For the person, as Markdown: "Run the workflow `review`". */
  readonly words: string
  readonly why: string
  /** What a yes lets happen from then on, in words; not so where a rule wants to be asked each time. */
  readonly covers?: string
  /** The person has let it run in this session, or it is one of ours. */
  readonly isKnown: boolean
  /** Why it needs no question then, where it is another reason. */
  readonly settled?: string
  /** What would run, against what the person let run last: shown with the question. */
  readonly changes?: readonly PlannedChange[]
  /** It outlives the call, so the person is asked in every mode, and only a rule about its subject stands for an answer. */
  readonly isAlwaysAsked?: true
  /** "Always" means this alone, such as one plugin in all its versions, until the session ends; a word, and what it is for people. `tool`: whose rules speak of it, where that is another one. */
  readonly subject?: { readonly word: string; readonly words: string; readonly tool?: string }
  readonly plan?: PlanScript
}

/**
 * Looks at a script before anybody is asked about it, and says what to ask. Not asked where a rule denies the call; the same call always gets
 * the same plan.
 * Errors: whatever is wrong with the script is the call's failure, and nobody is asked.
 */
export type PlanScript = (exec: Execution) => Promise<Omit<ScriptEffect, 'plan'>>

/** `scope`: the layer of the agent that calls; null where that is not known. */
export type DescribeEffect = (args: JsonObject, scope: ScopeKey | null) => ToolEffect

/** The operations of `lsp` that change files. */
const editsByServices: ReadonlySet<string> = new Set(['rename', 'applyCodeAction'])

/** The effects of Bosun's own tools; whoever adds a tool may add its effect with `permissions.declare`. */
export const ownEffects: ReadonlyMap<string, DescribeEffect> = new Map<string, DescribeEffect>([
  ['read', (args) => ({ kind: 'read', paths: [text(args, 'file_path')] })],
  ['read_image', (args) => ({ kind: 'read', paths: [text(args, 'file_path')] })],
  ['str_replace_editor', (args) => ({ kind: text(args, 'command') === 'view' ? 'read' : 'edit', paths: [text(args, 'path')] })],
  ['lsp', (args) => ({ kind: editsByServices.has(text(args, 'operation')) ? 'edit' : 'read', paths: [text(args, 'file_path')] })],
  ['glob', (args) => ({ kind: 'read', paths: [text(args, 'path', '.')] })],
  ['grep', (args) => ({ kind: 'read', paths: [text(args, 'path', '.')] })],
  ['write', (args) => ({ kind: 'edit', paths: [text(args, 'file_path')] })],
  ['edit', (args) => ({ kind: 'edit', paths: [text(args, 'file_path')] })],
  ['bash', (args) => shell('bash', args)],
  ['pwsh', (args) => shell('pwsh', args)],
  // What a program does with a line that is typed to it, nobody can judge.
  ['job_output', (args) => ({ kind: Object.hasOwn(args, 'input') ? 'unknown' : 'none' })],
  ...['todo_write', 'ask_user_question', 'exit_plan_mode', 'create_goal', 'get_goal', 'update_goal', 'job_list', 'job_kill', 'run_code', 'skill'].map((name) => [name, () => ({ kind: 'none' as const })] as const),
  ...['schedule_create', 'schedule_list', 'schedule_delete'].map((name) => [name, () => ({ kind: 'none' as const })] as const),
  // What an agent that is started does is judged by itself.
  ...['subagent', 'subagent_fork', 'list_agents', 'send_message', 'interrupt_agent', 'followup_task', 'wait_agent'].map((name) => [name, () => ({ kind: 'none' as const })] as const),
  ...['team_task_create', 'team_task_get', 'team_task_list', 'team_task_update'].map((name) => [name, () => ({ kind: 'none' as const })] as const),
  ...['cordis_inspect_list', 'cordis_inspect_query', 'cordis_inspect_self', 'cordis_stop', 'cordis_undefine'].map((name) => [name, () => ({ kind: 'none' as const })] as const),
  ...['session_search', 'session_event_search', 'session_trace', 'session_event_trace', 'session_event_read'].map((name) => [name, () => ({ kind: 'none' as const })] as const),
])

/** One of Bosun's own tools that changes nothing outside the session, whatever its arguments. */
export const isHarmless = (name: string): boolean => ['none', 'read'].includes(ownEffects.get(name)?.({}, null).kind ?? 'unknown')

/** Arguments that are no object say nothing, so the call is judged as unknown. */
export function effectOf(describe: DescribeEffect | undefined, args: Json, scope: ScopeKey | null = null): ToolEffect {
  const isObject = typeof args === 'object' && args !== null && !Array.isArray(args)
  // The check above leaves objects; the type system cannot tell them from read-only arrays.
  return describe === undefined || !isObject ? { kind: 'unknown' } : describe(args as JsonObject, scope)
}

function shell(shell: 'bash' | 'pwsh', args: JsonObject): ToolEffect {
  const workdir = text(args, 'workdir', '')
  return { kind: 'shell', shell, command: text(args, 'command'), workdir: workdir === '' ? null : workdir, isConfined: true }
}

function text(args: JsonObject, name: string, fallback = ''): string {
  const value = Object.hasOwn(args, name) ? args[name] : undefined
  return typeof value === 'string' ? value : fallback
}
