import { Emitter } from '../../base/emitter.ts'
import type { EventDraft } from '../../core/log/event.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { BookParts } from './book-parts.ts'
import { DynamicPluginError } from './error.ts'
import type {} from './events.ts'
import type { Held, Package, Run, SessionPlugins } from './held.ts'
import { readJournal, type Journal } from './journal.ts'
import type { DynamicRunState } from './service.ts'

/** As what it speaks to the model. */
export const PLUGIN = 'dynamic-plugins'

/** See `createRecords`. */
export type Records = ReturnType<typeof createRecords>

/** Which plugins there are, session by session, and the ways in which the log, the chats and the model hear of them. */
export function createRecords({ blobs, logger, machine, problem: problemNow }: Pick<BookParts, 'blobs' | 'logger' | 'machine' | 'problem'>) {
  const sessions = new Map<string, SessionPlugins>()
  const report = (error: unknown) => logger.error('A part of dynamic plugins failed.', { error: String(error) })
  const frameChanges = new Emitter<string>(report)
  const pluginChanges = new Emitter<string>(report)

  const folderOf = (sessionId: string, pluginId: string, packageId: string) => `${blobs.spillFolder(sessionId).replace(/[\\/]spill$/, '')}/plugins/${pluginId}/${packageId}`

  function mustBeOn(agent: Agent): void {
    const problem = problemNow()
    if (problem !== undefined) throw new DynamicPluginError('PLUGINS_OFF', problem)
    if (agent.isDisposed) throw new DynamicPluginError('NO_AGENT', 'The session of this plugin is gone.')
  }

  function sessionOf(agent: Agent): SessionPlugins {
    const known = sessions.get(agent.id)
    if (known?.agent === agent) return known
    const { plugins, highest }: Journal = readJournal(agent.session.milestones())
    const made: SessionPlugins = { agent, plugins: new Map(), lost: new Map(plugins), lastPackages: new Map(highest.packages), lastPlugin: highest.plugin, lastRun: highest.run, lastApproval: highest.approval }
    // An agent that goes is looked at, and not held again.
    if (!agent.isDisposed) sessions.set(agent.id, made)
    return made
  }

  function heldOf(session: SessionPlugins, pluginId: string): Held {
    const held = session.plugins.get(pluginId)
    if (held !== undefined) return held
    if (session.lost.has(pluginId)) throw new DynamicPluginError('UNKNOWN_PLUGIN', `The plugin ${pluginId} is gone with the process that held it. Define it again with {kind: "existing", pluginId: "${pluginId}"}; its code is kept below ${folderOf(session.agent.id, pluginId, '').replace(/\/$/, '')}.`)
    const known = [...session.plugins.keys()].join(', ')
    throw new DynamicPluginError('UNKNOWN_PLUGIN', `This session has no plugin ${pluginId}. ${known === '' ? 'Define one first.' : `It has: ${known}.`}`)
  }

  function packageOf(held: Held, packageId: string): Package {
    const pack = held.packages.get(packageId)
    if (pack === undefined) throw new DynamicPluginError('UNKNOWN_PACKAGE', `The plugin ${held.pluginId} has no package ${packageId}. It has: ${[...held.packages.keys()].join(', ')}.`)
    return pack
  }

  function log(agent: Agent, draft: EventDraft): void {
    if (agent.session.access === 'write') agent.session.append(draft)
  }

  function logRun(agent: Agent, held: Held, { runId, pack }: Run, state: DynamicRunState, reason?: string): void {
    log(agent, { type: 'cordis/run', ignorable: true, data: { pluginId: held.pluginId, packageId: pack.packageId, runId, state, ...(reason !== undefined && { reason }) } })
    pluginChanges.emit(agent.id)
  }

  function tell(agent: Agent, text: string, summary: string): void {
    if (!agent.isDisposed) agent.steer(noticeMessage({ id: machine.randomId(), plugin: PLUGIN, text, summary }))
  }

  const news = (agent: Agent, held: Held, { runId, pack: { packageId } }: Run) => ({ agent, pluginId: held.pluginId, packageId, runId })

  /** Those plugins went with the process that held them. */
  function lostNotice(agent: Agent, ids: readonly string[]) {
    const are = ids.length === 1 ? `The plugin ${ids[0] ?? ''} is` : `The plugins ${ids.join(', ')} are`
    return noticeMessage({
      id: machine.randomId(),
      plugin: PLUGIN,
      text: `${are} gone: plugins live no longer than the window that ran them. The code is kept below ${folderOf(agent.id, '', '').replace(/\/+$/, '')}; define it again with {kind: "existing", pluginId} where it is still wanted.`,
      summary: `${are} gone with the window`,
    })
  }

  return { sessions, report, frameChanges, pluginChanges, folderOf, mustBeOn, sessionOf, heldOf, packageOf, log, logRun, tell, news, lostNotice }
}
