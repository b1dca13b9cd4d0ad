import type { ValueSpec } from '../../core/schema/spec.ts'
import type { EventSurface } from '../../capabilities/search-index.ts'

/** Of a search, in which the index may have to be made first. */
export const SEARCH_TIMEOUT_MS = 30_000

const surfaces: readonly EventSurface[] = ['current', 'shadowed', 'log-only']
const texts = { type: 'array', items: { type: 'string' } } as const satisfies ValueSpec

/** What both searches take beside their own. */
export const sharedFilters = {
  match: { type: 'string', enum: ['words', 'prefix', 'substring'], description: 'Default words.' },
  files: { ...texts, description: 'Calls and results about one of these paths or file names.' },
  symbols: { ...texts, description: 'One of these identifiers stands in it exactly.' },
} as const
export const surfaceList = { type: 'array', items: { type: 'string', enum: [...surfaces] as ['current', 'shadowed', 'log-only'] } } as const satisfies ValueSpec
export const textList = texts

/** One text for the model, and the same as the value. */
export const textOutput = {
  schema: { type: 'string' },
  render: (_args: unknown, value: string) => [{ type: 'text' as const, text: value }],
} as const
