import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Dispatcher, Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/session/session.ts'
import { createObservations } from './observations.ts'

/** Offers `observations`, lets `fs/write-intent` and `fs/edit-intent` listeners decide in its place, tells `fs/observed` listeners, and follows files that the person renames in the editor. */
export function observationPlugin(needs: {
  readonly files: Pick<FileSystem, 'onDidRename'>
  readonly dispatch: Pick<Dispatcher, 'emit' | 'waterfall'>
  readonly logger: Logger
}): Plugin {
  return {
    name: 'observation',
    apply(ctx) {
      const observations = createObservations({
        logger: needs.logger,
        onObserved: (news) => needs.dispatch.emit('fs/observed', news.agent?.scope ?? null, [news]),
      })
      const { dispatch } = needs
      ctx.provide('observations', {
        observe: observations.observe,
        textOf: observations.textOf,
        disclose: observations.disclose,
        writeIntent: (agent, target, stat) =>
          dispatch.waterfall('fs/write-intent', agent?.scope ?? null, [{ ...(agent && { agent }), target, stat }], async () => observations.writeIntent(agent, target, stat)),
        editIntent: (agent, target) => dispatch.waterfall('fs/edit-intent', agent?.scope ?? null, [{ ...(agent && { agent }), target }], async () => observations.editIntent(agent, target)),
      })
      ctx.on('session/disposed', (session) => observations.forget(session))
      return needs.files.onDidRename?.((from, to) => observations.rename(from, to))
    },
  }
}
