import type { PageKey } from '../protocol/editor-page.ts'

/** Pages of ours in the editor area. */
export interface EditorPages {
  /** Show it, or bring it to the front where it is open already; because the person asked for it. */
  open(key: PageKey, title: string): void
}
