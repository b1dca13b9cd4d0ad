import type { AsyncUndo } from './undo.ts'

/**
 * Owns undos and runs them in reverse, once, each awaited before the next.
 *
 * Errors: `dispose` rejects with an `AggregateError` after every undo has run when some of them failed;
 *         `add` on a disposed scope runs the undo at once and throws `Error`, so nothing leaks.
 */
export class Scope {
  #undos: AsyncUndo[] = []
  #disposal: Promise<void> | undefined

  get isDisposed(): boolean {
    return this.#disposal !== undefined
  }

  /** Keep `undo` until disposal; returns a function that runs it early, at most once. */
  add(undo: AsyncUndo): () => Promise<void> {
    if (this.#disposal) {
      void undo()
      throw new Error('This scope is disposed; nothing can be registered on it any more.')
    }
    let isDone = false
    const once: AsyncUndo = () => {
      if (isDone) return
      isDone = true
      return undo()
    }
    this.#undos.push(once)
    return async () => {
      const index = this.#undos.indexOf(once)
      if (index >= 0) this.#undos.splice(index, 1)
      await once()
    }
  }

  dispose(): Promise<void> {
    if (this.#disposal) return this.#disposal
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Set before the first undo runs, so that what an undo does with this scope meets a disposed one.
    this.#disposal = promise
    this.#run().then(resolve, reject)
    return promise
  }

  async #run(): Promise<void> {
    const failures: unknown[] = []
    while (this.#undos.length > 0) {
      const undo = this.#undos.pop()
      try {
        await undo?.()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Some registrations failed to be taken back.')
  }
}
