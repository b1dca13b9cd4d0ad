import { parseArgs } from 'node:util'
import { messageOf } from './base/message-of.ts'
import { wireApis, type WireApi } from './core/model/provider-config.ts'

export type PermissionAnswer = 'allow' | 'deny'

const sandboxUses = ['auto', 'off', 'require'] as const
export type SandboxUse = (typeof sandboxUses)[number]

interface Common {
  readonly cwd: string
  readonly preset: string | undefined
  readonly permissions: PermissionAnswer | undefined
  /** What confines the commands of this run; absent: what the settings say. */
  readonly sandbox: SandboxUse | undefined
  readonly storage: string | undefined
}
export interface RunCommand extends Common {
  readonly command: 'run'
  readonly baseUrl: string | undefined
  /** The protocol at the base URL; without one, that of the protocol's maker. */
  readonly api: WireApi | undefined
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly apiKeyEnv: string | undefined
  readonly resume: string | undefined
  /** Null with `--resume` alone: the turn goes on without new words. */
  readonly prompt: { readonly text: string } | { readonly file: string } | null
  readonly maxSteps: number | undefined
}
export interface ToolCommand extends Common {
  readonly command: 'tool' | 'tools'
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
}
export interface ExportCommand {
  readonly command: 'export'
  readonly sessionId: string
  readonly storage: string | undefined
  readonly out: string
  readonly form: 'zip' | 'markdown'
  readonly isRedacted: boolean
}
export interface ImportCommand {
  readonly command: 'import'
  readonly file: string
  readonly cwd: string
  readonly storage: string | undefined
}
export type HeadlessCommand =
  | RunCommand
  | ToolCommand
  | { readonly command: 'catalogue' }
  | { readonly command: 'replay'; readonly log: string }
  | ExportCommand
  | ImportCommand
  | { readonly command: 'help'; /** Else nothing was said at all. */ readonly isAsked: boolean }

/** The arguments say something that cannot be done; the message says what can. Ends the program with 2. */
export class UsageError extends Error {}

export const USAGE = `Usage:
  headless run --cwd DIR (--base-url URL [--api A] | --api A | --provider ID) --model M [--api-key-env VAR] [--preset P]
               [--permissions allow|deny] [--sandbox auto|off|require] [--storage DIR] [--resume ID] [--max-steps N]
               (--prompt TEXT | --prompt-file FILE)
               A is openai-compatible (when left out), anthropic, openai-responses or google;
               without --base-url the last three are asked at their makers'.
  headless tool NAME JSON --cwd DIR [--preset P] [--permissions allow|deny] [--sandbox auto|off|require] [--storage DIR]
  headless tools JSON --cwd DIR [--preset P] [--permissions allow|deny] [--sandbox auto|off|require] [--storage DIR]
  headless catalogue
  headless replay LOG
  headless export ID --out FILE [--storage DIR] [--form zip|markdown] [--secrets keep|mask]
  headless import FILE --cwd DIR [--storage DIR]
`

/**
 * The command a command line means.
 *
 * Errors: `UsageError` for an unknown command or flag, a missing or bad value.
 * Source: the doors of the design, section 4.
 */
export function parseHeadlessArguments(argv: readonly string[], workingFolder: string): HeadlessCommand {
  const [command, ...rest] = argv
  switch (command) {
    case 'run':
      return parseRun(rest, workingFolder)
    case 'tool':
    case 'tools':
      return parseTool(command, rest, workingFolder)
    case 'catalogue':
      parse(rest, {}, 0)
      return { command }
    case 'replay': {
      const { positionals } = parse(rest, {}, 1)
      return { command, log: required(positionals[0], 'replay needs the path of a log.') }
    }
    case 'export':
      return parseExport(rest)
    case 'import': {
      const { values, positionals } = parse(rest, { cwd: 'string', storage: 'string' }, 1)
      const file = required(positionals[0], 'import needs the path of an exported session or of an events.jsonl.')
      return { command, file, cwd: values.cwd ?? workingFolder, storage: values.storage }
    }
    case undefined:
    case 'help':
    case '--help':
    case '-h':
      return { command: 'help', isAsked: command !== undefined }
    default:
      throw new UsageError(`Unknown command ${JSON.stringify(command)}. Use run, tool, tools, catalogue, replay, export or import.`)
  }
}

const COMMON = { cwd: 'string', preset: 'string', permissions: 'string', sandbox: 'string', storage: 'string' } as const
const RUN = {
  ...COMMON,
  'base-url': 'string',
  api: 'string',
  provider: 'string',
  model: 'string',
  'api-key-env': 'string',
  resume: 'string',
  prompt: 'string',
  'prompt-file': 'string',
  'max-steps': 'string',
} as const

