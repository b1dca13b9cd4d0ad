import type { Clock } from '../../capabilities/clock.ts'

/** Ends a request whose server has been silent too long, and one that its caller gave up. */
export interface IdleGuard {
  readonly signal: AbortSignal
  /** It was the silence. */
  readonly hasFired: boolean
  /** The server gave a sign of life. */
  touch(): void
  end(): void
}

export function createIdleGuard(caller: AbortSignal, clock: Clock, idleTimeoutMs: () => number): IdleGuard {
  const ending = new AbortController()
  const follow = () => ending.abort(caller.reason)
  if (caller.aborted) follow()
  // Taken off again at the end: the caller's signal lives as long as a turn.
  else caller.addEventListener('abort', follow, { once: true })
  let lastSign = clock.monotonicMs()
  let hasFired = false
  let cancel = (): void => undefined
  const arm = (delayMs: number) => {
    cancel = clock.schedule(delayMs, () => {
      // One timer for the whole stream: it looks back when it fires instead of being set anew for each part.
      const leftMs = lastSign + idleTimeoutMs() - clock.monotonicMs()
      if (leftMs > 0) return arm(leftMs)
      hasFired = true
      ending.abort()
    })
  }
  arm(idleTimeoutMs())
  return {
    signal: ending.signal,
    get hasFired() {
      return hasFired
    },
    touch() {
      lastSign = clock.monotonicMs()
    },
    end() {
      cancel()
      caller.removeEventListener('abort', follow)
    },
  }
}
