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
