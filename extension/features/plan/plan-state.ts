import type { SessionEvent } from '../../core/log/event.ts'

/** What the log of a session says about its plan mode. */
export interface PlanState {
  readonly isActive: boolean
  /** It was on at some time, so the model is told when it is off. */
  readonly wasActive: boolean
  readonly pending: { readonly active: boolean; readonly isSilent: boolean } | null
  readonly isTurnOpen: boolean
  /** The mode that the last request spoke of; null before the first. */
  readonly told: boolean | null
  /** The last switch is told by a notice. */
  readonly isNarrated: boolean
}

export const noPlan: PlanState = { isActive: false, wasActive: false, pending: null, isTurnOpen: false, told: null, isNarrated: false }

/** The state after one more event; the same object for events of others. */
export function stepPlan(state: PlanState, event: SessionEvent): PlanState {
  switch (event.type) {
    case 'plan/mode': {
      const { active } = event.data
      return { ...state, isActive: active, wasActive: state.wasActive || active, pending: null, isNarrated: !(state.pending?.active === active && state.pending.isSilent) }
    }
    case 'plan/selected': {
      const { active, isSilent } = event.data
      return { ...state, pending: active === state.isActive ? null : { active, isSilent: isSilent === true } }
    }
    case 'turn/start':
      return { ...state, isTurnOpen: true }
    case 'turn/end':
      return { ...state, isTurnOpen: false }
    case 'request/header':
      return state.told === state.isActive ? state : { ...state, told: state.isActive }
    case 'step/start':
      return state.told === null || state.told === state.isActive ? state : { ...state, told: state.isActive }
    default:
      return state
  }
}
