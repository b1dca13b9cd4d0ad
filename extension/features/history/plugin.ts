import type { Clock } from '../../capabilities/clock.ts'
import type { EventStore } from '../../capabilities/event-store.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { SearchIndexHost } from '../../capabilities/search-index.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/log/event-types.ts'
import type {} from '../../core/session/retention.ts'
import type { Session } from '../../core/session/session.ts'
import { settings } from '../../core/settings/specs.ts'
import type {} from '../../core/settings/settings.ts'
import { SessionHistory } from './history.ts'
import { SessionIndexer } from './indexer.ts'
import { SessionLogs } from './session-logs.ts'
import type {} from './service.ts'

export interface HistoryPluginParts {
  readonly events: EventStore
  readonly files: FileSystem
  readonly index: SearchIndexHost
  readonly clock: Clock
  readonly logger: Logger
}

/** Offers `history`: sessions searched by their words, and read. The index is opened with the first use, or a while after the start. */
export function historyPlugin({ events, files, index, clock, logger }: HistoryPluginParts): Plugin {
  return {
    name: 'history',
    inject: ['eventTypes', 'sessions', 'settings'],
    apply(ctx) {
      const { eventTypes: types, sessions } = ctx
      const open = new Map<string, Session>()
      const logs = new SessionLogs({ events, sessions, types, clock })
      const indexer = new SessionIndexer({ host: index, logs, events, types, clock, logger, isEnabled: () => ctx.settings.get(settings.historyIndex) })
      ctx.on('session/created', (session) => {
        open.set(session.id, session)
        if (session.access === 'write') indexer.note(session)
      })
      ctx.on('session/event', (session, event) => {
        if (event.type !== 'assistant/chunk') indexer.note(session)
      })
      ctx.on('session/disposed', (session) => {
        open.delete(session.id)
        indexer.invalidate()
      })
      ctx.on('session/expired', () => indexer.invalidate())
      ctx.provide('history', new SessionHistory({ indexer, logs, events, sessions, live: () => open.values(), types, files, clock, logger }))
      indexer.start()
      return () => indexer.dispose()
    },
  }
}
