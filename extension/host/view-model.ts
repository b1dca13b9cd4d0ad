import { Emitter, type Listen } from '../base/emitter.ts'
import type { RowWindow, ViewState } from '../protocol/view-state.ts'
import type { RowChange, Transcript } from './transcript.ts'

export type ViewStateKey = Exclude<keyof ViewState, 'transcript'>

/** The state beside the rows. */
export type SideState = { readonly [Key in ViewStateKey]: ViewState[Key] }

export type ModelChange =
  | { readonly kind: 'rows'; readonly changes: readonly RowChange[] }
  | { readonly kind: 'state'; readonly key: ViewStateKey }
  /** Another conversation: every page needs all of it. */
  | { readonly kind: 'reset' }

/** What all pages of the chat show: the state beside the rows, and the rows of the open session. */
export class ViewModel {
  #state: SideState
  #transcript: Transcript | null = null
  readonly #changes: Emitter<ModelChange>

  constructor(state: SideState, onError: (error: unknown) => void) {
    this.#state = state
    this.#changes = new Emitter(onError)
  }

  get onDidChange(): Listen<ModelChange> {
    return this.#changes.listen
  }

  get transcript(): Transcript | null {
    return this.#transcript
  }

  get<Key extends ViewStateKey>(key: Key): SideState[Key] {
    return this.#state[key]
  }

  /** Nothing happens when the value says the same as before. */
  set<Key extends ViewStateKey>(key: Key, value: SideState[Key]): void {
    if (this.#state[key] === value || JSON.stringify(this.#state[key]) === JSON.stringify(value)) return
    this.#state = { ...this.#state, [key]: value }
    this.#changes.emit({ kind: 'state', key })
  }

  /** As `set`, without telling the pages: they know, or get it with their next snapshot. */
  keep<Key extends ViewStateKey>(key: Key, value: SideState[Key]): void {
    this.#state = { ...this.#state, [key]: value }
  }

  show(transcript: Transcript | null): void {
    this.#transcript = transcript
    this.#changes.emit({ kind: 'reset' })
  }

  rowsChanged(changes: readonly RowChange[]): void {
    if (changes.length > 0) this.#changes.emit({ kind: 'rows', changes })
  }

  snapshot(window: RowWindow): ViewState {
    return { ...this.#state, transcript: window }
  }
}
