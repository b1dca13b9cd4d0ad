import type { Agents } from '../../core/loop/points.ts'
import type { SessionEvent } from '../../core/log/event.ts'
import { SessionError, type Session, type Sessions, type SessionSummary } from '../../core/session/session.ts'
import { isErrorOf } from '../../base/harness-error.ts'
import { EventStoreError } from '../../capabilities/event-store.ts'
import type { UndoneFile } from './reviews.ts'
import { AgentChangesError, type AgentChanges, type FileAtStart, type Reviews, type ReviewOutcome } from './service.ts'

export interface AgentChangesParts {
  readonly sessions: Pick<Sessions, 'list' | 'live' | 'open' | 'readTail'>
  readonly agents: () => Pick<Agents, 'live'>
  readonly reviews: Pick<Reviews, 'undo' | 'turnStart'>
  /** The model of a session hears of it. */
  readonly tell: (session: Session, undone: readonly UndoneFile[]) => void
}

/** Changes of one session from an instant on. */
interface Share {
  readonly id: string
  /** In which the first of them lies. */
  readonly turn: number
  /** Epoch milliseconds. */
  readonly from: number
  readonly newest: number
  /** Each file with its first change. */
  readonly files: ReadonlyMap<string, { readonly turn: number; readonly time: number }>
}

const ALL = Number.MAX_SAFE_INTEGER
const ELSEWHERE = 'Another window writes the session of an agent that changed it. Close that one first.'

/**
 * What agents of one tree changed, by node, and the way back to before a node began: whatever it and those after it changed in its folder is
 * taken back, the newest first, each as a merge that keeps what the person typed since. Whoever works in another folder, as in a worktree, is
 * left alone.
 */
