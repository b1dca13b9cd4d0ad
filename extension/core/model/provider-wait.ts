/**
 * The longest wait that a provider is believed to ask for; a longer one is a mistake or an account that is closed for now.
 * Nothing waits for it by itself and no time of its end is shown: the person tries again when they want to.
 */
export const MAX_BELIEVED_WAIT_MS = 24 * 3_600_000

/**
 * A wait as a provider asked for it, as far as it is believed: `MAX_BELIEVED_WAIT_MS` stands for that long or longer.
 *
 * Shape: undefined for what asks for no wait: no number, nothing or less, a time that has passed. Whoever waits then keeps to its own times.
 */
export function believedWait(ms: number): number | undefined {
  return ms > 0 ? Math.min(Math.ceil(ms), MAX_BELIEVED_WAIT_MS) : undefined
}

/** False where the wait is only known to be too long to be believed. */
export const isBelievedWhole = (waitMs: number): boolean => waitMs < MAX_BELIEVED_WAIT_MS
