import type { ToolCallView } from '../../protocol/cards.ts'

/** Arguments as a card needs them. */
export interface StrReplaceEditorArgs {
  readonly command: 'view' | 'create' | 'str_replace' | 'insert'
  readonly path: string
  readonly file_text?: string
  readonly old_str?: string
  readonly new_str?: string
  readonly insert_line?: number
  readonly view_range?: readonly number[]
}

/** There is no completed card: the pending one says all that is known. */
export function presentCall({ command, path, file_text, old_str, new_str, insert_line, view_range }: StrReplaceEditorArgs): ToolCallView {
  const [line] = view_range ?? []
  switch (command) {
    case 'view':
      return { card: 'generic', title: `View ${path}`, kind: 'read', subject: path, locations: [{ path, ...(line !== undefined && line >= 1 && { line }) }] }
    case 'create':
      return { card: 'diff', title: `Create ${path}`, diffs: [{ path, oldText: null, newText: file_text ?? '' }], locations: [{ path }] }
    case 'str_replace':
      return { card: 'diff', title: `Edit ${path}`, diffs: [{ path, oldText: old_str ?? '', newText: new_str ?? '' }], locations: [{ path }] }
    case 'insert':
      return { card: 'generic', title: `Insert into ${path}`, kind: 'edit', subject: path, content: [{ type: 'text', text: new_str ?? '' }], locations: [{ path, ...(insert_line !== undefined && { line: insert_line }) }] }
  }
}
