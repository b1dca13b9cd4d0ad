import * as z from 'zod'
import { isNear } from '../../base/is-near.ts'
import type { Json } from '../../base/json.ts'
import { issueWords } from '../../base/issue-words.ts'
import { messageOf } from '../../base/message-of.ts'
import { clipped } from '../../base/text.ts'
import type { McpClient } from '../../capabilities/mcp.ts'

const text = z.string().trim().min(1)
const words = z.record(z.string().regex(/^[^\0=]+$/), z.union([z.string(), z.number(), z.boolean()]).transform(String))

export const reconnectSchema = z.object({
  enabled: z.boolean().default(true),
  initialMs: z.int().min(10).default(500),
  maxMs: z.int().min(10).default(30_000),
  attempts: z.int().min(1).default(10),
})

/** One entry below `mcp.servers`, or `servers` of a file. Source: runtime specification 21; the shape of the editor's own `mcp.json`. */
const entryShape = {
  type: z.enum(['stdio', 'http', 'streamable-http', 'sse'], 'it is stdio, http, streamable-http or sse').optional(),
  command: text.optional(),
  // One issue, however many of them are none.
  args: z.custom<readonly string[]>((value) => Array.isArray(value) && value.every((arg) => typeof arg === 'string'), 'it is a list of texts').default([]),
  env: words.default({}),
  envFile: text.optional(),
  cwd: text.optional(),
  url: text.optional(),
  headers: words.default({}),
  oauth: z.object({ clientId: text, clientSecret: text.optional(), callbackPort: z.int().min(1_024).max(65_535).optional() }).optional(),
  toolCallTimeoutMs: z.int().min(100).optional(),
  reconnect: reconnectSchema.prefault({}),
  failOnStartupError: z.boolean().default(false),
  disabled: z.boolean().default(false),
}

const entrySchema = z
  .object(entryShape)
  .refine(({ command, url }) => command !== undefined || url !== undefined, { message: 'it has neither a "command" nor a "url"; give it one of them' })
  .refine(({ command, url }) => command === undefined || url === undefined, { message: 'it has a "command" and a "url"; keep one of them' })
  .refine(({ type, command }) => type === undefined || (type === 'stdio') === (command !== undefined), { message: 'its type does not fit: stdio has a command, http and sse have a url' })

/** Of a list to pick from. */
const MAX_OPTIONS = 200
const choiceSchema = z.union([z.string().transform((value) => ({ label: value, value })), z.object({ label: z.string(), value: z.string() })])
const common = { id: z.string().regex(/^[\w.-]{1,64}$/, 'its id has 1 to 64 letters, digits, _, . and -'), description: z.string().default('') }
/** Source: the inputs of the editor's own `mcp.json`. */
const inputSchema = z.discriminatedUnion('type', [
  z.object({ ...common, type: z.literal('promptString'), password: z.boolean().default(false), default: z.string().optional() }),
  z.object({ ...common, type: z.literal('pickString'), options: z.array(choiceSchema).min(1).max(MAX_OPTIONS), default: z.string().optional() }),
  z.object({ ...common, type: z.literal('command'), command: text, args: z.json().optional() }),
])
const withType = (raw: unknown): unknown => (raw !== null && typeof raw === 'object' && !('type' in raw) ? { ...raw, type: 'promptString' } : raw)

/** What stands in the place of `${input:id}`. */
export interface McpInput {
  readonly id: string
  readonly description: string
  readonly isSecret: boolean
  readonly fallback: string | null
  /** One of these is picked; absent: it is typed. */
  readonly options?: readonly { readonly label: string; readonly value: string }[]
  /** The editor runs this command, and its result is the value. */
  readonly command?: { readonly name: string; readonly args?: Json }
}

/** One configured server, variables still in it. */
export interface McpServerConfig {
  /** As it is configured; of a server that was found, as its tools bear it. */
  readonly name: string
  readonly target:
    | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>>; readonly envFile?: string; readonly cwd: string | null }
    | { readonly kind: 'http' | 'sse'; readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly client?: McpClient }
  /** Null: the setting. */
  readonly toolCallTimeoutMs: number | null
  readonly reconnect: z.infer<typeof reconnectSchema>
  /** A turn does not begin without it. */
  readonly isNeeded: boolean
  readonly isDisabled: boolean
}

/** An entry that cannot be used, and why. */
export interface SkippedServer {
  /** The file, or the setting. */
  readonly source: string
  /** Null for a setting; lines from 1. */
  readonly file: { readonly path: string; readonly line: number } | null
  readonly name: string
  readonly reason: string
}

export interface ParsedServers {
  readonly servers: readonly McpServerConfig[]
  readonly inputs: readonly McpInput[]
  readonly skipped: readonly Omit<SkippedServer, 'source' | 'file'>[]
}

/** Of one place, and as many entries that cannot be used are told. */
export const MAX_SERVERS = 100
/** UTF-16 units of a name in a message. */
const MAX_SHOWN_NAME = 60

/** UTF-16 units of the name that a server has where it is configured. */
const MAX_NAME = 200
/** Why a server cannot be called so, with what to do; null when it can. What tools cannot have in their names is made safe for those. */
export const nameProblem = (name: string): string | null => (name.trim() === '' || name.length > MAX_NAME ? `A name has 1 to ${MAX_NAME} characters. Rename it.` : null)

