import type { Agent } from '../../core/session/agent.ts'
import type { BookParts } from './book-parts.ts'
import type { Held } from './held.ts'
import type { Records } from './records.ts'
import type { Transitions } from './transitions.ts'

/** What runs or is on its way there is ended, with everything that came of it. */
export function createStops({ dispatch }: Pick<BookParts, 'dispatch'>, { records, abandon }: { readonly records: Records } & Pick<Transitions, 'abandon'>) {
  const { sessions, frameChanges, pluginChanges, report, logRun, news, lostNotice } = records

  function stop(agent: Agent, held: Held, reason: string | undefined, state: 'stopped' | 'lost' = 'stopped'): Promise<{ readonly wasRunning: boolean }> {
    held.stopping ??= ended(agent, held, reason, state).finally(() => {
      delete held.stopping
      pluginChanges.emit(agent.id)
    })
    return held.stopping
  }

  async function ended(agent: Agent, held: Held, reason: string | undefined, state: 'stopped' | 'lost'): Promise<{ readonly wasRunning: boolean }> {
    // What follows looks at `stopping`, which is set when this has been called.
    await Promise.resolve()
    const { next } = held
    const wasRunning = held.current !== undefined || next !== undefined
    if (next !== undefined) {
      const words = reason ?? 'It was stopped before it had started.'
      if (next.isCommitting) await next.done.promise
      else if (next.isAwaiting) await abandon(agent, held, next, words)
      else {
        await next.run.host?.stop(words)
        await next.done.promise
      }
    }
    const { current } = held
    if (current !== undefined) {
      delete held.current
      // Each goes whatever becomes of the other: a program that nobody holds any more would run on.
      await current.fiber?.dispose().catch(report)
      await current.host?.stop(reason ?? 'The plugin was stopped.').catch(report)
      logRun(agent, held, current, state, reason)
      dispatch.emit('cordis/dynamic-retract', agent.scope, [news(agent, held, current)])
    }
    delete held.failure
    frameChanges.emit(agent.id)
    return { wasRunning }
  }

  async function endAllOf(agent: Agent, why: string): Promise<void> {
    const session = sessions.get(agent.id)
    if (session === undefined || session.agent !== agent) return
    const running = [...session.plugins.values()].filter(({ current, next }) => current !== undefined || next !== undefined)
    await Promise.all(running.map((held) => stop(agent, held, why, agent.isDisposed ? 'lost' : 'stopped')))
    // Heard when the session is taken up again.
    if (agent.isDisposed && running.length > 0 && agent.session.access === 'write') agent.inject(lostNotice(agent, running.map(({ pluginId }) => pluginId)))
  }

  return { stop, endAllOf }
}
