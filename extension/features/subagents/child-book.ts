import { Emitter } from '../../base/emitter.ts'
import type { Undo } from '../../base/undo.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { ChildFacts, ChildOutcome, ChildPurpose, ChildStatus } from './service.ts'
import type { Capture } from './structured-output.ts'
import type { ChildWorktree } from './worktree/service.ts'

/** A child of this process. */
export interface Child {
  readonly runId: string
  readonly id: string
  readonly parent: Agent
  readonly label: string
  readonly provider: string
  readonly mode: 'one-shot' | 'continuable'
  readonly depth: number
  readonly purpose: ChildPurpose
  readonly callId?: string
  readonly jobId?: string
  readonly worktree?: ChildWorktree
  readonly createdAt: number
  readonly startedAt: number
  /** Absent for one that is no session of ours. */
  agent?: Agent
  /** First event of this epoch. */
  from: number
  capture?: Capture
  isQueued: boolean
  /** The start was acknowledged: its parent hears of its end. */
  isAcknowledged: boolean
  lastLine?: string
  /** Of what it streams just now. */
  tail: string
  /** Its end is being looked at. */
  isClosing: boolean
  end?: { readonly at: number; readonly status: 'completed' | 'failed' | 'aborted' | 'ready' }
  /** Under way or over; never rejects. */
  release?: Promise<ChildOutcome>
  readonly settled: PromiseWithResolvers<ChildOutcome>
}

export interface Starts {
  readonly works: Set<Promise<unknown>>
  /** Ends the wait for a place of those that have none yet. */
  readonly stop: AbortController
}

/** Ended children that are still told of. */
const MAX_ENDED = 200
/** A view hears of streamed text this often at most. */
const TELL_EVERY_MS = 200

export type ChildBook = ReturnType<typeof createChildBook>

/** Which children there are in this process, what is known of each, and who wants to hear of a change. */
export function createChildBook({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
  const changes = new Emitter<void>((error) => logger.error('A listener of the subagents failed.', { error: String(error) }))
  /** By the id of the child; the newest epoch of each. */
  const children = new Map<string, Child>()
  /** Starts under way, by parent: it is not at rest while there are some. */
  const starting = new Map<Agent, Starts>()
  let cancelTell: Undo | null = null

  const liveOf = (parent: Agent) => [...children.values()].filter((child) => child.parent === parent && child.end === undefined)

  function remember(child: Child): void {
    children.delete(child.id)
    children.set(child.id, child)
    changes.emit()
  }

  function forget(child: Child): void {
    if (children.get(child.id) === child) children.delete(child.id)
    changes.emit()
  }

  function dropOldest(): void {
    const ended = [...children.values()].filter(({ end }) => end !== undefined)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) children.delete(id)
  }

  function factsOf(child: Child): ChildFacts {
    const { id, parent, label, provider, mode, depth, purpose, callId, jobId, createdAt, startedAt, lastLine, end } = child
    return {
      id, parentId: parent.id, label, provider, mode, depth, purpose, createdAt, startedAt,
      status: statusOf(child),
      ...(callId !== undefined && { callId }),
      ...(jobId !== undefined && { jobId }),
      ...(lastLine !== undefined && { lastLine }),
      ...(child.worktree && { worktree: { path: child.worktree.folder, branch: child.worktree.branch } }),
      ...(end !== undefined && { endedAt: end.at }),
    }
  }

  function statusOf({ agent, end, isQueued }: Child): ChildStatus {
    if (end !== undefined) return end.status
    if (isQueued) return 'queued'
    if (agent === undefined || agent.status === 'running') return 'running'
    return liveOf(agent).length > 0 || starting.has(agent) ? 'waiting' : 'idle'
  }

  /** Streamed text comes in thousands of pieces; whoever draws hears of them now and then. */
  function tellSoon(): void {
    cancelTell ??= clock.schedule(TELL_EVERY_MS, () => {
      cancelTell = null
      changes.emit()
    })
  }

  return {
    changes,
    children,
    starting,
    liveOf,
    remember,
    forget,
    dropOldest,
    factsOf,
    tellSoon,
    ofAgent(agent: Agent): Child | undefined {
      const child = children.get(agent.id)
      return child?.agent === agent ? child : undefined
    },
    dispose: () => cancelTell?.(),
  }
}
