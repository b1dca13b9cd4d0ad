import type { Undo } from '../base/undo.ts'

/** Time, so that tests can turn it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Milliseconds that never go back, for durations. */
  monotonicMs(): number
  /** Call `fire` once, never before this returns, after `delayMs`, which a timer of the machine may miss by a millisecond; the undo cancels it. */
  schedule(delayMs: number, fire: () => void): Undo
}
