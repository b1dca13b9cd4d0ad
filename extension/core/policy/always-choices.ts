import type { JsonObject } from '../../base/json.ts'
import type { ApprovalDetails } from '../tools/definition.ts'
import type { PermissionRuleSetting } from '../settings/specs.ts'
import { commandRuleText, formatMatch, type CommandRule, type RuleScope } from './rules.ts'
import { gitRemotesAt, hostsOf, isPlainFetch } from './shell/hosts.ts'
import type { ShellCommand } from './shell/shell-parts.ts'

type Always = NonNullable<ApprovalDetails['always']>

/** More commands than this in one script, and "always" would promise more than a person can oversee. */
const MAX_COMMANDS = 3

/** What "Always allow…" may mean for commands of a shell; nothing when no rule could speak of them. */
export function alwaysForCommands(tool: string, commands: readonly ShellCommand[], folder: string | null): Always {
  const rules = commands.map(ruleFor)
  if (commands.length === 0 || commands.length > MAX_COMMANDS || rules.some((rule) => rule === null)) return []
  const known = rules.filter((rule) => rule !== null)
  // A label has backticks around each command, so that one with its own would read as another.
  if (known.some(({ words }) => words.some((word) => /[`\n]/.test(word)))) return []
  const text = [...new Set(known.map((rule) => `\`${commandRuleText(rule)}\``))].join(' and ')
  return scoped(text, known.map((rule) => ({ tool, match: formatMatch(rule), decision: 'allow' })), folder)
}

/** For commands that only get what stands at an address: those hosts. */
export function alwaysForHosts(tool: string, commands: readonly ShellCommand[], folder: string | null): Always {
  const hosts = [...new Set(commands.flatMap(hostsOf))]
  if (hosts.length === 0 || hosts.length > MAX_COMMANDS || !commands.every((command) => isPlainFetch(command) && hostsOf(command).length > 0)) return []
  return scoped(`reading from ${hosts.map((host) => `\`${host}\``).join(' and ')}`, hosts.map((host) => ({ tool, host, decision: 'allow' })), folder)
}

/** For pages of hosts. */
export function alwaysForPages(tool: string, hosts: readonly string[], folder: string | null): Always {
  return scoped(`reading pages of ${hosts.map((host) => `\`${host}\``).join(' and ')}`, hosts.map((host) => ({ tool, host, decision: 'allow' })), folder)
}

/** UTF-16 units of the longest text that a label repeats. */
const MAX_SHOWN = 100

/** UTF-16 units of the longest line that "always" repeats. */
const MAX_LINE = 1_000

/** For a line whose parts no rule could speak of: the very same line again. */
export function alwaysForLine(tool: string, command: string, folder: string | null): Always {
  return command.length > MAX_LINE ? [] : alwaysForText(tool, command, folder)
}

/** For a command that cannot be taken apart: the very same text again. */
export function alwaysForText(tool: string, command: string, folder: string | null): Always {
  const rule: CommandRule = { words: [command], isPrefix: false }
  // A part of it would promise more than the rule gives.
  return scoped(command.length <= MAX_SHOWN && !/[`\n]/.test(command) ? `\`${command}\`` : 'exactly this command', [{ tool, match: formatMatch(rule), decision: 'allow' }], folder)
}

/** For changes to a file: the workspace until the session ends, or its folder from now on. `relativePath` from the workspace's folder, forward slashes. */
export function alwaysForEdit(tools: readonly string[], relativePath: string, folder: string): Always {
  const parent = relativePath.includes('/') ? relativePath.slice(0, relativePath.lastIndexOf('/')) : null
  const rules = (path: string): readonly PermissionRuleSetting[] => tools.map((tool) => ({ tool, path, folder, decision: 'allow' }))
  return [
    offer('Allow changing files in this workspace until the session ends', 'session', rules('**')),
    ...(parent === null ? [] : [offer(`Always allow changing files in \`${parent}/\` of this workspace`, 'workspace', rules(`${parent}/**`))]),
    offer('Always allow changing files in this workspace', 'workspace', rules('**')),
  ]
}

