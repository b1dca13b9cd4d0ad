import * as z from 'zod'
import type { EventMap } from '../log/event.ts'
import type { Projection } from './projection.ts'

type Title = EventMap['session/title']

/** The title of the session, null before it has one. What a person typed wins over every later automatic title. */
export const titleProjection: Projection<Title | null, string | null> = {
  key: 'title',
  stateVersion: 1,
  schema: () => z.string().nullable(),
  parts: 'none',
  start: () => null,
  step: (state, event) => {
    if (event.type !== 'session/title') return state
    return state?.source.kind === 'user' && event.data.source.kind !== 'user' ? state : event.data
  },
  view: (state) => state?.title ?? null,
}
