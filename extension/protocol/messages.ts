import type { FileLocation } from './cards.ts'
import type { Row, RowWindow, ViewState } from './view-state.ts'

/** Both sides refuse to talk to another number and ask for a reload of the view. */
export const PROTOCOL_VERSION = 1

/** The largest message a view may send, UTF-8 bytes of its JSON. A larger one is refused with a notice that says so. */
export const MAX_MESSAGE_BYTES = 8_000_000

/** Host to view. `frame` numbers are contiguous; on a gap the view asks for a snapshot. */
export type HostMessage =
  | { readonly type: 'snapshot'; readonly version: number; readonly frame: number; readonly state: ViewState }
  | { readonly type: 'patch'; readonly frame: number; readonly changes: readonly ViewChange[] }
  | { readonly type: 'older-rows'; readonly frame: number; readonly window: RowWindow }
  | { readonly type: 'focus-composer' }
  | { readonly type: 'insert-text'; readonly text: string }

/** At most one patch a display frame; text appends are merged within it. */
export type ViewChange =
  | { readonly change: 'row'; readonly row: Row }
  | { readonly change: 'rows-total'; readonly total: number }
  | { readonly change: 'append'; readonly rowId: string; readonly field: 'text' | 'progress'; readonly text: string }
  | { readonly change: 'remove-row'; readonly rowId: string }
  | {
      [Key in Exclude<keyof ViewState, 'transcript'>]: { readonly change: 'state'; readonly key: Key; readonly value: ViewState[Key] }
    }[Exclude<keyof ViewState, 'transcript'>]

/** View to host: the person's intents. Validated by the host; a bad one is refused with a notice and loses nothing. */
export type ViewMessage =
  | { readonly type: 'ready'; readonly version: number }
  | { readonly type: 'need-snapshot' }
  | { readonly type: 'load-older'; readonly before: number; readonly count: number }
  | { readonly type: 'send'; readonly text: string; readonly target: 'next-turn' | 'next-step' }
  | { readonly type: 'stop' }
  | { readonly type: 'continue' }
  | { readonly type: 'retry' }
  | { readonly type: 'draft'; readonly text: string }
  | { readonly type: 'queue-edit'; readonly id: string; readonly text: string }
  | { readonly type: 'queue-delete'; readonly id: string }
  | { readonly type: 'queue-steer'; readonly id: string }
  | { readonly type: 'approval'; readonly id: string; readonly answer: 'allow' | 'deny'; readonly always?: number; readonly note?: string }
  | {
      readonly type: 'question'
      readonly id: string
      readonly answers: readonly { readonly id: string; readonly selected: readonly string[]; readonly custom?: string }[] | null
    }
  | { readonly type: 'open-location'; readonly location: FileLocation }
  | { readonly type: 'open-diff'; readonly callId: string; readonly path?: string }
  | { readonly type: 'open-output'; readonly callId: string }
  | { readonly type: 'open-link'; readonly url: string }
  | { readonly type: 'copy'; readonly text: string }
  | { readonly type: 'session-new' }
  | { readonly type: 'session-open'; readonly id: string }
  | { readonly type: 'session-rename'; readonly id: string; readonly title: string }
  | { readonly type: 'session-delete'; readonly id: string }
  | { readonly type: 'pick-model' }
  | { readonly type: 'pick-preset' }
  | { readonly type: 'pick-permission' }
  | { readonly type: 'notice-action'; readonly id: string; readonly action: string }
  | { readonly type: 'notice-close'; readonly id: string }
