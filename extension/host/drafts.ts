import type { Undo } from '../base/undo.ts'
import type { Clock } from '../capabilities/clock.ts'
import type { Memento } from '../capabilities/memento.ts'

const SAVE_AFTER_MS = 300
/** UTF-16 units; more than anyone types, less than what bloats the editor's own storage. */
const MAX_KEPT_DRAFT = 200_000

/** What was typed and not yet sent, per session (null: before there is one). Survives the window. */
export class Drafts {
  readonly #memento: Memento
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #texts = new Map<string, string>()
  readonly #dirty = new Set<string>()
  #timer: Undo | null = null

  constructor(parts: { readonly memento: Memento; readonly clock: Clock; readonly onError: (error: unknown) => void }) {
    this.#memento = parts.memento
    this.#clock = parts.clock
    this.#onError = parts.onError
  }

  get(sessionId: string | null): string {
    const key = keyOf(sessionId)
    const typed = this.#texts.get(key)
    if (typed !== undefined) return typed
    const kept = this.#memento.get(key)
    return typeof kept === 'string' ? kept : ''
  }

  set(sessionId: string | null, text: string): void {
    const key = keyOf(sessionId)
    if (this.get(sessionId) === text) return
    this.#texts.set(key, text)
    this.#dirty.add(key)
    this.#timer ??= this.#clock.schedule(SAVE_AFTER_MS, () => void this.flush())
  }

  /** Keep what was typed now, before the window goes. */
  async flush(): Promise<void> {
    this.#timer?.()
    this.#timer = null
    const keys = [...this.#dirty]
    this.#dirty.clear()
    try {
      await Promise.all(
        keys.map((key) => {
          const text = this.#texts.get(key) ?? ''
          return this.#memento.set(key, text === '' ? undefined : text.slice(0, MAX_KEPT_DRAFT))
        }),
      )
    } catch (error) {
      this.#onError(error)
    }
  }
}

const keyOf = (sessionId: string | null) => `draft:${sessionId ?? ''}`
