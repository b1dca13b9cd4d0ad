import type { Json } from '../../base/json.ts'
import type { Undo } from '../../base/undo.ts'
import type { Context } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/session/session.ts'
import type {} from '../../core/tools/service.ts'

/** Hears what plugins may observe of a session, with facts alone: no text of person or model, no arguments, nothing to answer. */
type Observe = (ctx: Context, tell: (facts: Json) => void) => Undo

interface ObservedEvent {
  readonly description: string
  readonly facts: string
  readonly observe: Observe
}

export const observedEvents: Readonly<Record<string, ObservedEvent>> = {
  'agent/status': { description: 'The agent began to work, or rests.', facts: '{ status: "idle" | "running" }', observe: (ctx, tell) => ctx.on('agent/status', (_agent, status) => tell({ status })) },
  'tools/result': {
    description: 'A call has ended.',
    facts: '{ name, callId, isError }',
    observe: (ctx, tell) => ctx.on('tools/result', ({ name, callId }, { isError }) => tell({ name, callId, isError })),
  },
  'turn/start': { description: 'A turn began.', facts: '{ turn }', observe: (ctx, tell) => ctx.on('session/event', (_session, event) => event.type === 'turn/start' && tell({ turn: event.data.turn })) },
  'turn/end': {
    description: 'A turn ended.',
    facts: '{ turn, reason }',
    observe: (ctx, tell) => ctx.on('session/event', (_session, event) => event.type === 'turn/end' && tell({ turn: event.data.turn, reason: event.data.reason.kind })),
  },
  'fs/observed': { description: 'A file was read or changed by a tool.', facts: '{ path, isThere }', observe: (ctx, tell) => ctx.on('session/event', (_session, event) => event.type === 'fs/observed' && tell({ path: event.data.path, isThere: event.data.version !== null })) },
}

export const observedEventNames: readonly string[] = Object.keys(observedEvents)
