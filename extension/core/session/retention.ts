import { isErrorOf } from '../../base/harness-error.ts'
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
  }
}

export interface RetentionParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly dispatch: Dispatcher
}

/** Nobody waits for it: it looks once the application has long been up, and now and then. */
const FIRST_LOOK_MS = 60_000
const NEXT_LOOK_MS = 6 * 3_600_000
const DAY_MS = 86_400_000

/**
 * Takes sessions away that nobody touched for as many days as `sessions.retentionDays` says; none by default, and none while the clock
 * was just set: what is old by it may be of yesterday.
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
          work = removeExpired(ctx, parts, watch).catch((error: unknown) => parts.logger.error('Old sessions could not be looked for.', { error: messageOf(error) }))
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

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
