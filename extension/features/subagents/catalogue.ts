import { isErrorOf } from '../../base/harness-error.ts'
import { EventStoreError } from '../../capabilities/event-store.ts'
import type { Agents } from '../../core/loop/points.ts'
import type { Projections } from '../../core/projections/projection.ts'
import { SessionError, type Sessions, type SessionSummary } from '../../core/session/session.ts'
import { childProjection, parseDescriptor, type ChildRecord } from './descriptor.ts'
import { subagentLimits } from './limits.ts'
import { SubagentError, type CatalogueEntry, type ChildFacts, type ChildStatus, type Subagents, type SubagentDescriptor } from './service.ts'

interface CatalogueParts {
  readonly sessions: Pick<Sessions, 'list' | 'valueOf'>
  readonly projections: () => Pick<Projections, 'get'> | undefined
  readonly agents: () => Pick<Agents, 'live'>
  /** Of this process. */
  readonly known: (id: string) => ChildFacts | undefined
  readonly all: () => readonly ChildFacts[]
}

type Look =
  | { readonly kind: 'child'; readonly descriptor: SubagentDescriptor; readonly lastEnd: string | null }
  | { readonly kind: 'taken-over' }
  | { readonly kind: 'unborn' }
  | { readonly kind: 'diagnostic'; readonly reason: 'corrupt' | 'unavailable' }

/** Whose children there are, from the headers and notes of stored sessions and from what lives here. */
export function createCatalogue({ sessions, projections, agents, known, all }: CatalogueParts): { readonly entries: Subagents['catalogue']; readonly children: Subagents['children'] } {
  async function byParent(): Promise<ReadonlyMap<string, readonly SessionSummary[]>> {
    let summaries: readonly SessionSummary[]
    try {
      summaries = await sessions.list()
    } catch (cause) {
      throw new SubagentError('SUBAGENT_CONTROL_SESSION_STORE_UNAVAILABLE', 'The stored sessions cannot be listed now. Try again.', { cause })
    }
    const started = summaries.filter(({ startedBy }) => startedBy !== undefined)
    return Map.groupBy(started.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)), ({ startedBy = '' }) => startedBy)
  }

  async function look({ id, problem }: SessionSummary): Promise<Look> {
    if (problem !== undefined) return { kind: 'diagnostic', reason: 'corrupt' }
    try {
      const value = await sessions.valueOf(id, childProjection.key)
      // Only this unit has this key.
      const { descriptor: raw, isPromoted, lastEnd } = (value as ChildRecord | undefined) ?? childProjection.start()
      if (isPromoted) return { kind: 'taken-over' }
      const descriptor = parseDescriptor(raw)
      if (descriptor !== null) return { kind: 'child', descriptor, lastEnd }
      return raw === null && agents().live(id) !== undefined ? { kind: 'unborn' } : { kind: 'diagnostic', reason: 'corrupt' }
    } catch (error) {
      const isGone = isErrorOf(EventStoreError, error, 'SESSION_NOT_FOUND') || !(error instanceof SessionError || isErrorOf(EventStoreError, error))
      return { kind: 'diagnostic', reason: isGone ? 'unavailable' : 'corrupt' }
    }
  }

  function checkProjections(): void {
    if (projections()?.get(childProjection.key) === undefined)
      throw new SubagentError('SUBAGENT_CONTROL_PROJECTIONS_UNAVAILABLE', 'What stored sessions are cannot be looked up here.')
  }

  const statusOf = (id: string): 'running' | 'idle' | 'ready' => {
    const agent = agents().live(id)
    return agent === undefined ? 'ready' : agent.status === 'running' ? 'running' : 'idle'
  }

  return {
    async entries({ sessionId, scope, signal }) {
      checkProjections()
      const checkSignal = () => {
        if (signal.aborted) throw new SubagentError('CANCELLED', 'The list was not made: the call was stopped.')
      }
      checkSignal()
      const families = await byParent()
      const seen = new Set([sessionId])

      async function below(parent: string, depth: number): Promise<readonly CatalogueEntry[]> {
        const family = (families.get(parent) ?? []).filter(({ id }) => !seen.has(id))
        for (const { id } of family) seen.add(id)
        const looks = await mapped(family, subagentLimits.coldReads, async (summary) => {
          checkSignal()
          return look(summary)
        })
        const entries: CatalogueEntry[] = []
        for (const [index, { id }] of family.entries()) {
          const found = looks[index]
          checkSignal()
          if (found === undefined || found.kind === 'taken-over') continue
          if (found.kind === 'diagnostic') entries.push({ kind: 'diagnostic', id, reason: found.reason, parent, depth })
          else if (found.kind === 'child' && found.descriptor.mode === 'continuable') entries.push({ kind: 'child', id, label: found.descriptor.label, status: statusOf(id), parent, depth })
          if (scope === 'descendants') entries.push(...(await below(id, depth + 1)))
        }
        return entries
      }

      return below(sessionId, 1)
    },

    async children(sessionId) {
      const family = (await byParent()).get(sessionId) ?? []
      const stored = await mapped(family, subagentLimits.coldReads, async (summary): Promise<ChildFacts | undefined> => {
        const facts = known(summary.id)
        if (facts !== undefined) return { ...facts, createdAt: summary.createdAt }
        const found = await look(summary)
        if (found.kind !== 'child') return undefined
        const { mode, provider, label } = found.descriptor
        return {
          id: summary.id, parentId: sessionId, label: label ?? summary.title, provider, mode, depth: 1, purpose: { kind: 'subagent' }, createdAt: summary.createdAt, endedAt: summary.updatedAt,
          status: mode === 'continuable' ? 'ready' : (endWords.get(found.lastEnd) ?? 'failed'),
        }
      })
      const here = stored.filter((facts) => facts !== undefined)
      // Those that are no sessions of ours, or not listed yet.
      const others = all().filter(({ id, parentId }) => parentId === sessionId && !here.some((facts) => facts.id === id))
      return [...here, ...others].toSorted((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0))
    },
  }
}

const endWords: ReadonlyMap<string | null, ChildStatus> = new Map([
  ['completed', 'completed'],
  ['aborted', 'aborted'],
  ['interrupted', 'aborted'],
  [null, 'aborted'],
])

/** The values in order, at most `limit` of them worked on at once. */
async function mapped<T, R>(values: readonly T[], limit: number, work: (value: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  const queue = values.entries()
  await Promise.all(
    Array.from({ length: Math.min(limit, values.length) }, async () => {
      for (const [index, value] of queue) results[index] = await work(value)
    }),
  )
  return results
}
