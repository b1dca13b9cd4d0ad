import type { SessionEvent } from '../../../core/log/event.ts'
import type { ChildWork } from './service.ts'

export type WorktreePhase = 'open' | 'waiting' | 'closed'
export type WorktreeWord = 'worktree/opened' | 'worktree/waiting' | 'worktree/closed'

/** What a log may say of a worktree, and what it is then. Anything else says nothing new. */
export const worktreeMoves: Readonly<Record<WorktreePhase | 'none', Partial<Record<WorktreeWord, WorktreePhase>>>> = {
  none: { 'worktree/opened': 'open' },
  open: { 'worktree/waiting': 'waiting', 'worktree/closed': 'closed' },
  waiting: { 'worktree/waiting': 'waiting', 'worktree/closed': 'closed' },
  closed: {},
}

/** One worktree as the log tells of it. */
export interface KnownWorktree extends ChildWork {
  readonly phase: WorktreePhase
  readonly runId: string
  readonly mayReturn?: boolean
  readonly gitDir: string
  readonly base: string
  readonly commit?: string
}

/** The worktrees of a session's children, in the order in which they were made. */
export function worktreesIn(events: readonly SessionEvent[]): ReadonlyMap<string, KnownWorktree> {
  const known = new Map<string, KnownWorktree>()
  for (const event of events) {
    if (event.type !== 'worktree/opened' && event.type !== 'worktree/waiting' && event.type !== 'worktree/closed') continue
    const before = known.get(event.data.id)
    const phase = worktreeMoves[before?.phase ?? 'none'][event.type]
    if (phase === undefined) continue
    if (event.type === 'worktree/opened') known.set(event.data.id, { ...event.data, phase, files: 0 })
    else if (before !== undefined && event.type === 'worktree/waiting') {
      const { problem: _, commit: __, ...rest } = before
      known.set(before.id, { ...rest, ...event.data, phase })
    } else if (before !== undefined) known.set(before.id, { ...before, phase })
  }
  return known
}
