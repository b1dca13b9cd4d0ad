import type { EventTypeRules } from '../../core/log/event-types.ts'

declare module '../../core/log/event.ts' {
  interface EventMap {
    'hook/invoked': { readonly turn: number; readonly point: string; readonly dialect: 'claude' | 'codex' | 'bosun'; readonly matcher?: string; readonly handlerId: string }
    'hook/result': {
      readonly turn: number
      readonly point: string
      readonly handlerId: string
      readonly decision: string
      readonly exitCode?: number
      /** At most 500 characters. */
      readonly stderrSummary?: string
      readonly durationMs: number
      /** Why it held something back or failed, for the person. */
      readonly reason?: string
    }
  }
}

/** What the log holds the events of hooks to. */
export const hookEventTypes = {
  'hook/invoked': { isIgnorable: true, inside: 'turn', fields: { turn: 'count', point: 'text', dialect: 'text', handlerId: 'text' } },
  'hook/result': { isIgnorable: true, inside: 'turn', fields: { turn: 'count', point: 'text', handlerId: 'text', decision: 'text', durationMs: 'number' } },
} satisfies Readonly<Record<string, EventTypeRules>>
