import * as z from 'zod'
import type { Projection } from './projection.ts'
import { titleProjection } from './title.ts'

/** What the list of sessions shows of one. `updatedAt` is when somebody last said or did something; opening the session is neither. */
export type SessionListMetadata = {
  readonly title: string | null
  readonly updatedAt: number | null
  /** Messages a person sent. */
  readonly prompts: number
  readonly isTurnOpen: boolean
  readonly isArchived: boolean
}

/** Lossless JSON, so that it can be kept beside the log. */
export type SessionListState = {
  readonly title: ReturnType<typeof titleProjection.start>
  readonly updatedAt: number | null
  readonly prompts: number
  readonly isTurnOpen: boolean
  readonly isArchived: boolean
  /** Events an agent's session began with: their title names another. */
  readonly inherited: number
}

export const sessionListMetadataProjection: Projection<SessionListState, SessionListMetadata> = {
  key: 'sessionListMetadata',
  stateVersion: 3,
  schema: () => z.strictObject({ title: titleProjection.schema(), updatedAt: z.number().nullable(), prompts: z.int(), isTurnOpen: z.boolean(), isArchived: z.boolean() }),
  parts: 'none',
  isKept: true,
  start: (header) => ({ title: titleProjection.start(), updatedAt: null, prompts: 0, isTurnOpen: false, isArchived: false, inherited: header?.origin === 'subagent' ? (header.seedLength ?? 0) : 0 }),
  step: (state, event) => {
    switch (event.type) {
      case 'session/title': {
        if (event.seq < state.inherited) return state
        const title = titleProjection.step(state.title, event)
        return title === state.title ? state : { ...state, title }
      }
      case 'user/message': {
        const isPrompt = event.surfaceOp === 'append' && event.data.source.kind === 'user'
        return { ...state, updatedAt: event.time, prompts: state.prompts + (isPrompt ? 1 : 0), isArchived: state.isArchived && !isPrompt }
      }
      case 'session/archived':
        return { ...state, isArchived: event.data.isArchived }
      case 'turn/start':
        return { ...state, updatedAt: event.time, isTurnOpen: true }
      case 'turn/end':
        return { ...state, updatedAt: event.time, isTurnOpen: false }
      default:
        return state
    }
  },
  view: ({ title, inherited: _inherited, ...rest }) => ({ title: titleProjection.view(title), ...rest }),
}
