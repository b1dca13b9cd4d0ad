import type { Clock } from '../../capabilities/clock.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Plugin } from '../kernel/plugin.ts'
import type { Failure, FailureCode, RetryPolicy } from '../model/contract.ts'
import type { Agent } from '../session/agent.ts'
import type { Settings } from '../settings/settings.ts'
import { settings } from '../settings/specs.ts'

/** Failures that pass by themselves. Source: runtime specification 16.4. */
const passing: ReadonlySet<FailureCode> = new Set(['EMPTY_RESPONSE', 'RATE_LIMIT', 'SERVER', 'TIMEOUT', 'TRANSPORT'])

/** The waits before retries, for whoever shows them. */
export interface Retries {
  /** The step that waits to be sent again, or null. */
  waiting(agent: Agent): RetryPlace | null
  /** End the wait and send again at once. False when nothing waits. */
  tryNow(agent: Agent): boolean
}

export interface RetryPlace {
  readonly turn: number
  readonly step: number
}

declare module '../kernel/plugin.ts' {
  interface Services {
    retries: Retries
  }
}

interface RetryOptions {
  readonly clock: Clock
  readonly machine: Pick<Machine, 'randomId'>
}

/**
 * Sends a request again that failed for a passing reason, in the same step, after a wait that grows.
 *
 * A wait the provider asks for is kept to when it is no longer than the longest wait; a longer one ends the turn in
 * `normal` mode and is not kept to in `always` mode. Every wait and every new attempt is in the log; a cancel ends the wait.
 * Source: runtime specification 16.4; the policy of the adapter, else the settings `llm.retry.*`.
 */
export function createRetryPlugin({ clock, machine }: RetryOptions): Plugin {
  return {
    name: 'retry',
    inject: ['settings'],
    apply(ctx) {
      /** Retries of the step an agent is in, by provider and policy. */
      const counts = new WeakMap<Agent, { readonly place: string; readonly retries: Map<string, number> }>()
      const waits = new Map<Agent, RetryPlace & { readonly end: () => void }>()
      ctx.provide('retries', {
        waiting(agent) {
          const wait = waits.get(agent)
          return wait === undefined ? null : { turn: wait.turn, step: wait.step }
        },
        tryNow(agent) {
          const wait = waits.get(agent)
          wait?.end()
          return wait !== undefined
        },
      })
      ctx.on('agent/request-error', async (request, next) => {
        const { agent, turn, step, provider, failure, signal } = request
        const policyKey = request.retryPolicy ? 'provider' : 'settings'
        const policy = request.retryPolicy ?? policyFrom(ctx.settings)
        const retries = retriesIn(counts, agent, `${turn}.${step}`)
        const key = JSON.stringify([provider, policyKey])
        const retry = (retries.get(key) ?? 0) + 1
        const delayMs = delayFor(policy, { failure, retry, chance: chanceFrom(machine.randomId()) })
        if (delayMs === null) return next()
        retries.set(key, retry)
        const retryId = machine.randomId()
        const { mode, maxRetries } = policy
        agent.session.append({
          type: 'llm/retry',
          data: { retryId, turn, step, provider, mode, policyKey, retry, ...(mode === 'normal' && { maxRetries }), delayMs, failure },
        })
        const wait = startWait(clock, delayMs, signal)
        waits.set(agent, { turn, step, end: wait.end })
        const isOver = await wait.over
        waits.delete(agent)
        if (!isOver) return { kind: 'fail' }
        agent.session.append({ type: 'llm/retry-started', data: { retryId, turn, step, retry } })
        return { kind: 'retry' }
      })
    },
  }
}

function retriesIn(counts: WeakMap<Agent, { readonly place: string; readonly retries: Map<string, number> }>, agent: Agent, place: string): Map<string, number> {
  const known = counts.get(agent)
  if (known?.place === place) return known.retries
  const retries = new Map<string, number>()
  counts.set(agent, { place, retries })
  return retries
}

/**
 * Milliseconds to wait before retry number `retry` (from 1), or null to give up.
 *
 * `chance` from 0 to 1 spreads the wait evenly to both sides.
 */
export function delayFor(
  policy: RetryPolicy,
  { failure, retry, chance }: { readonly failure: Failure; readonly retry: number; readonly chance: number },
): number | null {
  const { mode, maxRetries, initialDelayMs, maxDelayMs, jitter } = policy
  if (!passing.has(failure.code)) return null
  if (mode === 'normal' && retry > maxRetries) return null
  const asked = failure.providerRetryAfterMs
  if (asked !== undefined && asked <= maxDelayMs) return asked
  if (asked !== undefined && mode === 'normal') return null
  const grown = Math.min(initialDelayMs * 2 ** (retry - 1), maxDelayMs)
  return Math.round(grown * (1 + jitter * (2 * chance - 1)))
}

export function policyFrom(read: Settings): RetryPolicy {
  return {
    mode: read.get(settings.llmRetryMode),
    maxRetries: read.get(settings.llmRetryMaxRetries),
    initialDelayMs: read.get(settings.llmRetryInitialDelayMs),
    maxDelayMs: read.get(settings.llmRetryMaxDelayMs),
    jitter: read.get(settings.llmRetryJitter),
  }
}

/** False when the signal fired first. */
export const waited = (clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> => startWait(clock, delayMs, signal).over

/** `over` is false when the signal fired first; `end` ends the wait before its time. */
function startWait(clock: Clock, delayMs: number, signal: AbortSignal): { readonly over: Promise<boolean>; readonly end: () => void } {
  const { promise: over, resolve } = Promise.withResolvers<boolean>()
  const settle = (isOver: boolean) => {
    stop()
    signal.removeEventListener('abort', onAbort)
    resolve(isOver)
  }
  const stop = clock.schedule(delayMs, () => settle(true))
  const onAbort = () => settle(false)
  if (signal.aborted) settle(false)
  else signal.addEventListener('abort', onAbort, { once: true })
  return { over, end: () => settle(true) }
}

/** An even number from 0 to 1 out of a random id. */
const chanceFrom = (id: string): number => Number.parseInt(id.slice(-8), 16) / 0xffff_ffff
