import { isErrorOf } from '../../base/harness-error.ts'
import { messageOf } from '../../base/message-of.ts'
import type { BlobStore, SessionUsage } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { EventStoreError } from '../../capabilities/event-store.ts'
import type { Logger } from '../../capabilities/logger.ts'
import { everyLayer, type Context, type Dispatcher, type Emit, type Plugin } from '../kernel/plugin.ts'
import { settings } from '../settings/specs.ts'
import { createClockWatch, type ClockWatch } from './clock-watch.ts'
import type { SessionSummary } from './session.ts'

declare module '../kernel/plugin.ts' {
  interface ExtensionPoints {
    /** Sessions that `sessions.retentionDays` took away, after they are gone. A throw is contained. */
    'session/expired': Emit<[sessions: readonly Pick<SessionSummary, 'id' | 'title'>[]]>
    /** Spilled output that `sessions.maxSpillMb` took away, after it is gone. A throw is contained. */
    'session/spill-dropped': Emit<[freed: { readonly bytes: number; readonly sessions: number }]>
  }
}

export interface RetentionParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly dispatch: Dispatcher
  readonly blobs: Pick<BlobStore, 'usage' | 'dropSpill'>
}

/** Nobody waits for it: it looks once the application has long been up, and now and then. */
const FIRST_LOOK_MS = 60_000
const NEXT_LOOK_MS = 6 * 3_600_000
const DAY_MS = 86_400_000
const MEGABYTE = 1_000_000

/**
 * Takes sessions away that nobody touched for as many days as `sessions.retentionDays` says; none by default, and none while the clock
 * was just set: what is old by it may be of yesterday. Takes spilled output over what `sessions.maxSpillMb` allows, that of the sessions
 * untouched for longest first.
 */
export function retentionPlugin(parts: RetentionParts): Plugin {
  return {
    name: 'retention',
    inject: ['sessions', 'settings'],
    apply(ctx) {
      let cancel = (): void => {}
      let work = Promise.resolve()
      const watch = createClockWatch(parts.clock)
      const lookIn = (delayMs: number): void => {
        cancel = parts.clock.schedule(delayMs, () => {
          work = removeExpired(ctx, parts, watch)
            .then(() => dropSpill(ctx, parts))
            .catch((error: unknown) => parts.logger.error('Old sessions could not be looked for.', { error: messageOf(error) }))
          lookIn(NEXT_LOOK_MS)
        })
      }
      lookIn(FIRST_LOOK_MS)
      return () => {
        cancel()
        return work
      }
    },
  }
}

async function removeExpired({ sessions, settings: read }: Context, { clock, logger, dispatch }: RetentionParts, watch: ClockWatch): Promise<void> {
  const days = read.get(settings.sessionsRetentionDays)
  const hasJumped = watch.hasJumped()
  if (days === 0) return
  if (hasJumped) return logger.info('The clock was set, or the machine slept; old sessions are looked for later.')
  const touchedSince = clock.now() - days * DAY_MS
  const gone: SessionSummary[] = []
  for (const session of expiredSessions(await sessions.list(), touchedSince)) {
    try {
      if (await sessions.expire(session.id, touchedSince)) gone.push(session)
    } catch (error) {
      // Another window has it open, or took it away already.
      if (isErrorOf(EventStoreError, error, 'SESSION_BUSY') || isErrorOf(EventStoreError, error, 'SESSION_NOT_FOUND')) continue
      logger.warn('An old session could not be deleted.', { session: session.id, error: messageOf(error) })
    }
  }
  if (gone.length === 0) return
  logger.info('Sessions older than the setting sessions.retentionDays were deleted.', { days, sessions: gone.map(({ id }) => id) })
  dispatch.emit('session/expired', everyLayer, [gone])
}

async function dropSpill({ sessions, settings: read }: Context, { blobs, logger, dispatch }: RetentionParts): Promise<void> {
  const cap = read.get(settings.sessionsMaxSpillMb)
  if (cap === 0) return
  const usage = await blobs.usage()
  if (usage.reduce((sum, { spill }) => sum + spill, 0) <= cap * MEGABYTE) return
  const freed: { readonly id: string; readonly bytes: number }[] = []
  for (const { id, bytes } of spillToDrop(usage, await sessions.list(), cap * MEGABYTE)) {
    if (sessions.live(id) !== undefined) continue
    await blobs.dropSpill(id)
    freed.push({ id, bytes })
  }
  if (freed.length === 0) return
  const bytes = freed.reduce((sum, one) => sum + one.bytes, 0)
  logger.info('Spilled output over the setting sessions.maxSpillMb was deleted.', { bytes, sessions: freed.map(({ id }) => id) })
  dispatch.emit('session/spill-dropped', everyLayer, [{ bytes, sessions: freed.length }])
}

/** Whose spilled output goes, so that what stays fits: that of the sessions untouched for longest, never of one that is open; what belongs to no session goes first. */
export function spillToDrop(usage: readonly SessionUsage[], sessions: readonly SessionSummary[], maxBytes: number): readonly { readonly id: string; readonly bytes: number }[] {
  const byId = new Map(sessions.map((session) => [session.id, session]))
  const touchedAt = (id: string) => byId.get(id)?.updatedAt ?? 0
  let total = usage.reduce((sum, { spill }) => sum + spill, 0)
  const dropped: { readonly id: string; readonly bytes: number }[] = []
  for (const { sessionId: id, spill: bytes } of usage.toSorted((one, other) => touchedAt(one.sessionId) - touchedAt(other.sessionId))) {
    if (total <= maxBytes) break
    if (bytes === 0 || byId.get(id)?.isLive === true) continue
    dropped.push({ id, bytes })
    total -= bytes
  }
  return dropped
}

/**
 * Those that may go: whole families (a session, its forks, what agents of theirs started) of which nothing was touched since
 * `touchedAfter`, nothing is open, nothing was named by a person and nothing is unreadable. Children go before their parents.
 */
export function expiredSessions(sessions: readonly SessionSummary[], touchedAfter: number): readonly SessionSummary[] {
  const parentOf = ({ forkedFrom, startedBy }: SessionSummary) => forkedFrom ?? startedBy
  const byId = new Map(sessions.map((session) => [session.id, session]))
  const rootOf = (session: SessionSummary): string => {
    const seen = new Set<string>()
    let at = session
    for (let parent = byId.get(parentOf(at) ?? ''); parent !== undefined && !seen.has(at.id); parent = byId.get(parentOf(at) ?? '')) {
      seen.add(at.id)
      at = parent
    }
    return at.id
  }
  const kept = new Set(sessions.filter(({ isLive, isNamed, problem, updatedAt }) => isLive || isNamed || problem !== undefined || updatedAt >= touchedAfter).map(rootOf))
  return sessions.filter((session) => !kept.has(rootOf(session))).sort((left, right) => right.createdAt - left.createdAt)
}