export function createAgentChanges({ sessions, agents, reviews, tell }: AgentChangesParts): AgentChanges {
  /** Its own events, without those that it began with as a fork. */
  async function eventsOf(id: string): Promise<readonly SessionEvent[]> {
    try {
      const { header, events } = await sessions.readTail(id, ALL)
      const { seedLength = 0 } = header
      return seedLength === 0 ? events : events.filter(({ seq }) => seq >= seedLength)
    } catch (error) {
      // A session that is gone or cannot be read has nothing that could be taken back.
      if (isErrorOf(EventStoreError, error) || isErrorOf(SessionError, error)) return []
      throw error
    }
  }

  async function shareOf(id: string, from: number): Promise<readonly Share[]> {
    const files = new Map<string, { readonly turn: number; readonly time: number }>()
    let [turn, first, newest] = [0, -1, 0]
    for (const { type, time, data } of await eventsOf(id)) {
      if (type === 'turn/start') turn = data.turn
      if (type !== 'fs/after-image' || time < from) continue
      if (first < 0) first = turn
      newest = time
      if (!files.has(data.path)) files.set(data.path, { turn, time })
    }
    return files.size === 0 ? [] : [{ id, turn: first, from, newest, files }]
  }

  /** One log after the other: a run may have had a thousand agents. */
  async function sharesOf(ids: readonly string[], from: (id: string) => number): Promise<readonly Share[]> {
    const shares: Share[] = []
    for (const id of ids) shares.push(...(await shareOf(id, from(id))))
    return shares
  }

  /** Every share since `sessionId` began, the newest change first, and who started it, nearest first. */
  async function since(sessionId: string): Promise<{ readonly shares: readonly Share[]; readonly owners: readonly string[] }> {
    const all = await sessionsById()
    const node = all.get(sessionId)
    if (node === undefined) throw new AgentChangesError('UNKNOWN_AGENT', 'The session of this agent is not there any more, so nobody knows what it changed.')
    const owners = ownersOf(node, all)
    const root = owners.at(-1) ?? sessionId
    const own = new Set(familyOf(sessionId, all))
    const meant = familyOf(root, all).filter((id) => all.get(id)?.cwd === node.cwd)
    for (const id of meant) {
      // Who began it waits for it; whoever works beside it would change what is taken back.
      if (!owners.includes(id) && agents().live(id)?.status === 'running') throw new AgentChangesError('AGENTS_AT_WORK', 'Agents are still at work on these files. Stop them or wait, then restore.')
    }
    const shares = await sharesOf(meant, (id) => (own.has(id) ? node.createdAt : node.createdAt + 1))
    return { shares: shares.toSorted((a, b) => b.newest - a.newest), owners }
  }

  async function sessionsById(): Promise<ReadonlyMap<string, SessionSummary>> {
    return new Map((await sessions.list()).map((summary) => [summary.id, summary]))
  }

  async function withSession<T>(id: string, work: (session: Session) => Promise<T>): Promise<T> {
    const live = sessions.live(id)
    if (live !== undefined) return work(live)
    const session = await sessions.open(id)
    try {
      const result = await work(session)
      if (session.access === 'write') await session.flush()
      return result
    } finally {
      if (agents().live(id) === undefined) await session.close()
    }
  }

  return {
    async filesOf(ids) {
      return pathsOf(await sharesOf(ids, () => 0))
    },

    async startOf(sessionId) {
      const shares = await sharesOf(familyOf(sessionId, await sessionsById()), () => 0)
      const found: FileAtStart[] = []
      for (const [session, firsts] of Map.groupBy(firstChanges(shares), (first) => first.session)) {
        await withSession(session, async (open) => {
          for (const [turn, ofTurn] of Map.groupBy(firsts, (first) => first.turn)) {
            const meant = new Set(ofTurn.map(({ path }) => path))
            for (const file of await reviews.turnStart(open, turn)) if (meant.has(file.path)) found.push({ ...file, session, turn })
          }
        })
      }
      return found
    },

    async planBefore(sessionId) {
      const { shares } = await since(sessionId)
      return { paths: pathsOf(shares), agents: shares.length }
    },

    async restoreBefore(sessionId, options = {}) {
      const { shares, owners } = await since(sessionId)
      const done = new Set<string>()
      const conflicts = new Set<string>()
      const problems: { path: string; problem: string }[] = []
      for (const { id, turn, from, files } of shares) {
        const outcome = await withSession(id, async (session): Promise<ReviewOutcome> => {
          if (session.access !== 'write') return { paths: [], conflicts: [], problems: [...files.keys()].map((path) => ({ path, problem: ELSEWHERE })) }
          return reviews.undo(session, { kind: 'since', turn, from }, options)
        })
        for (const path of outcome.paths) done.add(path)
        for (const path of outcome.conflicts) conflicts.add(path)
        problems.push(...outcome.problems)
      }
      for (const id of owners) {
        const session = sessions.live(id)
        if (session !== undefined && done.size > 0) tell(session, [...done].map((path) => ({ path, what: 'of-agents' })))
      }
      return { paths: [...done], conflicts: [...conflicts], problems }
    },
  }
}

const pathsOf = (shares: readonly Share[]): readonly string[] => [...new Set(shares.flatMap(({ files }) => [...files.keys()]))]

/** Of each file the change that came first, whoever made it; the oldest first. */
function firstChanges(shares: readonly Share[]): readonly { readonly path: string; readonly session: string; readonly turn: number }[] {
  const all = shares.flatMap(({ id, files }) => [...files].map(([path, first]) => ({ path, session: id, ...first })))
  const byPath = Map.groupBy(all.toSorted((a, b) => a.time - b.time), ({ path }) => path)
  return [...byPath.values()].map(([first]) => first!)
}

/** It and all below it. */
function familyOf(id: string, all: ReadonlyMap<string, SessionSummary>): readonly string[] {
  const children = Map.groupBy(all.values(), ({ startedBy = '' }) => startedBy)
  const from = (each: string): readonly string[] => [each, ...(children.get(each) ?? []).flatMap((child) => from(child.id))]
  return from(id)
}

function ownersOf({ startedBy }: SessionSummary, all: ReadonlyMap<string, SessionSummary>): readonly string[] {
  const owners: string[] = []
  for (let id = startedBy; id !== undefined && all.has(id) && !owners.includes(id); id = all.get(id)?.startedBy) owners.push(id)
  return owners
}
