import type { Logger } from '../../capabilities/logger.ts'
import { thrownLine } from '../../base/thrown-text.ts'
import type { Undo } from '../../base/undo.ts'
import { everyLayer } from './plugin.ts'
import type { Dispatcher, ListenOptions, PointName, ScopeKey } from './plugin.ts'
import { isAtOrAbove } from './scope-chain.ts'

type AnyListener = (...args: unknown[]) => unknown

interface Entry {
  readonly call: AnyListener
  readonly scope: ScopeKey | null
  readonly owner: string
  /** Taken back: it hears nothing more, also of a dispatch that had begun. */
  isGone: boolean
}

/** Through the listeners of a point as they were when `table` held them. */
interface Way {
  readonly table: readonly Entry[] | undefined
  /** By an earlier table. */
  readonly asked: readonly Entry[]
  readonly waiting: readonly Entry[]
}

export interface ListenerTable {
  add(name: PointName, entry: { call: unknown; scope: ScopeKey | null; owner: string }, options?: ListenOptions): Undo
  readonly dispatch: Dispatcher
}

/**
 * The listeners of every extension point, and the four ways to run them.
 *
 * No listener is called once it was taken back. One that comes while a dispatch runs is left out of it, but a waterfall asks
 * it too: a policy that restarts while another waits for the person still judges the call. Order is that of registration,
 * `prepend` first.
 */
export function createListenerTable(logger: Logger): ListenerTable {
  const points = new Map<string, Entry[]>()

  const entriesFor = (name: string, scope: ScopeKey | null): Entry[] =>
    (points.get(name) ?? []).filter((entry) => scope === everyLayer || isAtOrAbove(entry.scope, scope))

  const report = (name: string, owner: string, error: unknown): void =>
    logger.error(`A listener of ${name} failed.`, { plugin: owner, error: thrownLine(error) })

  /** A listener that is async by mistake must not end the process with an unhandled rejection. */
  const containPromise = (name: string, owner: string, outcome: unknown): void => {
    if (typeof outcome === 'object' && outcome !== null) Promise.resolve(outcome).catch((error: unknown) => report(name, owner, error))
  }

  // The casts below hold the table untyped inside; `on` and `Dispatcher` are typed by point name.
  const dispatch: Dispatcher = {
    waterfall(name, scope, args, last) {
      const run = (way: Way, at: number): Promise<never> => {
        const table = points.get(name)
        // A listener may wait for long, for a person say: those behind it are whoever is there when their turn comes.
        if (table !== way.table) return run(wayFrom(table, [...way.asked, ...way.waiting.slice(0, at)]), 0)
        const entry = way.waiting[at]
        try {
          const outcome = entry ? entry.call(...(args as unknown[]), () => run(way, at + 1)) : last()
          return (outcome instanceof Promise ? outcome : Promise.resolve(outcome)) as Promise<never>
        } catch (error) {
          return Promise.reject(error)
        }
      }
      const wayFrom = (table: readonly Entry[] | undefined, asked: readonly Entry[]): Way => ({
        table,
        asked,
        waiting: entriesFor(name, scope).filter((entry) => !asked.includes(entry)),
      })
      return run(wayFrom(points.get(name), []), 0)
    },
    async serial(name, scope, args) {
      for (const entry of entriesFor(name, scope)) if (!entry.isGone) await entry.call(...(args as unknown[]))
    },
    async parallel(name, scope, args) {
      const outcomes = await Promise.allSettled(
        entriesFor(name, scope).map(async (entry) => (entry.isGone ? undefined : entry.call(...(args as unknown[])))),
      )
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed) throw failed.reason
    },
    emit(name, scope, args) {
      for (const entry of entriesFor(name, scope)) {
        if (entry.isGone) continue
        try {
          containPromise(name, entry.owner, entry.call(...(args as unknown[])))
        } catch (error) {
          report(name, entry.owner, error)
        }
      }
    },
    emitStrict(name, scope, args) {
      for (const entry of entriesFor(name, scope)) {
        if (!entry.isGone) containPromise(name, entry.owner, entry.call(...(args as unknown[])))
      }
    },
  }

  return {
    add(name, { call, scope, owner }, options) {
      const entry: Entry = { call: call as AnyListener, scope, owner, isGone: false }
      const before = points.get(name) ?? []
      points.set(name, options?.prepend ? [entry, ...before] : [...before, entry])
      return () => {
        entry.isGone = true
        const rest = (points.get(name) ?? []).filter((other) => other !== entry)
        if (rest.length > 0) points.set(name, rest)
        else points.delete(name)
      }
    },
    dispatch,
  }
}
