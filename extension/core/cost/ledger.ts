import { messageOf } from '../../base/message-of.ts'
import type { Undo } from '../../base/undo.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Projections } from '../projections/projection.ts'
import type { Session, Sessions } from '../session/session.ts'
import { addCosts, costProjection, dayOf, noCost, type CostSum, type SessionCost } from './cost-projection.ts'

/** What sessions cost together with those they started, and what a day cost. Kept up live; what is stored is read once, when somebody asks. */
export interface CostLedger {
  /** The session that the person began, at the top of `sessionId`'s line. */
  rootOf(sessionId: string): Promise<string>
  /** `sessionId` and all that it started, and what those started. */
  treeCost(sessionId: string): Promise<CostSum>
  /** The same from what is known by now; complete once `treeCost` was awaited. */
  knownTreeCost(sessionId: string): CostSum
  /** All sessions on this machine. Those of other windows as they were up to a minute ago. */
  dayCost(time: number): Promise<CostSum>
  /** A session's own, if it is known by now. */
  ownCost(sessionId: string): SessionCost | undefined
  /** Called with each session whose own cost changed. */
  onDidChange(listener: (sessionId: string) => void): Undo
  readonly dispose: Undo
}

/** What other windows spend is looked for this often. */
const DAY_STALE_MS = 60_000
/** A session whose last word is older has spent nothing today: a turn in which nothing was said for so long is no more. */
const LONGEST_TURN_MS = 3 * 24 * 3_600_000

export function createCostLedger({ sessions, projections, logger, now }: {
  readonly sessions: Sessions
  readonly projections: Projections
  readonly logger: Logger
  readonly now: () => number
}): CostLedger & { readonly opened: (session: Session) => void } {
  const own = new Map<string, SessionCost>()
  const parents = new Map<string, string>()
  const children = new Map<string, Set<string>>()
  const listeners = new Set<(sessionId: string) => void>()
  /** The links between stored sessions, read once. */
  let links: Promise<void> | null = null
  /** Sums of a day of sessions that are not live here. */
  let stored: { readonly day: string; readonly at: number; readonly sums: ReadonlyMap<string, CostSum> } | null = null

  /** Headers are other hands' work: a circle of them is cut where it would close. */
  const isUnder = (id: string, above: string) => {
    let at: string | undefined = id
    while (at !== undefined && at !== above) at = parents.get(at)
    return at === above
  }
  const link = (id: string, parent: string | undefined) => {
    if (parent === undefined || parents.has(id) || isUnder(parent, id)) return
    parents.set(id, parent)
    const known = children.get(parent)
    if (known) known.add(id)
    else children.set(parent, new Set([id]))
  }
  const stop = projections.onDidChange(({ sessionId, key, value }) => {
    if (key !== costProjection.key) return
    // Only this unit has this key.
    own.set(sessionId, value as SessionCost)
    for (const listener of listeners) listener(sessionId)
  })

  async function readLinks(): Promise<void> {
    for (const { id, startedBy } of await sessions.list()) link(id, startedBy)
  }
  function linksRead(): Promise<void> {
    links ??= readLinks().catch((error: unknown) => {
      links = null
      throw error
    })
    return links
  }
  /** A session that cannot be read costs what is known of it, and the log says so. */
  async function load(id: string): Promise<void> {
    if (own.has(id)) return
    try {
      const value = await sessions.valueOf(id, costProjection.key)
      if (value !== undefined && !own.has(id)) own.set(id, value as SessionCost)
    } catch (error) {
      logger.warn('The cost of a session could not be read.', { session: id, error: messageOf(error) })
    }
  }
  async function loadTree(id: string): Promise<void> {
    await load(id)
    for (const child of children.get(id) ?? []) await loadTree(child)
  }
  function knownTreeCost(id: string): CostSum {
    let sum = own.get(id)?.total ?? noCost
    for (const child of children.get(id) ?? []) sum = addCosts(sum, knownTreeCost(child))
    return sum
  }

  async function storedDay(day: string): Promise<ReadonlyMap<string, CostSum>> {
    const at = now()
    if (stored?.day === day && at - stored.at < DAY_STALE_MS) return stored.sums
    const sums = new Map<string, CostSum>()
    for (const { id, isLive, problem, updatedAt } of await sessions.list()) {
      if (isLive || problem !== undefined || updatedAt < at - LONGEST_TURN_MS) continue
      const value = await sessions.valueOf(id, costProjection.key).catch(() => undefined)
      const sum = (value as SessionCost | undefined)?.days[day]
      if (sum !== undefined) sums.set(id, sum)
    }
    stored = { day, at, sums }
    return sums
  }

  return {
    opened(session) {
      const { id, header } = session
      if (header.origin === 'subagent') link(id, header.parentSession)
      const value = session.projections().values[costProjection.key]
      if (value !== undefined) own.set(id, value as SessionCost)
    },
    async rootOf(sessionId) {
      await linksRead()
      let id = sessionId
      for (let parent = parents.get(id); parent !== undefined; parent = parents.get(id)) id = parent
      return id
    },
    async treeCost(sessionId) {
      await linksRead()
      await loadTree(sessionId)
      return knownTreeCost(sessionId)
    },
    knownTreeCost,
    async dayCost(time) {
      const day = dayOf(time)
      let sum = noCost
      for (const [id, cost] of await storedDay(day)) if (!own.has(id)) sum = addCosts(sum, cost)
      for (const cost of own.values()) sum = addCosts(sum, cost.days[day] ?? noCost)
      return sum
    },
    ownCost: (sessionId) => own.get(sessionId),
    onDidChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    dispose: stop,
  }
}
