import { textUnder } from '../../core/log/event-text.ts'
import type { EventTypeRules } from '../../core/log/event-types.ts'
import type {} from '../plan/service.ts'

/** One entry of the list as the model writes it; content is trimmed, unique and not empty. */
export type Todo = {
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
}

/** The same as person and model share it. */
export type Task = Todo & {
  /** Stays as long as the task does, whoever changes it and however it is worded. */
  readonly id: string
  /** Of the person, for themselves. */
  readonly note?: string
  /** Files that changed while it was worked on, once the model calls it done. */
  readonly files?: readonly string[]
  /** The turn in which the last of them changed; without any, in which the model called it done. */
  readonly turn?: number
}

/** What a person did to the list. */
export type TaskAction = 'tick' | 'untick' | 'move' | 'add' | 'remove' | 'note' | 'take-back' | 'let-go' | 'dismiss'

declare module '../../core/log/event.ts' {
  interface EventMap {
    'todo/write': { readonly todos: readonly Todo[] }
    /** `ignorable`. The person changed the list; the whole new state. `dropped`: what the model left out unfinished. */
    'todo/edited': { readonly action: TaskAction; readonly tasks: readonly Task[]; readonly dropped: readonly Task[] }
  }
}

/** What the log holds the events to. */
export const todoEventTypes = {
  'todo/edited': { isIgnorable: true, fields: { action: 'text', tasks: 'list', dropped: 'list' }, searchText: textUnder('content', 'note') },
  'todo/write': { inside: 'turn', fields: { todos: 'list' }, searchText: textUnder('content') },
} satisfies Readonly<Record<string, EventTypeRules>>
