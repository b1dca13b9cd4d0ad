import { expect, it } from 'vitest'
import type { HookDialect } from '../../../../extension/features/hooks/hook.ts'
import { compileMatcher, matches, toolNameFor, toolNames } from '../../../../extension/features/hooks/match.ts'

const rows: readonly [dialect: HookDialect, matcher: string, tool: string, isMeant: boolean][] = [
  ['claude', '', 'bash', true],
  ['claude', '*', 'bash', true],
  ['claude', 'Bash', 'bash', true],
  ['claude', 'bash', 'bash', true],
  ['claude', 'Bas', 'bash', false],
  ['claude', 'Read|Write', 'write', true],
  ['claude', 'Read|Write', 'edit', false],
  ['claude', 'Edit|MultiEdit|Write', 'edit', true],
  ['claude', 'mcp__.*', 'mcp__files__read', true],
  ['claude', 'Ba', 'bash', false],
  ['claude', 'Ba.*', 'bash', true],
  ['claude', '__write', 'mcp__files__write_file', false],
  ['claude', '.__write', 'mcp__files__write_file', true],
  ['claude', '^Ba$', 'bash', false],
  ['codex', 'ba', 'bash', true],
  ['codex', '^ba$', 'bash', false],
  ['codex', 'apply_patch', 'edit', true],
  ['bosun', 'bash', 'bash', true],
  ['claude', '(', 'bash', false],
]
it.each(rows)('%s matcher %j and the tool %s: %j', (dialect, matcher, tool, isMeant) => expect(matches(dialect, matcher, toolNames(tool))).toBe(isMeant))

it('gives null for what is no expression', () => expect([compileMatcher('claude', '('), compileMatcher('codex', '[')]).toEqual([null, null]))
it('tells each dialect the name it knows', () => expect((['claude', 'codex', 'bosun'] as const).map((dialect) => toolNameFor(dialect, 'web_fetch'))).toEqual(['WebFetch', 'WebFetch', 'web_fetch']))