/** For reading beyond the workspace. */
export function alwaysForRead(tools: readonly string[], parent: string): Always {
  const rules = tools.map((tool) => ({ tool, path: `${parent.replace(/\/$/, '')}/**`, decision: 'allow' as const }))
  return [offer(`Allow reading in \`${parent}\` until the session ends`, 'session', rules), offer(`Always allow reading in \`${parent}\``, 'always', rules)]
}

/** For a tool nobody knows the effect of. */
export const alwaysForTool = (tool: string, folder: string | null): Always => scoped(`\`${tool}\``, [{ tool, decision: 'allow' }], folder)

/** For one thing that a tool acts on, by its name, until the session ends. */
export const alwaysForSubject = (tool: string, { word, words }: { readonly word: string; readonly words: string }): Always => [
  offer(`Allow ${words} until the session ends`, 'session', [{ tool, match: formatMatch({ words: [word], isPrefix: false }), decision: 'allow' }]),
]

function scoped(text: string, rules: readonly PermissionRuleSetting[], folder: string | null): Always {
  return [
    offer(`Allow ${text} until the session ends`, 'session', rules),
    ...(folder === null ? [] : [offer(`Always allow ${text} in this workspace`, 'workspace', rules.map((rule) => ({ ...rule, folder })))]),
    offer(`Always allow ${text}`, 'always', rules),
  ]
}

function offer(label: string, scope: RuleScope, rules: readonly PermissionRuleSetting[]): Always[number] {
  // Rules are plain data; the assertion drops the optional fields' `undefined`, which never stands there.
  return { label, rule: { scope, rules } as unknown as JsonObject }
}

/** The broadest rule that is still safe to offer for one command: its subcommand with anything after it, or the very words. */
function ruleFor({ words }: ShellCommand): CommandRule | null {
  const texts = words.map(({ text, isPattern }) => (isPattern ? null : text))
  const known = texts.filter((text) => text !== null)
  const isWhole = known.length === texts.length
  const exact = isWhole && known.length > 0 ? { words: known, isPrefix: false } : null
  const remotes = isWhole ? gitRemotesAt(known) : null
  if (remotes !== null) {
    const [remote] = remotes
    // Branches may be others; where they go and come from may not.
    return remote !== undefined && /^(fetch|pull|push)$/.test(known[1] ?? '') ? { words: known.slice(0, remote + 1), isPrefix: true } : exact
  }
  const depth = broadDepth(texts)
  return depth === null ? exact : { words: texts.slice(0, depth) as readonly string[], isPrefix: true }
}

/** How many words say what is done, where more of them only say it closer; null: each word counts. */
function broadDepth([program, verb, ...rest]: readonly (string | null)[]): number | null {
  if (program == null || verb == null || verb.startsWith('-') || !/^[\w:.@/-]+$/.test(verb)) return null
  const verbs = broadVerbs.get(program)
  if (verbs === undefined || !verbs.test(verb)) return null
  const names = /^(run|run-script|tool)$/.test(verb)
  if (!names || program === 'cargo' || program === 'dotnet') return 2
  return typeof rest[0] === 'string' && !rest[0].startsWith('-') ? 3 : null
}

/** Programs and the verbs of theirs that build, test and keep the project: what follows says which part of it. */
const broadVerbs: ReadonlyMap<string, RegExp> = new Map([
  ...['npm', 'pnpm', 'yarn', 'bun'].map((name) => [name, /^(test|t|run|run-script|start|build|lint)$/] as const),
  ['cargo', /^(build|check|test|clippy|fmt|run|bench|doc)$/],
  ['go', /^(build|test|vet|fmt)$/],
  ['dotnet', /^(build|test|format|run)$/],
  ['git', /^(add|commit|merge|switch|stash|tag|branch)$/],
  ['poetry', /^(check|build)$/],
  ['mix', /^(test|compile|format)$/],
  ['swift', /^(build|test)$/],
])
