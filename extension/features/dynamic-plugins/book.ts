import { Emitter } from '../../base/emitter.ts'
import { isErrorOf } from '../../base/harness-error.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { Agent } from '../../core/session/agent.ts'
import { createApprovals, type Approvals } from './approval.ts'
import type { BookParts } from './book-parts.ts'
import { createClientHalf } from './client-half.ts'
import { halvesOf } from './code-question.ts'
import { createDefining } from './define.ts'
import { DynamicPluginError } from './error.ts'
import { namesOf, stateOf, type Held, type SessionPlugins } from './held.ts'
import type { LoggedPlugin } from './journal.ts'
import { KeptFiles } from './kept-files.ts'
import { createRecords, PLUGIN } from './records.ts'
import type { ClientEvent, DynamicPlugins, PluginFacts } from './service.ts'
import { createStops } from './stop.ts'
import { createTransitions } from './transitions.ts'

/** What the rest of the feature asks beyond the service. */
export interface DynamicPluginBook extends DynamicPlugins, Approvals {
  /** A session that was stored is there again: what was running when it went is told as lost. */
  resume(agent: Agent): void
  endAllOf(agent: Agent, why: string): Promise<void>
  endAll(why: string): Promise<void>
  /**
   * As `endAll`, and whoever had plugins is told: what they brought goes while the session goes on. Never rejects: a failure in one session
   * is logged, and the others are told all the same.
   */
  turnOff(why: string): Promise<void>
  problemChanged(): void
}

const idPattern = /^[a-z]{3,6}-\d{1,9}$/
const packagePattern = /^pkg-\d{1,9}$/

