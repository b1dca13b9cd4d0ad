import { Emitter } from '../../base/emitter.ts'
import type { Undo } from '../../base/undo.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Agent } from '../../core/session/agent.ts'
import { SubagentError, type ChildRequest, type Governor } from './service.ts'

export interface GovernorParts {
  readonly clock: Clock
  readonly logger: Logger
  /** Settings, read when they are needed. */
  readonly limits: () => Governor['limits']
}

/** What the runtime asks of it beyond the public part. */
export interface GovernorBook extends Governor {
  /** Count one more agent under the root of `parent`. Errors: as `enter`, without waiting. */
  admit(request: Omit<Parameters<Governor['enter']>[0], 'signal'>): void
  /** A place for an agent that was admitted before. */
  place(request: { readonly signal: AbortSignal; readonly provider?: string }): Promise<Undo>
  /** From now on the place is `agent`'s: lent while it waits, given back when it rests. */
  bind(agent: Agent, release: Undo): void
  /** Resolves once `agent` has a place: at once when it has one. */
  ensure(agent: Agent, request: { readonly signal: AbortSignal; readonly provider?: string }): Promise<void>
  hasPlace(agent: Agent): boolean
  /** `agent` is quiet: another may take its place. */
  rest(agent: Agent): void
  /** New starts on `provider` wait so long. */
  backOff(provider: string, delayMs: number): void
  /** The limits may be others now. */
  refresh(): void
  dispose(): void
}

interface Waiting {
  readonly provider: string | undefined
  readonly grant: () => void
}

/** Who is at work: a queue of those that wait for a place, oldest first. Source: agent tools specification 12.10, design 6.1. */
export function createGovernor({ clock, logger, limits }: GovernorParts): GovernorBook {
  const changes = new Emitter<void>((error) => logger.error('A listener of the governor of agents failed.', { error: String(error) }))
  const queue: Waiting[] = []
  const places = new Map<Agent, Undo>()
  /** How many calls of an agent wait for children of its own; its place is back when none does. */
  const loans = new Map<Agent, number>()
  const totals = new Map<string, number>()
  /** Until when, by provider. */
  const pauses = new Map<string, { readonly until: number; readonly stop: Undo }>()
  let running = 0

  const isPaused = (provider: string | undefined) => provider !== undefined && pauses.has(provider)

  /** Give out what is free: the oldest first, but nobody waits for the pause of a provider they do not ask. */
  function drain(): void {
    for (;;) {
      const next = running < limits().maxConcurrent ? queue.findIndex(({ provider }) => !isPaused(provider)) : -1
      if (next < 0) return changes.emit()
      const [waiting] = queue.splice(next, 1)
      running += 1
      waiting?.grant()
    }
  }

  function releaseOnce(): Undo {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      running -= 1
      drain()
    }
  }

  function take(provider: string | undefined, signal: AbortSignal, isFirst = false): Promise<Undo> {
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        provider,
        grant() {
          signal.removeEventListener('abort', onAbort)
          resolve(releaseOnce())
        },
      }
      const onAbort = () => {
        const at = queue.indexOf(waiting)
        if (at < 0) return
        queue.splice(at, 1)
        reject(signal.reason as Error)
        changes.emit()
      }
      signal.addEventListener('abort', onAbort, { once: true })
      if (isFirst) queue.unshift(waiting)
      else queue.push(waiting)
      drain()
    })
  }

  const depthOf = (agent: Agent): number => {
    let owners = 0
    for (let owner = agent.owner; owner !== undefined; owner = owner.owner) owners += 1
    return Math.max(owners, agent.session.header.delegationDepth ?? 0)
  }

  function checkDepth(parent: Agent, maxDepth: ChildRequest['maxDepth'] = limits().maxDepth): void {
    if (maxDepth === 'provider-managed') return
    const own = depthOf(parent)
    if (!Number.isSafeInteger(own)) throw new RangeError(`The depth of this agent is ${own}, which is no whole number, so it may start none.`)
    if (!Number.isSafeInteger(maxDepth) || maxDepth < 0) throw new RangeError(`The greatest depth of agents is ${maxDepth}, but must be a whole number of 0 or more. Correct the configuration.`)
    const most = Math.min(maxDepth, limits().maxDepth)
    if (own + 1 <= most) return
    throw new SubagentError('DEPTH_EXCEEDED', `An agent at depth ${own + 1} was asked for, and ${most} is the greatest depth allowed. Do the work yourself.`)
  }

  const admit: GovernorBook['admit'] = ({ parent, maxDepth }) => {
    checkDepth(parent, maxDepth)
    const root = rootOf(parent).id
    const started = totals.get(root) ?? 0
    const { maxTotal } = limits()
    if (started >= maxTotal)
      throw new SubagentError('FAN_OUT_EXCEEDED', `This session has started ${started} agents, and ${maxTotal} is the most it may start. Finish with what there is, or ask the person to raise bosun.subagents.maxTotal.`)
    totals.set(root, started + 1)
  }

  return {
    admit,
    async enter(request) {
      admit(request)
      return take(request.provider, request.signal)
    },
    place: ({ signal, provider }) => take(provider, signal),

    bind: (agent, release) => void places.set(agent, release),
    async ensure(agent, { signal, provider }) {
      if (places.has(agent)) return
      const release = await agent.untimed(() => take(provider, signal))
      places.set(agent, release)
    },
    hasPlace: (agent) => places.has(agent),
    rest(agent) {
      const release = places.get(agent)
      places.delete(agent)
      loans.delete(agent)
      release?.()
    },

    async lend(agent, work, signal = new AbortController().signal) {
      const release = places.get(agent)
      if (release !== undefined) {
        places.delete(agent)
        loans.set(agent, 0)
        release()
      }
      const count = loans.get(agent)
      if (count === undefined) return work()
      loans.set(agent, count + 1)
      try {
        return await work()
      } finally {
        await takeBack(agent, signal)
      }
    },

    depthOf,
    checkDepth,
    get running() {
      return running
    },
    get queued() {
      return queue.length
    },
    get limits() {
      return limits()
    },

    backOff(provider, delayMs) {
      const until = clock.monotonicMs() + delayMs
      const before = pauses.get(provider)
      if (before !== undefined && before.until >= until) return
      before?.stop()
      const stop = clock.schedule(delayMs, () => {
        pauses.delete(provider)
        drain()
      })
      pauses.set(provider, { until, stop })
    },
    refresh: drain,
    onDidChange: (listener) => changes.listen(listener),
    dispose() {
      for (const { stop } of pauses.values()) stop()
      pauses.clear()
    },
  }

  /** Before all others, since whoever waits for this agent holds more than it. A stopped call goes on without: it starts nothing more. */
  async function takeBack(agent: Agent, signal: AbortSignal): Promise<void> {
    const left = (loans.get(agent) ?? 0) - 1
    if (left > 0) return void loans.set(agent, left)
    loans.delete(agent)
    if (left < 0 || signal.aborted || agent.isDisposed) return
    try {
      const release = await agent.untimed(() => take(undefined, signal, true))
      // It came to rest meanwhile: there is nothing left to hold a place for.
      if (agent.status === 'idle' || places.has(agent)) release()
      else places.set(agent, release)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}

function rootOf(agent: Agent): Agent {
  let root = agent
  while (root.owner !== undefined) root = root.owner
  return root
}
