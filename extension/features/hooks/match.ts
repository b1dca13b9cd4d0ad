import type { HookDialect } from './hook.ts'

/** Names under which other agents know the same tools: their configurations speak of these. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  bash: ['Bash', 'shell'],
  pwsh: ['PowerShell'],
  read: ['Read'],
  read_image: ['Read'],
  write: ['Write'],
  edit: ['Edit', 'MultiEdit', 'apply_patch'],
  glob: ['Glob'],
  grep: ['Grep'],
  web_fetch: ['WebFetch'],
  web_search: ['WebSearch'],
  todo_write: ['TodoWrite'],
  subagent: ['Task', 'Agent'],
  ask_user_question: ['AskUserQuestion'],
  exit_plan_mode: ['ExitPlanMode'],
}

/** The names a matcher may mean by a tool, Bosun's own first. */
export const toolNames = (name: string): readonly string[] => [name, ...(otherNames[name] ?? [])]

/** The name a hook of that dialect is told. */
export const toolNameFor = (dialect: HookDialect, name: string): string => (dialect === 'bosun' ? name : (otherNames[name]?.[0] ?? name))

/**
 * A test of names, or null for a matcher that is no expression.
 *
 * Empty and `*` match everything. Codex: always an expression. Else: words with `|` between them are the very names, anything more is
 * an expression. An expression may match any part of a name: a guard that its author meant to hold must not miss a longer name.
 * Source: runtime specification 20.
 */
export function compileMatcher(dialect: HookDialect, matcher: string): ((name: string) => boolean) | null {
  const text = matcher.trim()
  if (text === '' || text === '*') return () => true
  if (dialect !== 'codex' && /^[\w|]+$/.test(text)) {
    const names = new Set(text.split('|'))
    return (name) => names.has(name)
  }
  try {
    const expression = new RegExp(text)
    return (name) => expression.test(name)
  } catch {
    // Not an expression: that is the answer, and whoever reads the configuration says so.
    return null
  }
}

/** Longest text a matcher is held against: an expression may be slow on long ones. */
const maxSubject = 200

/** Whether a hook with this matcher means one of the names. */
export function matches(dialect: HookDialect, matcher: string, names: readonly string[]): boolean {
  const test = compileMatcher(dialect, matcher)
  return test !== null && names.some((name) => test(name.slice(0, maxSubject)))
}
