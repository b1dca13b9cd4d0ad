/**
 * Ask the person outside the chat: an editor notification with the answers on its buttons, raised again while it waits.
 * The chat shows the same question; whoever answers first wins, the other surface clears.
 */
export interface Attention {
  /** Resolves with the chosen button's id, or null when `signal` fired because it was answered elsewhere. Dismissing is no answer. */
  ask(request: AttentionRequest): Promise<string | null>
  /** Something ended or failed; shown only when the view is hidden. */
  tell(message: { readonly level: 'info' | 'warning' | 'error'; readonly text: string; readonly actions?: readonly AttentionButton[] }): Promise<string | null>
}

export interface AttentionRequest {
  readonly text: string
  /** Shown under the text where the editor has room. */
  readonly detail?: string
  readonly buttons: readonly AttentionButton[]
  readonly signal: AbortSignal
}

export interface AttentionButton {
  readonly id: string
  readonly label: string
}
