import { describe, expect, it } from 'vitest'
import type { SessionEvent } from '../../../../../extension/core/log/event.ts'
import type {} from '../../../../../extension/features/subagents/worktree/service.ts'
import { worktreeMoves, worktreesIn, type WorktreePhase, type WorktreeWord } from '../../../../../extension/features/subagents/worktree/state.ts'

const opened = { type: 'worktree/opened', data: { id: 'w', label: 'l', runId: 'r', repository: '/project', root: '/w', gitDir: '/g', branch: 'b', base: 'c0' } } as const
const waiting = { type: 'worktree/waiting', data: { id: 'w', files: 2, commit: 'c1' } } as const
const closed = { type: 'worktree/closed', data: { id: 'w', how: 'discarded' } } as const
const words = { 'worktree/opened': opened, 'worktree/waiting': waiting, 'worktree/closed': closed } satisfies Readonly<Record<WorktreeWord, unknown>>
const ways: Readonly<Record<WorktreePhase | 'none', readonly WorktreeWord[]>> = { none: [], open: ['worktree/opened'], waiting: ['worktree/opened', 'worktree/waiting'], closed: ['worktree/opened', 'worktree/closed'] }
const fold = (...events: readonly WorktreeWord[]) => worktreesIn(events.map((type, seq) => ({ ...words[type], seq, at: 0 }) as unknown as SessionEvent)).get('w')

describe('a worktree by its log', () => {
  it.each(Object.entries(ways).flatMap(([from, way]) => Object.keys(words).map((word) => [from as WorktreePhase | 'none', word as WorktreeWord, way] as const)))('that is %s, when the log says %s', (from, word, way) => {
    expect(fold(...way, word)?.phase).toBe(worktreeMoves[from][word] ?? (from === 'none' ? undefined : from))
  })

  it('is as its newest end says', () => {
    const failed = { type: 'worktree/waiting', data: { id: 'w', files: 2, problem: 'no room' } }
    const events = [opened, waiting, failed].map((event, seq) => ({ ...event, seq, at: 0 }) as unknown as SessionEvent)
    expect(worktreesIn(events).get('w')).toEqual({ ...opened.data, phase: 'waiting', files: 2, problem: 'no room' })
  })
})
