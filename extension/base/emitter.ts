import type { Undo } from './undo.ts'

export type Listen<T> = (listener: (value: T) => void) => Undo

/**
 * A list of listeners that are called in order.
 *
 * Errors: a listener that throws does not starve the others; its error goes to `onError`.
 */
export class Emitter<T> {
  #listeners = new Set<{ readonly call: (value: T) => void }>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  readonly listen: Listen<T> = (listener) => {
    const entry = { call: listener }
    this.#listeners.add(entry)
    return () => void this.#listeners.delete(entry)
  }

  emit(value: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener.call(value)
      } catch (error) {
        this.#onError(error)
      }
    }
  }
}
