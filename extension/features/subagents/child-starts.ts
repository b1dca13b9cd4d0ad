import { isErrorOf } from '../../base/harness-error.ts'
import { messageOf } from '../../base/message-of.ts'
import { fitBytes } from '../../base/text.ts'
import type { Undo } from '../../base/undo.ts'
import { EventStoreError } from '../../capabilities/event-store.ts'
import type { Agent } from '../../core/session/agent.ts'
import { settings } from '../../core/settings/specs.ts'
import type { Child } from './child-book.ts'
import type { ChildEnds, ChildEndsParts } from './child-ends.ts'
import { duplicate, unavailable } from './child-error.ts'
import { lastLineOf } from './last-line.ts'
import { checkPrompt, subagentLimits } from './limits.ts'
import { coordinatorMessage } from './notices.ts'
import { checkFilter, outfit } from './outfit.ts'
import { SubagentError, type ChildOutcome, type ChildRequest, type RunningChild, type SubagentDescriptor, type SubagentProvider, type Subagents } from './service.ts'
import { checkOutputSchema } from './structured-output.ts'
import { WorktreeError, type ChildWorktree } from './worktree/service.ts'

interface ChildStartsParts extends ChildEndsParts {
  readonly ends: ChildEnds
  readonly providers: ReadonlyMap<string, SubagentProvider>
  readonly isDraining: () => boolean
}

export type ChildStarts = ReturnType<typeof createChildStarts>

