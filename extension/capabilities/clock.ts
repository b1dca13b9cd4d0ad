import type { Undo } from '../base/undo.ts'

/** Time, so that tests can turn it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Milliseconds that never go back, for durations. */
  monotonicMs(): number
  /** Call `fire` once after `delayMs`; the undo cancels it. */
  schedule(delayMs: number, fire: () => void): Undo
}
