import type { EventTypeRules } from '../../core/log/event-types.ts'

/** One entry of the task list; content is trimmed, unique and not empty. */
export type Todo = {
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
}

declare module '../../core/log/event.ts' {
  interface EventMap {
    'todo/write': { readonly todos: readonly Todo[] }
  }
}

/** What the log holds the event to. */
export const todoEventTypes = {
  'todo/write': { inside: 'turn', fields: { todos: 'list' } },
} satisfies Readonly<Record<string, EventTypeRules>>
