import type { Clock } from '../../capabilities/clock.ts'
import { TeamError } from './error.ts'

export interface Waiters {
  /** Something of the team changed: everybody who waits goes on. */
  edge(): void
  /** Until the next change. Errors: an abort's reason that is an error, else `TEAM_WAIT_ABORTED`. */
  next(request: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<{ readonly timedOut: boolean }>
}

/** Who waits for the next change of a team; nothing that happened before counts. Source: agent tools specification 8.1, `wait_agent`. */
export function createWaiters(clock: Pick<Clock, 'schedule'>): Waiters {
  const waiting = new Set<() => void>()
  return {
    edge() {
      for (const wake of [...waiting]) wake()
    },
    next({ timeoutMs, signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<{ readonly timedOut: boolean }>()
      const wake = () => resolve({ timedOut: false })
      const onAbort = () => {
        const reason: unknown = signal.reason
        reject(reason instanceof Error ? reason : new TeamError('TEAM_WAIT_ABORTED', 'The wait was stopped.'))
      }
      waiting.add(wake)
      const cancel = clock.schedule(timeoutMs, () => resolve({ timedOut: true }))
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) onAbort()
      return promise.finally(() => {
        waiting.delete(wake)
        cancel()
        signal.removeEventListener('abort', onAbort)
      })
    },
  }
}