/** How a child comes to be: checked, given a place, made with all that is its own, told its task; or nothing is left of it. */
export function createChildStarts({ ctx, dispatch, clock, logger, newId, governor, book, ends, providers, isDraining }: ChildStartsParts) {
  const { changes, children, starting, remember, forget, tellSoon } = book
  const { consider, considerAgent, contained, settle, finish } = ends

  function checkParent(parent: Agent): void {
    if (isDraining()) throw new SubagentError('DRAINING', 'Agents are being stopped; none can be started or spoken to.')
    if (parent.isDisposed) throw new SubagentError('ACTIVATION_CLOSING', 'This agent is being closed, so it starts no other.')
    if (ctx.agents.live(parent.id) !== parent) throw new SubagentError('PARENT_UNAVAILABLE', 'The agent that asks is not live any more.')
  }

  function providerFor({ provider: name, schema, toolFilter, persona, maxDepth }: Pick<ChildRequest, 'provider' | 'schema' | 'toolFilter' | 'persona' | 'maxDepth'>, isContinuable: boolean): SubagentProvider {
    const provider = providers.get(name)
    if (provider === undefined) throw new SubagentError('NO_PROVIDER', `There is no provider of agents named ${name}. There are: ${[...providers.keys()].join(', ') || 'none'}.`)
    const { supports } = provider
    const missing = [
      schema !== undefined && !supports.outputSchema && 'results of a given schema',
      toolFilter !== undefined && !supports.toolFilter && 'a filter of tools',
      persona !== undefined && !supports.persona && 'a persona',
      typeof maxDepth === 'number' && !supports.depthLimit && 'a limit of depth',
      isContinuable && !supports.continuable && 'agents that take more messages',
    ].filter((word) => word !== false)
    if (missing.length > 0) throw new SubagentError('UNSUPPORTED_CAPABILITY', `The provider ${name} cannot give ${missing.join(' or ')}. Leave that out, or use another provider.`)
    if (isContinuable && (!provider.isLocal || ctx.get('agents') === undefined)) throw new SubagentError('CONTINUATION_UNAVAILABLE', `Agents of ${name} cannot be kept for later messages here. Start one that gives one answer.`)
    checkFilter(toolFilter)
    if (schema !== undefined) checkOutputSchema(schema)
    return provider
  }

  /** What a child takes over is read before anything is waited for. */
  function inherited({ parent, model }: Pick<ChildRequest, 'parent' | 'model'>) {
    const own = ctx.agents.optionsOf(parent.id)
    return { preset: ctx.agents.presetOf(parent.id), cwd: parent.session.header.cwd ?? '', options: { ...own, ...model }, depth: governor.depthOf(parent) + 1, asked: { ...ctx.agents.configurationOf(parent.id), ...model } }
  }

  function createChild(request: Omit<ChildRequest, 'schema'>, mode: Child['mode'], facts: Pick<Child, 'id' | 'depth' | 'runId' | 'worktree'>): Child {
    const { parent, label, provider, purpose, callId, jobId } = request
    const now = clock.now()
    const settled = Promise.withResolvers<ChildOutcome>()
    return { ...facts, parent, label, provider, mode, purpose, ...(callId !== undefined && { callId }), ...(jobId !== undefined && { jobId }), createdAt: now, startedAt: now, from: 0, tail: '', isClosing: false, isQueued: false, isAcknowledged: false, settled }
  }

  async function start(request: ChildRequest): Promise<RunningChild> {
    const { parent, signal } = request
    checkParent(parent)
    checkPrompt(request.prompt)
    const provider = providerFor(request, false)
    const taken = inherited(request)
    signal.throwIfAborted()
    return counted(parent, async (stop) => {
      const modelProvider = provider.isLocal ? taken.asked.provider : undefined
      const maxDepth = provider.supports.depthLimit ? request.maxDepth : 'provider-managed'
      const release = await governor.enter({ parent, signal: AbortSignal.any([signal, stop]), ...(modelProvider !== undefined && { provider: modelProvider }), ...(maxDepth !== undefined && { maxDepth }) })
      let worktree: ChildWorktree | undefined
      try {
        checkParent(parent)
        const runId = newId()
        worktree = await isolated(request, runId)
        checkParent(parent)
        const place = worktree === undefined ? taken : { ...taken, cwd: worktree.folder }
        const facts = { runId, ...(worktree && { worktree }) }
        return provider.isLocal ? await startLocal(request, provider, place, release, facts) : await startForeign(request, provider, place, release, facts)
      } catch (error) {
        await worktree?.discard()
        release()
        throw error
      }
    })
  }

  async function startLocal(request: ChildRequest, provider: SubagentProvider, taken: ReturnType<typeof inherited>, release: Undo, facts: Pick<Child, 'runId' | 'worktree'>): Promise<RunningChild> {
    const { signal, label } = request
    const child = createChild(request, 'one-shot', { id: newId(), depth: taken.depth, ...facts })
    const agent = await materialise(child, request, provider, taken, { version: 2, mode: 'one-shot', provider: provider.name, label })
    governor.bind(agent, release)
    await rolledBackOnFailure(child, () => {
      signal.throwIfAborted()
      checkParent(request.parent)
      agent.followup(coordinatorMessage(newId(), request.parent.id, request.prompt))
    })
    const onAbort = () => {
      agent.cancel({ kind: 'parent' })
      void settle(child)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    void child.settled.promise.then(() => signal.removeEventListener('abort', onAbort))
    announceStart(child, true)
    return { runId: child.runId, childId: child.id, outcome: child.settled.promise }
  }

  async function startForeign(request: ChildRequest, provider: SubagentProvider, taken: ReturnType<typeof inherited>, release: Undo, facts: Pick<Child, 'runId' | 'worktree'>): Promise<RunningChild> {
    if (provider.start === undefined) throw new SubagentError('NO_PROVIDER', `The provider ${provider.name} cannot start an agent.`)
    const { runId } = facts
    const draft = createChild(request, 'one-shot', { id: runId, depth: taken.depth, ...facts })
    const started = await provider.start({
      ...request,
      runId,
      cwd: taken.cwd,
      onText(text) {
        const line = lastLineOf(text)
        if (line === undefined) return
        const known = [...children.values()].find((one) => one.runId === runId) ?? draft
        known.lastLine = line
        tellSoon()
      },
    })
    const child: Child = { ...draft, id: started.childId, ...(draft.lastLine !== undefined && { lastLine: draft.lastLine }) }
    remember(child)
    announceStart(child, false)
    void started.outcome
      .catch((error: unknown): ChildOutcome => ({ stopReason: 'error', output: '', diagnostic: fitBytes(messageOf(error), subagentLimits.diagnosticBytes).text }))
      .then(async (outcome) => {
        await contained(child, child.worktree?.end())
        release()
        finish(child, outcome)
      })
    return { runId, childId: child.id, outcome: child.settled.promise }
  }

  async function startContinuable(request: Parameters<Subagents['startContinuable']>[0]): Promise<{ readonly childId: string }> {
    const { parent, signal, label, persona, toolFilter } = request
    checkParent(parent)
    checkPrompt(request.prompt)
    const provider = providerFor(request, true)
    const taken = inherited(request)
    signal.throwIfAborted()
    const childId = request.childId ?? newId()
    if (children.get(childId)?.end === undefined && children.has(childId)) throw duplicate(childId)
    governor.admit({ parent, ...(request.maxDepth !== undefined && { maxDepth: request.maxDepth }) })
    const runId = newId()
    const descriptor: SubagentDescriptor = {
      version: 2,
      mode: 'continuable',
      provider: provider.name,
      label,
      ...(taken.asked.provider !== '' && { agentProvider: taken.asked.provider }),
      ...(taken.asked.model !== '' && { agentModel: taken.asked.model }),
      ...(persona !== undefined && { persona }),
      ...(toolFilter !== undefined && { toolFilter }),
    }
    return counted(parent, async () => {
      const worktree = await isolated(request, runId, { mayReturn: true })
      const child = createChild(request, 'continuable', { id: childId, depth: taken.depth, runId, ...(worktree && { worktree }) })
      const agent = await materialise(child, request, provider, worktree === undefined ? taken : { ...taken, cwd: worktree.folder }, descriptor).catch(async (error: unknown) => {
        await worktree?.discard()
        throw error
      })
      await rolledBackOnFailure(child, async () => {
        signal.throwIfAborted()
        checkParent(parent)
        agent.followup(coordinatorMessage(newId(), parent.id, request.prompt))
        await persisted(agent)
      })
      child.isAcknowledged = true
      announceStart(child, true)
      consider(child)
      return { childId }
    })
  }

  /** A folder of its own, asked for or by the settings; there only where it can be had. */
  async function isolated({ parent, isolation, label, callId, purpose, signal }: Omit<ChildRequest, 'schema'>, runId: string, { mayReturn = false } = {}): Promise<ChildWorktree | undefined> {
    const isByDefault = isolation === undefined && purpose.kind === 'subagent' && ctx.settings.get(settings.subagentsIsolation) === 'worktree'
    if (isolation === undefined && !isByDefault) return undefined
    const worktrees = ctx.get('worktrees')
    if (worktrees === undefined) {
      if (isByDefault) return undefined
      throw new SubagentError('UNSUPPORTED_CAPABILITY', 'No worktrees can be kept here. Start the agent without isolation.')
    }
    try {
      return await worktrees.create({ parent, runId, label, mayReturn, signal, ...(callId !== undefined && { callId }) })
    } catch (error) {
      if (!isByDefault || !isErrorOf(WorktreeError, error) || error.code === 'NO_SPACE') throw error
      logger.info('An agent works in the folder of who started it: no worktree can be made.', { code: error.code })
      return undefined
    }
  }

  /** The session and the agent of a child, with all that is its own, before anybody else hears of it. */
  async function materialise(
    child: Child,
    { parent, persona, toolFilter, schema }: Pick<ChildRequest, 'parent' | 'persona' | 'toolFilter' | 'schema'>,
    { inheritsParentContext }: SubagentProvider,
    { preset, cwd, options, depth }: ReturnType<typeof inherited>,
    descriptor: SubagentDescriptor,
  ): Promise<Agent> {
    const boundary = inheritsParentContext ? parent.session.milestones().findLast(({ type }) => type === 'turn/end')?.seq : undefined
    try {
      return await ctx.agents.create({
        cwd,
        preset,
        owner: parent,
        agent: options,
        child: { id: child.id, delegationDepth: depth, opening: { type: 'subagent/descriptor', data: descriptor }, ...(boundary !== undefined && { boundary }) },
        setUp(agent) {
          child.agent = agent
          child.from = agent.session.length
          outfit(ctx, child, agent, { ...(persona !== undefined && { persona }), ...(toolFilter !== undefined && { toolFilter }), ...(schema !== undefined && { schema }) })
          remember(child)
        },
      })
    } catch (error) {
      forget(child)
      if (isErrorOf(EventStoreError, error, 'SESSION_ALREADY_EXISTS')) throw duplicate(child.id)
      if (isErrorOf(EventStoreError, error)) throw unavailable(error)
      throw error
    }
  }

  /** Count a start, so that its parent is not taken to be at rest meanwhile. `stop` fires when the parent goes. */
  async function counted<T>(parent: Agent, work: (stop: AbortSignal) => Promise<T>): Promise<T> {
    const starts = starting.get(parent) ?? { works: new Set(), stop: new AbortController() }
    starting.set(parent, starts)
    const working = work(starts.stop.signal)
    starts.works.add(working)
    try {
      return await working
    } finally {
      starts.works.delete(working)
      if (starts.works.size === 0) starting.delete(parent)
      changes.emit()
      considerAgent(parent)
    }
  }

  /** Those of a parent that goes, or of all: none waits for a place any more. Resolves when each is taken back or is a child that can be put away. */
  async function ended(parents: readonly Agent[] = [...starting.keys()]): Promise<void> {
    const under = parents.flatMap((parent) => starting.get(parent) ?? [])
    for (const { stop } of under) stop.abort(new SubagentError('ACTIVATION_CLOSING', 'The agent that asked is being closed, so it starts no other.'))
    await Promise.allSettled(under.flatMap(({ works }) => [...works]))
  }

  async function rolledBackOnFailure(child: Child, work: () => void | Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      child.isAcknowledged = false
      const { agent } = child
      child.release = Promise.resolve({ stopReason: 'aborted', output: '' })
      forget(child)
      await agent?.dispose()
      await child.worktree?.discard()
      if (agent !== undefined) governor.rest(agent)
      await ctx.sessions.remove(child.id).catch((cause: unknown) => {
        // A session that was never stored has nothing to remove.
        if (!isErrorOf(EventStoreError, cause, 'SESSION_NOT_FOUND')) logger.warn('A child that could not be started left its session.', { session: child.id, error: messageOf(cause) })
      })
      throw error
    }
  }

  async function persisted(agent: Agent): Promise<void> {
    try {
      if (agent.session.access === 'read-only') throw new Error('another window writes this session')
      await agent.session.flush()
    } catch (cause) {
      throw unavailable(cause)
    }
  }

  function announceStart({ parent, runId, provider, id }: Child, local: boolean): void {
    dispatch.emit('subagent/start', parent.scope, [{ parent, runId, provider, id, local }])
    changes.emit()
  }

  return { start, startContinuable, ended, checkParent, createChild, persisted, announceStart }
}
