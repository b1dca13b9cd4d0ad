import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Dispatcher, Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/session/session.ts'
import { createObservations } from './observations.ts'

/** Offers `observations`, tells `fs/observed` listeners, and follows files that the person renames in the editor. */
export function observationPlugin(needs: {
  readonly files: Pick<FileSystem, 'onDidRename'>
  readonly dispatch: Pick<Dispatcher, 'emit'>
  readonly logger: Logger
}): Plugin {
  return {
    name: 'observation',
    apply(ctx) {
      const observations = createObservations({
        logger: needs.logger,
        onObserved: (news) => needs.dispatch.emit('fs/observed', news.agent?.scope ?? null, [news]),
      })
      ctx.provide('observations', observations)
      ctx.on('session/disposed', (session) => observations.forget(session))
      return needs.files.onDidRename?.((from, to) => observations.rename(from, to))
    },
  }
}
