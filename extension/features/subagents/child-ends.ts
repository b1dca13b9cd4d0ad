import { messageOf } from '../../base/message-of.ts'
import { fitBytes } from '../../base/text.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Child, ChildBook } from './child-book.ts'
import { subagentLimits } from './limits.ts'
import { settledMessage } from './notices.ts'
import { outcomeOf } from './outcome.ts'
import type { RuntimeParts } from './runtime.ts'
import type { ChildOutcome } from './service.ts'

export interface ChildEndsParts extends RuntimeParts {
  readonly book: ChildBook
}

export type ChildEnds = ReturnType<typeof createChildEnds>

/** How an epoch of a child ends: when it is quiet and childless, or is told to; its agent goes, and its parent hears of it. */
export function createChildEnds({ ctx, dispatch, clock, logger, newId, governor, book }: ChildEndsParts) {
  const { changes, starting, liveOf, dropOldest } = book

  function considerAgent(agent: Agent): void {
    const child = book.ofAgent(agent)
    if (child !== undefined) consider(child)
  }

  /** Quiet and without children: released. Asked whenever either may have changed, and looked at when the news is over. */
  function consider(child: Child): void {
    queueMicrotask(() => {
      if (child.release === undefined && !child.isClosing && isSettled(child)) void close(child)
    })
  }

  /** Stored first; who got a new message meanwhile stays. */
  async function close(child: Child): Promise<void> {
    child.isClosing = true
    const failure = await storeFailure(child)
    child.isClosing = false
    if (child.release === undefined && isSettled(child)) void settle(child, failure)
  }

  async function storeFailure({ agent }: Child): Promise<string | undefined> {
    try {
      if (agent?.session.access === 'write') await agent.session.flush()
      return undefined
    } catch (error) {
      return messageOf(error)
    }
  }

  function isSettled({ agent, mode, isAcknowledged, capture }: Child): boolean {
    if (agent === undefined || agent.status === 'running' || agent.isDisposed) return false
    if (mode === 'continuable' && !isAcknowledged) return false
    if (capture !== undefined && capture.value() !== null) return true
    return liveOf(agent).length === 0 && !starting.has(agent)
  }

  function settle(child: Child, failure?: string): Promise<ChildOutcome> {
    child.release ??= released(child, failure)
    return child.release
  }

  async function released(child: Child, failure: string | undefined): Promise<ChildOutcome> {
    const { agent } = child
    if (agent !== undefined) {
      // Whoever waits for it is told of its end, however it went.
      await contained(child, agent.dispose())
      governor.rest(agent)
    }
    // Put in order before anybody hears of the end, so that what waits is there to be looked at.
    await contained(child, child.worktree?.end())
    const outcome = outcomeFor(child, failure)
    if (child.mode === 'continuable' && child.isAcknowledged) tellParent(child, outcome)
    finish(child, outcome)
    return outcome
  }

  /** Never rejects. */
  async function contained(child: Child, ending: Promise<unknown> | undefined): Promise<void> {
    try {
      await ending
    } catch (error) {
      logger.error('An agent could not be put away in order.', { session: child.id, error: messageOf(error) })
    }
  }

  function outcomeFor({ agent, from, capture }: Child, failure: string | undefined): ChildOutcome {
    if (agent === undefined) return { stopReason: 'aborted', output: '' }
    const outcome = outcomeOf(agent.session.events(from))
    if (failure !== undefined) {
      const before = outcome.stopReason === 'completed' ? '' : `${outcome.diagnostic ?? outcome.stopReason}. Then: `
      return { stopReason: 'error', output: '', diagnostic: fitBytes(`${before}What it did could not be stored: ${failure}`, subagentLimits.diagnosticBytes).text }
    }
    if (capture === undefined || outcome.stopReason !== 'completed') return outcome
    const structured = capture.value()
    return structured === null ? { ...outcome, stopReason: 'error', diagnostic: 'It ended without giving its result by structured_output.' } : { ...outcome, structured }
  }

  function finish(child: Child, outcome: ChildOutcome): void {
    const { parent, runId, provider, id, mode, agent } = child
    const ended = { completed: 'completed', aborted: 'aborted', error: 'failed', 'max-tokens': 'failed', refusal: 'failed' } as const
    child.end = { at: clock.now(), status: mode === 'continuable' ? 'ready' : ended[outcome.stopReason] }
    dispatch.emit('subagent/end', parent.scope, [{ parent, runId, provider, id, stopReason: outcome.stopReason, ...(outcome.output !== '' && { lastAssistantMessage: outcome.output }) }])
    child.settled.resolve(outcome)
    if (agent === undefined) child.release ??= Promise.resolve(outcome)
    dropOldest()
    changes.emit()
    considerAgent(parent)
  }

  /** Idle: a turn of its own. At work: with the next step. Going: kept for when it is back. Gone: dropped. */
  function tellParent(child: Child, outcome: ChildOutcome): void {
    const { parent } = child
    if (ctx.agents.live(parent.id) !== parent) return
    deliver(parent, settledMessage(newId(), child, outcome), parent.isDisposed ? 'quiet' : parent.status === 'idle' ? 'next-turn' : 'now')
  }

  function deliver(to: Agent, message: UserMessage, mode: 'now' | 'next-turn' | 'quiet'): void {
    try {
      if (mode === 'now') to.steer(message)
      else if (mode === 'next-turn') to.followup(message)
      else to.inject(message)
    } catch (error) {
      logger.warn('What became of an agent could not be told to the one that started it.', { session: to.id, error: messageOf(error) })
    }
  }

  return { consider, considerAgent, contained, settle, finish }
}