/** The one owner of all plugins that models write, of every session. Source: runtime specification 22. */
export function createDynamicPlugins(parts: BookParts): DynamicPluginBook {
  const { machine, dispatch, inspectors } = parts
  const files = new KeptFiles(parts.files)
  const records = createRecords(parts)
  const { sessions, report, frameChanges, pluginChanges, folderOf, mustBeOn, sessionOf, heldOf, packageOf, log, lostNotice } = records
  const clientEvents = new Emitter<ClientEvent>(report)
  const problemChanges = new Emitter<void>(report)
  const defining = createDefining(parts, { records, files })
  const { define } = defining
  const { run, abandon, conclude } = createTransitions(parts, { records, onEmit: (event) => clientEvents.emit(event) })
  const { stop, endAllOf } = createStops(parts, { records, abandon })
  const clientHalf = createClientHalf({ records, conclude })
  const approvals = createApprovals(parts, { records, ...defining })

  async function stopFor(agent: Agent, plugins: SessionPlugins['plugins'], why: string): Promise<void> {
    const running = [...plugins.values()].flatMap(({ pluginId, current, next }) => (current === undefined && next === undefined ? [] : [pluginId]))
    await endAllOf(agent, why)
    if (running.length === 0 || agent.isDisposed || agent.session.access !== 'write') return
    const were = running.length === 1 ? `The plugin ${running[0] ?? ''} was` : `The plugins ${running.join(', ')} were`
    agent.inject(noticeMessage({ id: machine.randomId(), plugin: PLUGIN, text: `${were} stopped, with everything that came of it: ${why}`, summary: `${were} stopped: ${why}` }))
  }

  function factsOf(agent: Agent, held: Held): PluginFacts {
    const { pluginId, current, next, failure } = held
    return {
      pluginId,
      state: stateOf(held),
      ...(failure !== undefined && { reason: failure }),
      ...(held.currentPackageId !== undefined && { currentPackageId: held.currentPackageId }),
      ...(next !== undefined && { nextPackageId: next.run.pack.packageId }),
      ...(current !== undefined && { runId: current.runId }),
      tools: current === undefined ? [] : namesOf(current),
      handlers: current?.declared.handlers ?? [],
      packages: [...held.packages.values()].map(({ packageId, name, purpose, code, isApproved }) => ({ packageId, name, purpose, halves: halvesOf(code), folder: folderOf(agent.id, pluginId, packageId), isApproved })),
    }
  }

  function lostFacts(agent: Agent, { pluginId, packages, currentPackageId }: LoggedPlugin): PluginFacts {
    return {
      pluginId,
      state: 'lost',
      reason: 'The process that held it is gone; its files are there.',
      ...(currentPackageId !== undefined && { currentPackageId }),
      tools: [],
      handlers: [],
      packages: packages.map(({ packageId, name, purpose, halves }) => ({ packageId, name, purpose, halves, folder: folderOf(agent.id, pluginId, packageId), isApproved: false })),
    }
  }

  return {
    get isEnabled() {
      return parts.problem() === undefined
    },
    get problem() {
      return parts.problem()
    },
    define: (agent, source, call) => define(agent, source, { ...(call && { call }) }),
    run,
    async stop(agent, pluginId, reason) {
      mustBeOn(agent)
      const session = sessionOf(agent)
      if (session.lost.has(pluginId)) return { wasRunning: false }
      return await stop(agent, heldOf(session, pluginId), reason)
    },
    async undefine(agent, pluginId) {
      mustBeOn(agent)
      const session = sessionOf(agent)
      const isLost = session.lost.has(pluginId)
      const { wasRunning } = isLost ? { wasRunning: false } : await stop(agent, heldOf(session, pluginId), undefined)
      // Somebody may have done the same meanwhile.
      if (!session.plugins.delete(pluginId) && !session.lost.delete(pluginId)) return { wasRunning }
      log(agent, { type: 'cordis/removed', ignorable: true, data: { pluginId, wasRunning } })
      pluginChanges.emit(agent.id)
      return { wasRunning }
    },
    async restore(agent, pluginId, packageId) {
      mustBeOn(agent)
      if (!idPattern.test(pluginId) || !packagePattern.test(packageId)) throw new DynamicPluginError('NOT_RESTORABLE', `Name a plugin and a package, such as hello-1 pkg-1; got ${pluginId} ${packageId}.`)
      const session = sessionOf(agent)
      const isKnown = session.plugins.has(pluginId) || session.lost.has(pluginId)
      if (!isKnown) throw new DynamicPluginError('NOT_RESTORABLE', `This session has no plugin ${pluginId}. /plugins lists those it has.`)
      let failure: unknown
      for (const id of [agent.id, ...parts.ancestors(agent.id)]) {
        try {
          const { name, purpose, code } = await files.read(folderOf(id, pluginId, packageId))
          return await define(agent, { plugin: { kind: 'existing', pluginId }, name, purpose, code }, { restoredFrom: packageId })
        } catch (error) {
          if (!isErrorOf(DynamicPluginError, error, 'NOT_RESTORABLE')) throw error
          failure ??= error
        }
      }
      throw failure
    },
    list(agent) {
      const session = sessionOf(agent)
      return [...[...session.lost.values()].map((lost) => lostFacts(agent, lost)), ...[...session.plugins.values()].map((held) => factsOf(agent, held))]
    },
    codeOf: (agent, pluginId, packageId) => packageOf(heldOf(sessionOf(agent), pluginId), packageId).code,
    linesOf(agent, pluginId) {
      const held = sessionOf(agent).plugins.get(pluginId)
      return (held?.current ?? held?.next?.run)?.host?.lines ?? []
    },
    inspectors: () => inspectors.list(),
    async inspect(agent, query) {
      mustBeOn(agent)
      const facts = { agent, platform: query.platform, provider: query.provider, method: query.method }
      dispatch.emit('cordis/inspect-query', agent.scope, [facts])
      let isError = true
      try {
        const answer = await inspectors.query(query, agent.scope)
        isError = false
        return answer
      } finally {
        dispatch.emit('cordis/inspect-query-resolved', agent.scope, [{ ...facts, isError }])
      }
    },
    frames: clientHalf.frames,
    onFramesChanged: (listener) => frameChanges.listen(listener),
    callFromClient: clientHalf.callFromClient,
    frameReported: clientHalf.frameReported,
    onClientEvent: (listener) => clientEvents.listen(listener),
    onDidChange: (listener) => pluginChanges.listen(listener),
    ...approvals,
    resume(agent) {
      if (agent.session.access !== 'write') return
      const { lost } = sessionOf(agent)
      const gone = [...lost.values()].flatMap(({ pluginId, run: last }) => (last !== undefined && ['starting', 'awaiting-client', 'running'].includes(last.state) ? [{ pluginId, last }] : []))
      for (const { pluginId, last } of gone) log(agent, { type: 'cordis/run', ignorable: true, data: { pluginId, packageId: last.packageId, runId: last.runId, state: 'lost', reason: 'The window that held it was closed.' } })
      if (gone.length > 0) agent.inject(lostNotice(agent, gone.map(({ pluginId }) => pluginId)))
    },
    async endAllOf(agent, why) {
      await endAllOf(agent, why)
      if (agent.isDisposed && sessions.get(agent.id)?.agent === agent) {
        sessions.delete(agent.id)
        frameChanges.emit(agent.id)
      }
    },
    async endAll(why) {
      await Promise.all([...sessions.values()].map(({ agent }) => endAllOf(agent, why)))
    },
    async turnOff(why) {
      await Promise.all(
        [...sessions.values()].map(async ({ agent, plugins }) => {
          try {
            await stopFor(agent, plugins, why)
          } catch (error) {
            report(error)
          }
        }),
      )
    },
    onDidChangeProblem: (listener) => problemChanges.listen(listener),
    problemChanged() {
      // What was allowed was allowed while they were on.
      if (parts.problem() !== undefined) for (const { plugins } of sessions.values()) for (const { packages } of plugins.values()) for (const pack of packages.values()) pack.isApproved = false
      problemChanges.emit()
    },
  }
}