function parseRun(rest: readonly string[], workingFolder: string): RunCommand {
  const { values } = parse(rest, RUN, 0)
  const { prompt, resume, provider, model } = values
  const file = values['prompt-file']
  if (prompt !== undefined && file !== undefined) throw new UsageError('Give --prompt or --prompt-file, not both.')
  if (prompt === undefined && file === undefined && resume === undefined) throw new UsageError('run needs --prompt TEXT or --prompt-file FILE.')
  const baseUrl = values['base-url']
  if (baseUrl !== undefined && !URL.canParse(baseUrl)) throw new UsageError(`--base-url ${JSON.stringify(baseUrl)} is not an address such as http://127.0.0.1:11434/v1.`)
  const api = apiOf(values.api)
  const isAtMaker = api !== undefined && api !== 'openai-compatible'
  if (baseUrl === undefined && provider === undefined && !isAtMaker) throw new UsageError('run needs --base-url URL, or --provider ID of a configured provider.')
  if (baseUrl !== undefined && provider !== undefined) throw new UsageError('Give --base-url or --provider, not both.')
  if (api !== undefined && provider !== undefined) throw new UsageError('Give --api or --provider, not both: a configured provider has its protocol.')
  if (provider === undefined && model === undefined) throw new UsageError('run needs --model M, the name of a model that the server knows.')
  const maxSteps = values['max-steps']
  if (maxSteps !== undefined && !/^\d{1,9}$/.test(maxSteps)) throw new UsageError('--max-steps is a whole number; 0 means no cap.')
  return {
    command: 'run',
    ...commonOf(values, workingFolder),
    baseUrl,
    api,
    provider,
    model,
    apiKeyEnv: values['api-key-env'],
    resume,
    prompt: prompt !== undefined ? { text: prompt } : file !== undefined ? { file } : null,
    maxSteps: maxSteps === undefined ? undefined : Number(maxSteps),
  }
}

function apiOf(text: string | undefined): WireApi | undefined {
  const api = wireApis.find((api) => api === text)
  if (text !== undefined && api === undefined) throw new UsageError(`--api is ${wireApis.slice(0, -1).join(', ')} or ${wireApis.at(-1)}, not ${JSON.stringify(text)}.`)
  return api
}

function parseTool(command: 'tool' | 'tools', rest: readonly string[], workingFolder: string): ToolCommand {
  const { values, positionals } = parse(rest, COMMON, command === 'tool' ? 2 : 1)
  const common = commonOf(values, workingFolder)
  if (command === 'tool') {
    const name = required(positionals[0], 'tool needs the name of a tool and its arguments as JSON.')
    // Bad JSON is the tool's to refuse: it must travel the pipeline like a model's own mistake.
    return { command, ...common, calls: [{ name, arguments: positionals[1] ?? '{}' }] }
  }
  return { command, ...common, calls: callsOf(required(positionals[0], 'tools needs a JSON list of {name, arguments}.')) }
}

function parseExport(rest: readonly string[]): ExportCommand {
  const { values, positionals } = parse(rest, { out: 'string', storage: 'string', form: 'string', secrets: 'string' }, 1)
  const { out, storage, form = 'zip', secrets = 'keep' } = values
  if (form !== 'zip' && form !== 'markdown') throw new UsageError(`--form is zip or markdown, not ${JSON.stringify(form)}.`)
  if (secrets !== 'keep' && secrets !== 'mask') throw new UsageError(`--secrets is keep or mask, not ${JSON.stringify(secrets)}.`)
  const sessionId = required(positionals[0], 'export needs the id of a session.')
  return { command: 'export', sessionId, storage, out: required(out, 'export needs --out FILE.'), form, isRedacted: secrets === 'mask' }
}

function callsOf(text: string): ToolCommand['calls'] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`The list of calls is not JSON: ${messageOf(error)}`, { cause: error })
  }
  if (!Array.isArray(list)) throw new UsageError('tools takes a JSON list of {name, arguments}.')
  return list.map((entry: unknown, index) => {
    const { name, arguments: args } = (entry ?? {}) as { readonly name?: unknown; readonly arguments?: unknown }
    if (typeof name !== 'string') throw new UsageError(`Call ${index + 1} of the list has no name.`)
    return { name, arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) }
  })
}

function commonOf(values: { readonly [Name in keyof typeof COMMON]?: string }, workingFolder: string): Common {
  const { cwd = workingFolder, preset, permissions, storage } = values
  const sandbox = sandboxUses.find((use) => use === values.sandbox)
  if (values.sandbox !== undefined && sandbox === undefined) throw new UsageError(`--sandbox is ${sandboxUses.join(', ')}, not ${JSON.stringify(values.sandbox)}.`)
  if (permissions !== undefined && permissions !== 'allow' && permissions !== 'deny') {
    throw new UsageError(`--permissions is allow or deny, not ${JSON.stringify(permissions)}.`)
  }
  return { cwd, preset, permissions, sandbox, storage }
}

type Values<Flags> = { readonly [Name in keyof Flags]?: string }

function parse<const Flags extends Readonly<Record<string, 'string'>>>(
  args: readonly string[],
  flags: Flags,
  maxPositionals: number,
): { readonly values: Values<Flags>; readonly positionals: readonly string[] } {
  const options = Object.fromEntries(Object.entries(flags).map(([name, type]) => [name, { type }]))
  let parsed
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: maxPositionals > 0, strict: true })
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error })
  }
  if (parsed.positionals.length > maxPositionals) {
    throw new UsageError(`Unexpected argument ${JSON.stringify(parsed.positionals[maxPositionals])}.`)
  }
  return { values: parsed.values, positionals: parsed.positionals }
}

function required(value: string | undefined, message: string): string {
  if (value === undefined) throw new UsageError(message)
  return value
}
