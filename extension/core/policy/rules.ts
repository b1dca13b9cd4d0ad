import * as z from 'zod'
import type { JsonObject } from '../../base/json.ts'
import { permissionRuleSchema, type PermissionRuleSetting } from '../settings/specs.ts'
import type { ShellCommand } from './shell/shell-parts.ts'

/** A standing answer, in the one parsed form that writing, showing and judging share. */
export interface Rule {
  readonly tool: string
  /** For commands; null: any. */
  readonly command: CommandRule | null
  /** Pattern of paths, from the workspace's folder unless absolute; null: any. */
  readonly path: string | null
  /** A host, or `*.` and the domain below which all are meant; null: any. */
  readonly host: string | null
  /** The folder whose sessions it holds in; null: all. */
  readonly folder: string | null
  readonly decision: 'allow' | 'ask' | 'deny'
  /** Who keeps it. */
  readonly source: RuleSource
}

export interface CommandRule {
  readonly words: readonly string[]
  /** More words may follow. */
  readonly isPrefix: boolean
}

/** How long a rule holds: until the session ends, in this workspace, or always. */
export type RuleScope = 'session' | 'workspace' | 'always'

/** Where a rule stands; the settings of a workspace may only tighten. */
export type RuleSource = RuleScope | 'workspace-settings'

/** Rules that one answer makes. `tree`: for all agents of the session that the person talks to, until it ends. */
export interface RuleChoice {
  readonly scope: RuleScope | 'tree'
  readonly rules: readonly PermissionRuleSetting[]
}

export const ruleChoiceSchema = z.strictObject({
  scope: z.enum(['session', 'workspace', 'always', 'tree']),
  rules: z.array(permissionRuleSchema).min(1),
})

/** Errors: `TypeError` for a `match` that is no list of words. */
export function parseRule({ tool, match, path, host, folder, decision }: PermissionRuleSetting, source: RuleSource): Rule {
  return { tool, decision, source, command: match === undefined ? null : parseMatch(match), path: path ?? null, host: host ?? null, folder: folder ?? null }
}

export function formatRule({ tool, command, path, host, folder, decision }: Rule): PermissionRuleSetting {
  return {
    tool,
    ...(command !== null && { match: formatMatch(command) }),
    ...(path !== null && { path }),
    ...(host !== null && { host }),
    ...(folder !== null && { folder }),
    decision,
  }
}

/** `npm test *` and the like: words as a shell would read them, a last bare `*` for "and whatever follows". */
export function parseMatch(match: string): CommandRule {
  const words: { text: string; isBare: boolean }[] = []
  const pattern = /\s*(?:'((?:[^']|'\\'')*)'|([^\s'"]+))(?=\s|$)/gy
  let end = 0
  for (let found = pattern.exec(match); found !== null; found = pattern.exec(match)) {
    end = pattern.lastIndex
    const [, quoted, bare = ''] = found
    words.push(quoted === undefined ? { text: bare, isBare: true } : { text: quoted.replaceAll(`'\\''`, `'`), isBare: false })
  }
  const last = words.at(-1)
  if (last === undefined || match.slice(end).trim() !== '') throw new TypeError(`"${match}" names no command. Write its words, such as npm test *.`)
  const isPrefix = last.isBare && last.text === '*'
  return { words: (isPrefix ? words.slice(0, -1) : words).map(({ text }) => text), isPrefix }
}

export function formatMatch({ words, isPrefix }: CommandRule): string {
  return [...words.map(quotedWord), ...(isPrefix ? ['*'] : [])].join(' ')
}

/** For people: `npm test …`. */
export function commandRuleText({ words, isPrefix }: CommandRule): string {
  return `${words.map(quotedWord).join(' ')}${isPrefix ? ' …' : ''}`
}

/** The rule speaks of this command of a script. A word that only running tells fits a prefix rule's rest alone. */
export function matchesCommand({ words, isPrefix }: CommandRule, command: ShellCommand): boolean {
  const texts = command.words.map(({ text, isPattern }, index) => (isPattern && index < words.length ? null : text))
  if (isPrefix ? texts.length < words.length : texts.length !== words.length) return false
  return words.every((word, index) => texts[index] === word)
}

/** An answer's rule as it came over a border, or null when it is none. */
export function ruleChoiceFrom(raw: JsonObject): RuleChoice | null {
  const parsed = ruleChoiceSchema.safeParse(raw)
  return parsed.success ? parsed.data : null
}

const quotedWord = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll(`'`, `'\\''`)}'`)
