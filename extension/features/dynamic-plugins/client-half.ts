import { snapshotJson, stringifyJson, type Json } from '../../base/json.ts'
import { utf8Length } from '../../base/text.ts'
import { MAX_PAYLOAD_BYTES } from './caps.ts'
import { ClientCallError } from './error.ts'
import { liveRuns, type Held, type Run, type SessionPlugins } from './held.ts'
import { wordsOf } from './host-run.ts'
import type { Records } from './records.ts'
import { clientSlots, type ClientCall, type ClientFrame, type ClientSlot, type FrameReport } from './service.ts'
import type { Transitions } from './transitions.ts'

/** The client halves: which are to be drawn, what they call of their host halves, and what the chats say of them. */
export function createClientHalf({ records, conclude }: { readonly records: Records } & Pick<Transitions, 'conclude'>) {
  const { sessions, report, tell } = records

  function liveRun(sessionId: string, runId: string): { readonly session: SessionPlugins; readonly held: Held; readonly run: Run } | undefined {
    const session = sessions.get(sessionId)
    if (session === undefined) return undefined
    for (const held of session.plugins.values()) {
      if (held.stopping !== undefined) continue
      const found = liveRuns(held).find((one) => one.runId === runId)
      if (found !== undefined) return { session, held, run: found }
    }
    return undefined
  }

  async function callFromClient({ sessionId, runId, method, payload }: ClientCall): Promise<Json> {
    const found = liveRun(sessionId, runId)
    if (found === undefined) {
      const last = sessions.get(sessionId)?.lastRun ?? 0
      const number = Number(/^run-(\d{1,9})$/.exec(runId)?.[1] ?? 0)
      if (number >= 1 && number <= last) throw new ClientCallError('stale-run', `The run ${runId} is over, so ${method} was not called.`)
      throw new ClientCallError('plugin-not-running', `There is no run ${runId}, so ${method} was not called.`)
    }
    const { host, declared } = found.run
    if (host === undefined || !declared.handlers.includes(method)) throw new ClientCallError('method-not-found', `The host half declares no method ${method}. It declares: ${declared.handlers.join(', ') || 'none'}.`)
    const sent = snapshotJson(payload, 'payload')
    if (utf8Length(stringifyJson(sent)) > MAX_PAYLOAD_BYTES) throw new ClientCallError('handler-error', `What is sent to ${method} may have ${MAX_PAYLOAD_BYTES} bytes, and this has more.`)
    try {
      return await host.handle(method, sent)
    } catch (error) {
      throw new ClientCallError('handler-error', wordsOf(error), { cause: error })
    }
  }

  function frameReported({ sessionId, runId, state, message }: FrameReport): void {
    const found = liveRun(sessionId, runId)
    if (found === undefined) return
    const { session: { agent }, held, run: drawn } = found
    const { next } = held
    const reason = message === undefined || message.trim() === '' ? 'Its client half failed without a reason.' : `Its client half failed: ${message}`
    if (next?.run === drawn) {
      if (state === 'failed') drawn.pack.isFailureTold = true
      conclude(agent, held, next, state === 'failed' ? reason : undefined).catch(report)
    } else if (state === 'failed' && !drawn.pack.isFailureTold) {
      drawn.pack.isFailureTold = true
      tell(agent, `The plugin ${held.pluginId} (${drawn.pack.packageId}, ${runId}) goes on, but what it shows failed. ${reason} Define a corrected package and update to it.`, `What the plugin ${held.pluginId} shows failed${message === undefined ? '' : `: ${message}`}`)
    }
  }

  function frames(sessionId: string): readonly ClientFrame[] {
    const session = sessions.get(sessionId)
    if (session === undefined) return []
    return [...session.plugins.values()].flatMap((held) =>
      held.stopping !== undefined
        ? []
        : liveRuns(held).flatMap(({ runId, pack }) =>
            pack.code.client === undefined ? [] : [{ sessionId, pluginId: held.pluginId, packageId: pack.packageId, runId, name: pack.name, slots: slotsOf(pack.code.client), code: pack.code.client }],
          ),
    )
  }

  return { frames, callFromClient, frameReported }
}

/** Those whose names stand in the code. */
function slotsOf(code: string): readonly ClientSlot[] {
  const named = clientSlots.filter((slot) => new RegExp(`(['"\`])${slot}\\1|\\.${slot}\\b`).test(code))
  return named.length === 0 ? ['panel'] : named
}
