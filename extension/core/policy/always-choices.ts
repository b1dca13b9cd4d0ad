import type { JsonObject } from '../../base/json.ts'
import type { ApprovalDetails } from '../tools/definition.ts'
import type { PermissionRuleSetting } from '../settings/specs.ts'
import { commandRuleText, formatMatch, type CommandRule, type RuleScope } from './rules.ts'
import type { ShellCommand } from './shell/shell-parts.ts'

type Always = NonNullable<ApprovalDetails['always']>

/** More commands than this in one script, and "always" would promise more than a person can oversee. */
const MAX_COMMANDS = 3

/** What "Always allow…" may mean for commands of a shell; nothing when no rule could speak of them. */
export function alwaysForCommands(tool: string, commands: readonly ShellCommand[], folder: string | null): Always {
  const rules = commands.map(ruleFor)
  if (commands.length === 0 || commands.length > MAX_COMMANDS || rules.some((rule) => rule === null)) return []
  const known = rules.filter((rule) => rule !== null)
  const text = [...new Set(known.map((rule) => `\`${commandRuleText(rule)}\``))].join(' and ')
  return scoped(text, known.map((rule) => ({ tool, match: formatMatch(rule), decision: 'allow' })), folder)
}

/** For a command that cannot be taken apart: the very same text again. */
export function alwaysForText(tool: string, command: string, folder: string | null): Always {
  const rule: CommandRule = { words: [command], isPrefix: false }
  return scoped(`\`${command.length > 60 ? `${command.slice(0, 59)}…` : command}\``, [{ tool, match: formatMatch(rule), decision: 'allow' }], folder)
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
  const [program, verb] = texts
  if (program === undefined || program === null) return null
  const isWhole = texts.every((text) => text !== null)
  const exact = isWhole ? { words: texts as readonly string[], isPrefix: false } : null
  if (exactOnly.has(program.split('/').at(-1) ?? '')) return exact
  if (verb === undefined) return exact
  if (verb === null || verb.startsWith('-') || /\s/.test(verb)) return exact
  const depth = /^(run|exec|run-script|compose|remote)$/.test(verb) && typeof texts[2] === 'string' && !texts[2].startsWith('-') ? 3 : 2
  return { words: texts.slice(0, depth) as readonly string[], isPrefix: true }
}

/** Programs that run what they are told or reach beyond the workspace: any words after them could do anything. */
const exactOnly = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish', 'eval', 'exec', 'source', '.', 'env', 'xargs', 'sudo', 'doas', 'su', 'ssh', 'scp', 'rsync', 'find', 'tee', 'dd', 'rm', 'mv', 'cp', 'ln', 'chmod', 'chown', 'trap', 'nohup', 'watch', 'parallel', 'timeout', 'time', 'nice', 'command', 'curl', 'wget', 'nc', 'awk', 'gawk', 'sed', 'perl', 'osascript', 'powershell', 'pwsh', 'kill', 'pkill', 'killall', 'npx', 'pnpx', 'bunx', 'uvx'])
