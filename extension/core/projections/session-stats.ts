import * as z from 'zod'
import type { SessionEvent } from '../log/event.ts'
import type { Projection } from './projection.ts'

/**
 * Counts and times of the whole log, also of what was replaced on the surface.
 *
 * Shape:  `turns` have a closed step; `llmMs` runs from the start of a step to the assistant's message; `ttftMs` from there to the
 *         first part of the answer, over `ttftSteps` steps; `decodeMs` from that part to the message, for `decodeTokens`;
 *         `toolMs` from each call to its result.
 * Source: runtime specification 12.3.
 */
export type SessionStats = {
  readonly turns: number
  readonly steps: number
  readonly llmMs: number
  readonly ttftMs: number
  readonly ttftSteps: number
  readonly decodeMs: number
  readonly decodeTokens: number
  readonly toolMs: number
}

interface State {
  readonly stats: SessionStats
  /** The last turn that was counted. */
  readonly countedTurn: number
  /** Of the open step. */
  readonly stepStartedAt: number | null
  readonly firstPartAt: number | null
  readonly calls: ReadonlyMap<string, number>
}

export const sessionStatsProjection: Projection<State, SessionStats> = {
  key: 'sessionStats',
  stateVersion: 1,
  schema: () =>
    z.strictObject({ turns: z.int(), steps: z.int(), llmMs: z.number(), ttftMs: z.number(), ttftSteps: z.int(), decodeMs: z.number(), decodeTokens: z.int(), toolMs: z.number() }),
  parts: 'first',
  start: () => ({
    stats: { turns: 0, steps: 0, llmMs: 0, ttftMs: 0, ttftSteps: 0, decodeMs: 0, decodeTokens: 0, toolMs: 0 },
    countedTurn: 0,
    stepStartedAt: null,
    firstPartAt: null,
    calls: new Map(),
  }),
  step: (state, event) => {
    switch (event.type) {
      case 'step/start':
        return { ...state, stepStartedAt: event.time, firstPartAt: null, calls: new Map() }
      case 'assistant/chunk':
        return state.firstPartAt === null ? { ...state, firstPartAt: event.time } : state
      case 'assistant/message':
        return answered(state, event)
      case 'tool/call':
        return { ...state, calls: new Map(state.calls).set(event.data.callId, event.time) }
      case 'tool/result':
        return finished(state, event)
      case 'step/end':
        return ended(state, event)
      default:
        return state
    }
  },
  view: ({ stats }) => stats,
}

function answered(state: State, event: SessionEvent<'assistant/message'>): State {
  const { stepStartedAt, firstPartAt, stats } = state
  if (stepStartedAt === null) return state
  const { usage } = event.data
  const llmMs = stats.llmMs + event.time - stepStartedAt
  if (firstPartAt === null) return { ...state, stepStartedAt: null, stats: { ...stats, llmMs } }
  return {
    ...state,
    stepStartedAt: null,
    stats: {
      ...stats,
      llmMs,
      ttftMs: stats.ttftMs + firstPartAt - stepStartedAt,
      ttftSteps: stats.ttftSteps + 1,
      decodeMs: stats.decodeMs + event.time - firstPartAt,
      decodeTokens: stats.decodeTokens + (usage === undefined ? 0 : usage.outputTokens + usage.reasoning),
    },
  }
}

function finished(state: State, event: SessionEvent<'tool/result'>): State {
  const { callId } = event.data.message.content[0]
  const startedAt = state.calls.get(callId)
  if (startedAt === undefined) return state
  const calls = new Map(state.calls)
  calls.delete(callId)
  return { ...state, calls, stats: { ...state.stats, toolMs: state.stats.toolMs + event.time - startedAt } }
}

function ended(state: State, event: SessionEvent<'step/end'>): State {
  const { stats, countedTurn } = state
  const { turn } = event.data
  const turns = turn === countedTurn ? stats.turns : stats.turns + 1
  return { ...state, countedTurn: turn, stepStartedAt: null, firstPartAt: null, stats: { ...stats, turns, steps: stats.steps + 1 } }
}
