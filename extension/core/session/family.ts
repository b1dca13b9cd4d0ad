import type { SessionSummary } from './session.ts'

/**
 * Sessions that agents of session `id` started, and those that theirs did; each before the one it belongs to.
 *
 * One that a person named is theirs, and so is what is under it: neither is among them.
 */
export function startedUnder(sessions: readonly SessionSummary[], id: string): readonly SessionSummary[] {
  const byOwner = Map.groupBy(sessions.filter(({ startedBy, isNamed }) => startedBy !== undefined && !isNamed), ({ startedBy = '' }) => startedBy)
  const seen = new Set([id])
  const below = (owner: string): readonly SessionSummary[] =>
    (byOwner.get(owner) ?? []).flatMap((session) => {
      // Headers of damaged logs may lead in a circle.
      if (seen.has(session.id)) return []
      seen.add(session.id)
      return [...below(session.id), session]
    })
  return below(id)
}
