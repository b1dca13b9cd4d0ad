import { describe, expect, it } from 'vitest'
import { EventStoreError } from '../../../../extension/capabilities/event-store.ts'
import type { SessionEvent } from '../../../../extension/core/log/event.ts'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import type { Session, SessionSummary } from '../../../../extension/core/session/session.ts'
import { createAgentChanges } from '../../../../extension/features/checkpoints/agent-changes.ts'
import type {} from '../../../../extension/features/checkpoints/events.ts'

interface Stored {
  readonly startedBy?: string
  readonly cwd?: string
  /** `<turn> <file>`, each a second after the one before, from when the session was made. */
  readonly changes: readonly string[]
  /** Seconds. */
  readonly madeAt: number
  /** As many of the changes are of the session that it was forked from, before it was made. */
  readonly seeds?: number
}

/** Sessions that are stored, each with what its agent changed; gives what was undone in which. */
function rig(stored: Readonly<Record<string, Stored>>) {
  const undone: string[] = []
  const told: string[] = []
  const eventsOf = ({ changes, madeAt, seeds = 0 }: Stored) =>
    changes.flatMap((change, at) => {
      const [turn, path] = change.split(' ')
      const time = (madeAt + at - seeds) * 1_000 + 1
      return [{ seq: 2 * at, type: 'turn/start', time, data: { turn: Number(turn) } }, { seq: 2 * at + 1, type: 'fs/after-image', time, data: { callId: 'c', path: `/w/${path}`, after: null } }] as unknown as readonly SessionEvent[]
    })
  const session = (id: string) => ({ id, access: 'write', flush: async () => {}, close: async () => {} }) as unknown as Session
  const live = new Map([['root', session('root')]])
  const changes = createAgentChanges({
    sessions: {
      list: async () => Object.entries(stored).map(([id, { startedBy, cwd = '/work', madeAt }]) => ({ id, cwd, createdAt: madeAt * 1_000, ...(startedBy !== undefined && { startedBy }) }) as SessionSummary),
      live: (id) => live.get(id),
      open: async (id) => session(id),
      async readTail(id) {
        const session = stored[id]
        if (session === undefined) throw new EventStoreError('SESSION_NOT_FOUND', `There is no session ${id}.`)
        return { header: { version: 0, id, createdAt: session.madeAt, seedLength: 2 * (session.seeds ?? 0) } as never, events: eventsOf(session) }
      },
    },
    agents: () => ({ live: () => undefined as Agent | undefined }),
    reviews: {
      turnStart: async ({ id }, turn) => stored[id]!.changes.flatMap((change) => (change.startsWith(`${turn} `) ? [{ path: `/w/${change.split(' ')[1]}`, before: `before ${id} ${turn}` }] : [])),
      async undo({ id }, target) {
        undone.push(`${id} ${JSON.stringify(target)}`)
        return { paths: [`/w/${id}`], conflicts: [], problems: [] }
      },
    },
    tell: ({ id }, files) => told.push(`${id}: ${files.map(({ path, what }) => `${path} ${what}`).join(', ')}`),
  })
  return { changes, undone, told }
}

const tree = {
  root: { madeAt: 0, changes: ['1 early.ts'] },
  a: { madeAt: 10, startedBy: 'root', changes: ['1 a.ts', '2 both.ts'] },
  'a-below': { madeAt: 13, startedBy: 'a', changes: ['1 both.ts', '1 below.ts'] },
  later: { madeAt: 20, startedBy: 'root', changes: ['1 later.ts'] },
  apart: { madeAt: 30, startedBy: 'root', cwd: '/apart', changes: ['1 apart.ts'] },
} satisfies Readonly<Record<string, Stored>>

describe('what agents of a tree changed', () => {
  it('is shown as it was before the first of the changes, whoever of its family made them', async () => {
    const { changes } = rig(tree)
    expect(await changes.startOf('a')).toEqual([
      { path: '/w/a.ts', before: 'before a 1', session: 'a', turn: 1 },
      { path: '/w/both.ts', before: 'before a 2', session: 'a', turn: 2 },
      { path: '/w/below.ts', before: 'before a-below 1', session: 'a-below', turn: 1 },
    ])
    expect(await changes.startOf('nobody')).toEqual([])
  })

  it('is not what the session was forked with', async () => {
    const { changes } = rig({ root: { madeAt: 0, changes: [] }, fork: { madeAt: 10, startedBy: 'root', seeds: 1, changes: ['1 seed.ts', '2 own.ts'] } })
    expect(await changes.filesOf(['fork'])).toEqual(['/w/own.ts'])
    expect(await changes.startOf('fork')).toEqual([{ path: '/w/own.ts', before: 'before fork 2', session: 'fork', turn: 2 }])
  })

  it.each([
    ['a', ['later', 'a-below', 'a'], ['/w/later.ts', '/w/both.ts', '/w/below.ts', '/w/a.ts']],
    ['later', ['later'], ['/w/later.ts']],
    ['apart', ['apart'], ['/w/apart.ts']],
  ])('goes back to before %s with what came after it in its folder, the newest first', async (id, sessions, paths) => {
    const { changes, undone, told } = rig(tree)
    expect(await changes.planBefore(id)).toEqual({ paths, agents: sessions.length })
    await changes.restoreBefore(id)
    expect(undone.map((line) => line.split(' ')[0])).toEqual(sessions)
    expect(told).toEqual([`root: ${sessions.map((session) => `/w/${session} of-agents`).join(', ')}`])
  })
})
