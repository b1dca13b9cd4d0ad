import type { Json } from '../../extension/base/json.ts'
import type { PluginSlot } from '../../extension/protocol/plugin-frame.ts'

/** What a frame says to its page. Nothing about it is certain: the code in the frame is a model's. */
export type FrameSays =
  /** It listens. */
  | { readonly kind: 'here' }
  /** `isDrawn`: the code has something for this slot. */
  | { readonly kind: 'ready'; readonly isDrawn: boolean }
  | { readonly kind: 'failed'; readonly message: string }
  /** Something went wrong after it was drawn; it stands. */
  | { readonly kind: 'trouble'; readonly message: string }
  /** CSS pixels that it wants to be high. */
  | { readonly kind: 'height'; readonly px: number }
  | { readonly kind: 'call'; readonly id: number; readonly method: string; readonly payload: Json }
  /** Answers `ping`. */
  | { readonly kind: 'pong' }
  /** The person leaves it with the Escape key. */
  | { readonly kind: 'leave' }

/** What a page says to a frame. */
export type FrameHears =
  | { readonly kind: 'start'; readonly slot: PluginSlot; readonly code: string; readonly nonce: string; readonly theme: FrameTheme }
  /** Does its code still let it answer? */
  | { readonly kind: 'ping' }
  | { readonly kind: 'theme'; readonly theme: FrameTheme }
  | { readonly kind: 'reply'; readonly id: number; readonly value: Json }
  | { readonly kind: 'refusal'; readonly id: number; readonly code: string; readonly message: string }
  | { readonly kind: 'event'; readonly name: string; readonly payload: Json }

/** The editor's colours and fonts. */
export interface FrameTheme {
  /** Classes of the body, such as `vscode-dark`. */
  readonly classes: string
  readonly language: string
  /** Values of the variables that begin with `--vscode-`. */
  readonly variables: Readonly<Record<string, string>>
}
