import type { Undo } from './undo.ts'

/** Resolves after `delayMs` by the given clock. Errors: the signal's reason as soon as it fires; the timer goes then. */
export function pause(clock: { schedule(delayMs: number, fire: () => void): Undo }, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const onAbort = () => {
      stop()
      reject(signal.reason as Error)
    }
    const stop = clock.schedule(delayMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
