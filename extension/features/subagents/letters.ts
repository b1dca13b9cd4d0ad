import { messageOf } from '../../base/message-of.ts'
import type { Agent } from '../../core/session/agent.ts'
import { settings } from '../../core/settings/specs.ts'
import type { Child } from './child-book.ts'
import type { ChildEnds, ChildEndsParts } from './child-ends.ts'
import { notResumable, unauthorized } from './child-error.ts'
import type { ChildStarts } from './child-starts.ts'
import { childProjection, parseDescriptor, type ChildRecord } from './descriptor.ts'
import { checkMessage, subagentLimits } from './limits.ts'
import { outfit } from './outfit.ts'
import { SubagentError, type ChildPurpose, type Subagents } from './service.ts'
import type { ChildWorktree } from './worktree/service.ts'

interface LettersParts extends ChildEndsParts {
  readonly ends: ChildEnds
  readonly starts: ChildStarts
  readonly isDraining: () => boolean
}

/** What goes between agents: messages to children, made live again for them, interruptions, reports; and a child that the person takes over. */
export function createLetters({ ctx, newId, governor, book, ends, starts, isDraining }: LettersParts) {
  const { changes, children, remember, forget } = book
  const { consider, settle } = ends
  const { checkParent, createChild, persisted, announceStart } = starts
  /** Children on their way back to life. */
  const resuming = new Map<string, { readonly from: Agent; readonly child: Promise<Child> }>()

  /** The live child, made live again when it is not. Errors: `UNAUTHORIZED`, `NOT_RESUMABLE` and those of the store. */
  async function reach(from: Agent, childId: string, purpose: ChildPurpose | undefined): Promise<Child> {
    const known = children.get(childId)
    if (known !== undefined && known.mode === 'one-shot') throw notResumable(childId, 'it gives one answer and takes no messages')
    const isGoing = known?.release !== undefined || known?.agent?.isDisposed === true
    if (known !== undefined && !isGoing) {
      if (known.parent !== from) throw unauthorized(childId)
      return known
    }
    // It is being put away, by whomever: what is delivered now would be lost with it.
    if (known !== undefined) await settle(known)
    checkParent(from)
    const under = resuming.get(childId)
    if (under !== undefined) {
      const child = await under.child
      if (child.parent !== from) throw unauthorized(childId)
      return child
    }
    const child = resumeChild(from, childId, purpose).finally(() => resuming.delete(childId))
    resuming.set(childId, { from, child })
    return child
  }

  async function storedChild(from: Agent, childId: string) {
    const header = await ctx.sessions
      .readTail(childId, 1)
      .then((tail) => tail.header)
      .catch((cause: unknown) => {
        throw notResumable(childId, 'there is no such session, or it cannot be read', cause)
      })
    if (header.parentSession !== from.id || header.origin !== 'subagent') throw unauthorized(childId)
    if (ctx.agents.live(childId) !== undefined) throw notResumable(childId, 'the person works in it now')
    const record = await ctx.sessions.valueOf(childId, childProjection.key).catch((cause: unknown) => {
      throw notResumable(childId, 'its log cannot be read', cause)
    })
    // Only this unit has this key.
    const { descriptor: raw, isPromoted } = (record as ChildRecord | undefined) ?? childProjection.start()
    if (isPromoted) throw notResumable(childId, 'the person took it over')
    const descriptor = parseDescriptor(raw)
    if (descriptor === null) throw notResumable(childId, 'its log does not say what it is, in a form this version knows')
    if (descriptor.mode === 'one-shot') throw notResumable(childId, 'it gave its one answer')
    return { header, descriptor }
  }

  function worktreeOf(from: Agent, childId: string, cwd: string | undefined): ChildWorktree | undefined {
    try {
      return cwd === undefined ? undefined : ctx.get('worktrees')?.of(from.session, cwd)
    } catch (error) {
      throw notResumable(childId, messageOf(error), error)
    }
  }

  async function resumeChild(from: Agent, childId: string, purpose: ChildPurpose | undefined): Promise<Child> {
    const { header, descriptor } = await storedChild(from, childId)
    const { label, provider, agentProvider, agentModel, persona, toolFilter } = descriptor
    const before = children.get(childId)
    const worktree = worktreeOf(from, childId, header.cwd)
    const fresh = createChild(
      { parent: from, label, provider, purpose: purpose ?? before?.purpose ?? { kind: 'subagent' }, prompt: '', signal: new AbortController().signal, ...(before?.callId !== undefined && { callId: before.callId }) },
      'continuable',
      { id: childId, depth: header.delegationDepth ?? governor.depthOf(from) + 1, runId: newId(), ...(worktree && { worktree }) },
    )
    const child: Child = { ...fresh, createdAt: header.createdAt }
    const options = { ...(agentProvider !== undefined && { provider: agentProvider }), ...(agentModel !== undefined && { model: agentModel }) }
    try {
      const agent = await ctx.agents.resume(
        childId,
        (made) => {
          child.agent = made
          child.from = made.session.length
          outfit(ctx, child, made, { ...(persona !== undefined && { persona }), ...(toolFilter !== undefined && { toolFilter }) })
          remember(child)
        },
        { owner: from, agent: options },
      )
      if (child.agent !== agent) throw notResumable(childId, 'the person works in it now')
      await persisted(agent)
    } catch (error) {
      if (child.agent !== undefined) {
        child.release = Promise.resolve({ stopReason: 'aborted', output: '' })
        await child.agent.dispose()
      }
      forget(child)
      if (before !== undefined && !children.has(childId)) remember(before)
      throw error instanceof SubagentError ? error : notResumable(childId, messageOf(error), error)
    }
    child.isAcknowledged = true
    announceStart(child, true)
    return child
  }

  const send: Subagents['send'] = async ({ from, childId, message, mode, ahead = [], purpose, signal }) => {
    checkParent(from)
    checkMessage(message)
    signal?.throwIfAborted()
    for (;;) {
      const child = await reach(from, childId, purpose)
      try {
        signal?.throwIfAborted()
        checkParent(from)
        if (child.release !== undefined || child.agent === undefined || child.agent.isDisposed) continue
        if (child.parent !== from) throw unauthorized(childId)
        for (const one of ahead) child.agent.inject(one)
        if (mode === 'now') child.agent.steer(message)
        else if (mode === 'next-turn') child.agent.followup(message)
        else child.agent.inject(message)
        changes.emit()
      } finally {
        // One that was made live for words it did not get goes again.
        consider(child)
      }
      await persisted(child.agent)
      return
    }
  }

  const interrupt: Subagents['interrupt'] = ({ from, childId }) => {
    const child = children.get(childId)
    if (from !== 'person') {
      if (childId === from.id) throw unauthorized(childId)
      const isLive = child !== undefined && child.end === undefined
      if (isLive && !isAncestor(from, child)) throw unauthorized(childId)
      if (!isLive && ctx.agents.live(childId) !== undefined) throw unauthorized(childId)
      if (isLive && child.mode === 'one-shot') return false
    }
    if (child?.agent === undefined || child.release !== undefined || child.agent.status === 'idle') return false
    child.agent.cancel(from === 'person' ? { kind: 'user' } : { kind: 'parent' }, { keepInbox: true })
    return true
  }

  const report: Subagents['report'] = async ({ from, message }) => {
    if (isDraining()) throw new SubagentError('DRAINING', 'Agents are being stopped; nothing is delivered.')
    const child = children.get(from.id)
    if (child?.agent !== from || child.mode !== 'continuable') throw new SubagentError('UNAUTHORIZED', 'Only an agent that another one started, and may speak to again, can report.')
    if (child.release !== undefined || from.isDisposed) throw new SubagentError('ACTIVATION_CLOSING', 'This agent is being put away; its last words reach the one that started it by themselves.')
    const { parent } = child
    if (ctx.agents.live(parent.id) !== parent || parent.isDisposed) throw new SubagentError('PARENT_UNAVAILABLE', 'The agent that started this one is not there to hear it.')
    checkMessage(message)
    const waiting = [...parent.inbox.nextStep, ...parent.inbox.nextTurn].filter(({ source }) => source.kind === 'subagent-report' && source.senderSessionId === from.id).length
    if (waiting >= subagentLimits.waitingReports) throw new SubagentError('REPORT_LIMIT', `${waiting} of your reports have not been read yet, and no more are taken. Nothing was delivered; go on with your work and say the rest at its end.`)
    if (ctx.settings.get(settings.subagentsReportDelivery) === 'quiet') parent.inject(message)
    else parent.steer(message)
  }

  function isAncestor(agent: Agent, child: Child): boolean {
    for (let owner: Agent | undefined = child.parent; owner !== undefined; owner = owner.owner) if (owner === agent) return true
    return false
  }

  async function promote(childId: string): Promise<void> {
    const child = children.get(childId)
    if (child?.mode === 'one-shot' && child.end === undefined) throw notResumable(childId, 'it works on its one answer; wait for it, or interrupt it')
    if (child !== undefined && child.end === undefined) {
      // It goes on as somebody else's, so nobody is told of an end.
      child.isAcknowledged = false
      child.agent?.cancel({ kind: 'user' }, { keepInbox: true })
      await settle(child)
    }
    const agent = await ctx.agents.resume(childId)
    agent.session.append({ type: 'subagent/promoted', data: {}, ignorable: true })
    await agent.session.flush()
    // Under a name of its own it stands in the list of sessions.
    const { descriptor } = agent.session.projections().values[childProjection.key] as ChildRecord
    const label = parseDescriptor(descriptor)?.label ?? ''
    if (label.trim() !== '') await ctx.sessions.rename(childId, label)
    const known = children.get(childId)
    if (known !== undefined) forget(known)
  }

  /** Those that come back, of one parent or of all, are there, or are not coming. */
  const whenResumed = (parent?: Agent) => Promise.allSettled([...resuming.values()].flatMap(({ from, child }) => (parent === undefined || from === parent ? [child] : [])))

  return { send, interrupt, report, promote, whenResumed }
}
