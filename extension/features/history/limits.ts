import type { HistoryLimits } from './service.ts'

/** Source: agent specification 9; the length of a query and the size of a lineage are ours. */
export const historyLimits: HistoryLimits = { results: 100, neighbours: 50, queryChars: 1_000, lineage: 500 }
