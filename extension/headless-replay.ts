import { argumentsFrom } from './base/call-arguments.ts'
import { isErrorOf } from './base/harness-error.ts'
import type { Json } from './base/json.ts'
import { messageOf } from './base/message-of.ts'
import type { EventFile } from './capabilities/event-store.ts'
import type { Application } from './compose.ts'
import type { ScopeKey } from './core/kernel/plugin.ts'
import type { SessionEvent } from './core/log/event.ts'
import type { ToolContent } from './core/log/message.ts'
import { PresetError } from './core/presets/preset.ts'
import { DerivedLog } from './core/session/derived-log.ts'
import { headerFrom, loadLog } from './core/session/load-log.ts'
import type {} from './core/tools/code-dispatch.ts'
import { presentCall, presentResult } from './host/present-tool.ts'
import { LogFileStore } from './platform/node/log-file-store.ts'

/** The log cannot be replayed; the message says why. */
export class ReplayError extends Error {}

/**
 * Cards and derived model messages of a stored log, one JSON value a line: `{kind: 'card', …}` in order of the calls,
 * each with the calls of its program behind it, then `{kind: 'message', message}` in order of the surface. Nothing but the file is read, and it stays as it is.
 *
 * Errors: `ReplayError` when the file is no log.
 */
export async function replayLog({ ctx }: Application, path: string): Promise<readonly Json[]> {
  const file = await logFile(path)
  const header = headerFrom(file.id, file.header())
  const log = new DerivedLog(ctx.eventTypes)
  await loadLog(file, ctx.eventTypes, log)
  const events = log.list.slice(0, log.length)
  const layer = presetLayer(ctx, events.findLast((event) => event.type === 'agent-preset/selected')?.data.agentPreset ?? header.agentPreset)
  const cards = cardsOf(events, (name) => ctx.tools.get(name, layer))
  return [...cards, ...log.surface.messages.map((message) => ({ kind: 'message', message }) as unknown as Json)]
}

/** A preset may have tools of its own. One that is gone or cannot be used here leaves the tools that all share. */
function presetLayer({ presets }: Application['ctx'], preset: string | undefined): ScopeKey | null {
  try {
    return preset === undefined ? null : presets.scopeOf(preset)
  } catch (error) {
    if (isErrorOf(PresetError, error)) return null
    throw error
  }
}

async function logFile(path: string): Promise<EventFile> {
  try {
    const store = await LogFileStore.open(path)
    return await store.open(store.id)
  } catch (error) {
    throw new ReplayError(`${path} is no log of a session: ${messageOf(error)}`, { cause: error })
  }
}

/** In order of the results; what the program of a call called stands behind it, with its `parent`. */
function cardsOf(events: readonly SessionEvent[], find: Parameters<typeof presentCall>[0]): readonly Json[] {
  const calls = new Map<string, { readonly name: string; readonly args: Json }>()
  const cards: Card[] = []
  const inside = new Map<string, Card[]>()
  for (const event of events) {
    if (event.type === 'tool/call') calls.set(event.data.callId, { name: event.data.name, args: argumentsFrom(event.data.arguments) })
    const rewritten = event.type === 'tool/rewritten' ? calls.get(event.data.callId) : undefined
    if (event.type === 'tool/rewritten' && rewritten) calls.set(event.data.callId, { ...rewritten, args: argumentsFrom(event.data.arguments) })
    if (event.type === 'tool/code-dispatch') {
      const { parentCallId, subCallId, name, arguments: args } = event.data
      inside.set(parentCallId, [...(inside.get(parentCallId) ?? []), { ...cardOf(find, { callId: subCallId, name, args }, event.data), parent: parentCallId }])
    }
    // A replacement shows the model less of a result that was drawn already.
    if (event.type !== 'tool/result' || event.surfaceOp !== 'append') continue
    const { content: [block] } = event.data.message
    const call = calls.get(block.callId) ?? { name: 'unknown', args: null }
    cards.push(cardOf(find, { callId: block.callId, ...call }, { ...event.data, ...block }))
  }
  const withCalls = (card: Card): readonly Card[] => {
    const called = inside.get(card.callId) ?? []
    inside.delete(card.callId)
    return [card, ...called.flatMap(withCalls)]
  }
  // A log that ends in the middle of a program has calls and no result of it.
  const all = [...cards.flatMap(withCalls), ...[...inside.values()].flat()]
  return all as unknown as readonly Json[]
}

interface Card {
  readonly kind: 'card'
  readonly callId: string
  readonly [field: string]: unknown
}

function cardOf(find: Parameters<typeof presentCall>[0], { callId, ...call }: { readonly callId: string; readonly name: string; readonly args: Json }, { content, isError, meta, error }: { readonly content: readonly ToolContent[]; readonly isError: boolean; readonly meta?: Json; readonly error?: object }): Card {
  return {
    kind: 'card',
    callId,
    name: call.name,
    isError,
    pending: presentCall(find, call.name, call.args),
    card: presentResult(find, call, { content, isError, ...(meta !== undefined && { meta }) }, { t: (text) => text }),
    error: error ?? null,
  }
}
