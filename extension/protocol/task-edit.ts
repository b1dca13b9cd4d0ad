/** What a person does to the list of tasks. */
export type TaskEdit =
  | { readonly do: 'tick'; readonly id: string; readonly isDone: boolean }
  /** Null: to the end. */
  | { readonly do: 'move'; readonly id: string; readonly before: string | null }
  | { readonly do: 'add'; readonly content: string }
  | { readonly do: 'remove'; readonly id: string }
  /** Empty words take the note away. */
  | { readonly do: 'note'; readonly id: string; readonly note: string }
  /** Of what the model left out unfinished. */
  | { readonly do: 'take-back'; readonly id: string }
  | { readonly do: 'let-go' }
  | { readonly do: 'dismiss' }

/** Tasks of one list, and characters (UTF-16 units) of one and of a note, whoever writes it. */
export const MAX_TASKS = 200
export const MAX_TASK_CHARS = 2_000
