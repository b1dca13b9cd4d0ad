import type { Projection } from '../../core/projections/projection.ts'
import { changeShapeProblem } from './change-schema.ts'
import { goalRecordSchema, type GoalRecord } from './ledger.ts'

/** The goal for whoever shows it: the last change that can be read wins, whatever the others say. Source: agent tools specification 1.1. */
export const goalProjection: Projection<GoalRecord | null, GoalRecord | null> = {
  key: 'goal',
  stateVersion: 1,
  schema: () => goalRecordSchema().nullable(),
  parts: 'none',
  start: () => null,
  step(state, event) {
    if (event.type === 'goal/change') {
      if (changeShapeProblem(event.data) !== null) return state
      if (event.data.operation === 'clear') return null
      const { goal, roundsStarted, createdAt, updatedAt } = event.data
      return { ...goal, roundsStarted, createdAt, updatedAt }
    }
    if (event.type !== 'user/message' || state === null || event.data.source.kind !== 'goal') return state
    const { goalId, round } = event.data.source
    return goalId === state.id && round > state.roundsStarted ? { ...state, roundsStarted: round } : state
  },
  view: (state) => state,
}
