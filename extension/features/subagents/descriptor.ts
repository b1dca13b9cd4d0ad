import * as z from 'zod'
import type { Json } from '../../base/json.ts'
import type { SessionEvent } from '../../core/log/event.ts'
import type { Projection } from '../../core/projections/projection.ts'
import type { SubagentDescriptor } from './service.ts'

const names = z.array(z.string()).readonly()
const descriptorSchema = z.union([
  z.strictObject({ version: z.literal(2), mode: z.literal('one-shot'), provider: z.string(), label: z.string().exactOptional() }),
  z.strictObject({
    version: z.literal(2),
    mode: z.literal('continuable'),
    provider: z.string(),
    label: z.string(),
    agentProvider: z.string().exactOptional(),
    agentModel: z.string().exactOptional(),
    persona: z.string().exactOptional(),
    toolFilter: z.strictObject({ allow: names.exactOptional(), deny: names.exactOptional() }).exactOptional(),
  }),
])

/** What the log of a session says about it as somebody's child. */
export type ChildRecord = {
  /** As it stands in the log; `parseDescriptor` says whether it is one. Null: there is none. */
  readonly descriptor: Json
  readonly isPromoted: boolean
  /** How its newest turn ended. */
  readonly lastEnd: string | null
  readonly seedLength: number
}

/** Kept beside the log, so that children can be listed without reading what they said. */
export const childProjection: Projection<ChildRecord, ChildRecord> = {
  key: 'subagent',
  stateVersion: 1,
  schema: () => z.strictObject({ descriptor: z.json(), isPromoted: z.boolean(), lastEnd: z.string().nullable(), seedLength: z.int() }),
  parts: 'none',
  isKept: true,
  start: (header) => ({ descriptor: null, isPromoted: false, lastEnd: null, seedLength: header?.seedLength ?? 0 }),
  step(state, event) {
    // What a fork began with tells of another.
    if (event.seq < state.seedLength) return state
    return stepOwn(state, event)
  },
  view: (state) => state,
}

function stepOwn(state: ChildRecord, event: SessionEvent): ChildRecord {
  switch (event.type) {
    case 'subagent/descriptor':
      return state.descriptor === null ? { ...state, descriptor: event.data as Json } : state
    case 'subagent/promoted':
      return state.isPromoted ? state : { ...state, isPromoted: true }
    case 'turn/end':
      return state.lastEnd === event.data.reason.kind ? state : { ...state, lastEnd: event.data.reason.kind }
    default:
      return state
  }
}

/** Null for what is no descriptor of a version this build knows. */
export function parseDescriptor(value: Json): SubagentDescriptor | null {
  const parsed = descriptorSchema.safeParse(value)
  return parsed.success ? parsed.data : null
}
