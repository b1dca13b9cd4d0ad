import * as z from 'zod'
import type { SessionEvent } from '../../core/log/event.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type { Projection } from '../../core/projections/projection.ts'

/** What reached a session of a team: by this no message arrives twice, and a teammate is known to have got its task. */
export type Received = {
  readonly seedLength: number
  /** Ids of the newest team messages that wait in its inbox, or stand in its talk; what is older was acknowledged long ago. */
  readonly mail: readonly string[]
  /** The session whose agent gave it its first task; null until it has one. */
  readonly taskFrom: string | null
}

/** Far above what may wait for one member (`teamLimits.maxPendingMessagesPerMember`): nothing else is ever delivered again. */
const MAX_KEPT = 1_000

/** Source: agent tools specification 8.1, the key of de-duplication. */
export const receivedProjection: Projection<Received, Received> = {
  key: 'team-received',
  stateVersion: 1,
  schema: () => z.strictObject({ seedLength: z.int(), mail: z.array(z.string()).readonly(), taskFrom: z.string().nullable() }),
  parts: 'none',
  start: (header) => ({ seedLength: header?.seedLength ?? 0, mail: [], taskFrom: null }),
  step(state, event) {
    // What a fork began with reached another.
    if (event.seq < state.seedLength) return state
    return messagesOf(event).reduce(received, state)
  },
  view: (state) => state,
}

function messagesOf(event: SessionEvent): readonly UserMessage[] {
  if (event.type === 'user/message') return [event.data]
  return event.type === 'agent/inbox/spliced' ? event.data.inserted : []
}

function received(state: Received, { source }: UserMessage): Received {
  if (source.kind === 'team-message') return state.mail.includes(source.messageId) ? state : { ...state, mail: [...state.mail, source.messageId].slice(-MAX_KEPT) }
  return source.kind === 'coordinator' && state.taskFrom === null ? { ...state, taskFrom: source.senderSessionId } : state
}
