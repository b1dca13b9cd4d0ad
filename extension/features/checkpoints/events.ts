import type { EventTypeRules } from '../../core/log/event-types.ts'

/** A digest for `BlobStore.getBeforeImage`; null: no file. */
export type Image = string | null

/** What an undo was asked for. */
export type UndoScope = 'hunk' | 'file' | 'call' | 'turn' | 'since' | 'all'

/**
 * `too-large-to-keep`: one file or all together, before a command; `too-large-to-review`: as a command left them; `too-many-found`:
 * changed by one command; `git-unavailable`: it does not answer; the last three: the folder cannot be watched.
 */
export type ReviewLimit = 'too-large-to-keep' | 'too-many-to-keep' | 'too-large-to-review' | 'too-many-found' | 'git-unavailable' | 'too-many-folders' | 'too-many-files' | 'unavailable'

declare module '../../core/log/event.ts' {
  interface EventMap {
    /** `ignorable`. A call changed a file. `before` is absent where nobody kept what stood there: it can be seen, not undone. */
    'fs/after-image': {
      readonly callId: string
      readonly path: string
      readonly before?: Image
      readonly after: Image
      /** Of what a command did, which no card of it shows. */
      readonly lines?: { readonly added: number; readonly removed: number }
    }
    /** `ignorable`. Not everything is kept: files before a command that throws work away, or what commands change at all. */
    'review/limited': { readonly callId: string; readonly reason: ReviewLimit; /** How many; absent where it is all of them. */ readonly files?: number }
    /** `ignorable`. The person keeps changes of a file. */
    'review/kept': { readonly files: readonly SettledFile[] }
    /** `ignorable`. The person took changes back. */
    'review/undone': {
      readonly scope: UndoScope
      /** Of a whole turn, or of the first of several. */
      readonly turn?: number
      readonly files: readonly (SettledFile & { readonly before: Image; readonly after: Image })[]
    }
  }
}

/**
 * What became of a file. `before` and `after` are the file around an undo, so that nothing is lost by it.
 */
export interface SettledFile {
  readonly path: string
  /** Nothing of it waits any more. */
  readonly isWhole: boolean
  /** Calls whose changes are settled, where some still wait. */
  readonly calls: readonly string[]
  /** Where some still wait: the text without them, and the text as the agent left it with them. */
  readonly base?: { readonly baseline: Image; readonly current: Image }
}

/** What the log holds the events to. */
export const checkpointEventTypes = {
  'fs/after-image': { isIgnorable: true, fields: { callId: 'text', path: 'text' } },
  'review/limited': { isIgnorable: true, fields: { callId: 'text', reason: 'text', files: 'number?' } },
  'review/kept': { isIgnorable: true, fields: { files: 'list' } },
  'review/undone': { isIgnorable: true, fields: { scope: 'text', turn: 'count?', files: 'list' } },
} satisfies Readonly<Record<string, EventTypeRules>>
