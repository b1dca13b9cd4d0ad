import type { Json } from '../base/json.ts'

/** What a frame sends in one call, and what it is given at once, UTF-8 bytes of JSON. More is refused. */
export const MAX_PLUGIN_PAYLOAD_BYTES = 262_144

/** Where the frame of a plugin stands. `row` is the last row of the talk. */
export type PluginSlot = 'panel' | 'header' | 'composer' | 'row'

/** A client half that is to be drawn; its code is asked for when it is. */
export interface PluginFrameView {
  /** Of its run, in all sessions. */
  readonly id: string
  readonly pluginId: string
  /** As the model named it, for people. */
  readonly name: string
  readonly slots: readonly PluginSlot[]
  /** Why it is not drawn any more, in words; null while it is. */
  readonly problem: string | null
  /** It was drawn before, and its plugin still runs. */
  readonly canDrawAgain?: true
}

/** Host to a frame, by way of the view. */
export type PluginPart =
  /** Answers `plugin-code`; null when that run is over. */
  | { readonly kind: 'code'; readonly code: string | null }
  | { readonly kind: 'reply'; readonly id: number; readonly value: Json }
  | { readonly kind: 'refusal'; readonly id: number; readonly code: string; readonly message: string }
  | { readonly kind: 'event'; readonly name: string; readonly payload: Json }

/** View to host. */
export type PluginMessage =
  | { readonly type: 'plugin-code'; readonly frameId: string }
  /** `id` is the view's own; the host answers each with a `reply` or a `refusal`. */
  | { readonly type: 'plugin-call'; readonly frameId: string; readonly id: number; readonly method: string; readonly payload: Json }
  /** How drawing went. */
  | { readonly type: 'plugin-frame'; readonly frameId: string; readonly state: 'ready' | 'failed'; readonly message?: string }
  /** The person wants to see again what failed after it was drawn. */
  | { readonly type: 'plugin-draw'; readonly frameId: string }
  /** The person ends a plugin. */
  | { readonly type: 'plugin-stop'; readonly pluginId: string }