/** Read servers entry by entry: a bad one spoils no good one. Errors: none. */
export function parseServers(raw: unknown): ParsedServers {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) return { servers: [], inputs: [], skipped: [{ name: '', reason: 'It is an object of servers by name: {"files": {"command": "…"}}.' }] }
  const servers: McpServerConfig[] = []
  const skipped: Omit<SkippedServer, 'source' | 'file'>[] = []
  const entries = Object.entries(raw)
  for (const [index, [name, value]] of entries.entries()) {
    if (servers.length >= MAX_SERVERS || skipped.length >= MAX_SERVERS) {
      skipped.push({ name: '', reason: `It has more than ${MAX_SERVERS} ${servers.length >= MAX_SERVERS ? 'servers' : 'entries that cannot be used'}, so the last ${entries.length - index} of its entries are not read. Remove some.` })
      break
    }
    const problem = nameProblem(name)
    if (problem !== null) {
      skipped.push({ name: clipped(name, MAX_SHOWN_NAME), reason: problem })
      continue
    }
    const misspelt = misspeltKey(value)
    if (misspelt !== null) {
      skipped.push({ name, reason: misspelt })
      continue
    }
    const outcome = entrySchema.safeParse(value)
    if (outcome.success) servers.push(configOf(name, outcome.data))
    else skipped.push({ name, reason: issueWords(outcome.error.issues) })
  }
  return { servers, inputs: [], skipped }
}

/** Keys of other programs are let be; one that is nearly a key of ours would be a wish that nobody heard. */
function misspeltKey(entry: unknown): string | null {
  if (entry === null || typeof entry !== 'object') return null
  for (const key of Object.keys(entry)) {
    if (Object.hasOwn(entryShape, key)) continue
    const meant = Object.keys(entryShape).find((known) => !Object.hasOwn(entry, known) && isNear(known.toLowerCase(), key.toLowerCase()))
    if (meant !== undefined) return `it has "${clipped(key, MAX_SHOWN_NAME)}"; did you mean "${meant}"?`
  }
  return null
}

/** A file: `servers`, or `mcpServers` as others call it, and `inputs`. Errors: none. */
export function parseServerFile(content: string): ParsedServers {
  let raw: unknown
  try {
    raw = JSON.parse(withoutComments(content))
  } catch (error) {
    return { servers: [], inputs: [], skipped: [{ name: '', reason: `It is not JSON: ${messageOf(error)}` }] }
  }
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) return parseServers(null)
  const file: { servers?: unknown; mcpServers?: unknown; inputs?: unknown } = raw
  const parsed = parseServers(file.servers ?? file.mcpServers ?? {})
  const { inputs, problems } = parseInputs(file.inputs ?? [])
  return { ...parsed, inputs, skipped: [...parsed.skipped, ...problems.map((reason) => ({ name: '', reason }))] }
}

/** A bad one spoils no good one, here too. */
function parseInputs(raw: unknown): { readonly inputs: readonly McpInput[]; readonly problems: readonly string[] } {
  if (!Array.isArray(raw)) return { inputs: [], problems: ['inputs: it is a list: [{"id": "token", "type": "promptString"}].'] }
  const inputs: McpInput[] = []
  const problems: string[] = []
  for (const [index, value] of (raw as readonly unknown[]).entries()) {
    if (problems.length >= MAX_SERVERS) break
    const outcome = inputSchema.safeParse(withType(value))
    if (outcome.success) inputs.push(inputOf(outcome.data))
    else problems.push(`inputs, the ${index + 1}.: ${issueWords(outcome.error.issues)}`)
  }
  return { inputs, problems }
}

function inputOf(input: z.infer<typeof inputSchema>): McpInput {
  const { id, description } = input
  if (input.type === 'command') return { id, description, isSecret: true, fallback: null, command: { name: input.command, ...(input.args !== undefined && { args: input.args }) } }
  return { id, description, isSecret: input.type === 'promptString' && input.password, fallback: input.default ?? null, ...(input.type === 'pickString' && { options: input.options }) }
}

function configOf(name: string, { type, command, args, env, envFile, cwd, url, headers, oauth, toolCallTimeoutMs, reconnect, failOnStartupError, disabled }: z.infer<typeof entrySchema>): McpServerConfig {
  return {
    name,
    target: command !== undefined ? { kind: 'stdio', command, args, env, cwd: cwd ?? null, ...(envFile !== undefined && { envFile }) } : { kind: type === 'sse' ? 'sse' : 'http', url: url ?? '', headers, ...(oauth && { client: clientOf(oauth) }) },
    toolCallTimeoutMs: toolCallTimeoutMs ?? null,
    reconnect,
    isNeeded: failOnStartupError,
    isDisabled: disabled,
  }
}

const clientOf = ({ clientId, clientSecret, callbackPort }: NonNullable<z.infer<typeof entrySchema>['oauth']>): McpClient => ({
  id: clientId,
  ...(clientSecret !== undefined && { secret: clientSecret }),
  ...(callbackPort !== undefined && { callbackPort }),
})

const isOpenComment = (whole: string): boolean => whole.startsWith('/*') && (whole.length < 4 || !whole.endsWith('*/'))

/**
 * JSON as editors let people write it: comments and commas at the end are left out, strings stay as they are. What is opened and never
 * closed is taken to its end too, or each such beginning would be looked through to the end of the file.
 */
function withoutComments(text: string): string {
  return text
    .replaceAll(/("(?:[^"\\\n]|\\.)*"?)|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (whole, string: string | undefined) => string ?? (isOpenComment(whole) ? whole : ' '))
    .replaceAll(/("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[}\]])/g, (_whole, string: string | undefined) => string ?? '')
}
