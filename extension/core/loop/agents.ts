import { jsonEquals } from '../../base/json.ts'
import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Carrier, Machine } from '../../capabilities/machine.ts'
import { everyLayer } from '../kernel/plugin.ts'
import type { Context, Kernel, Plugin } from '../kernel/plugin.ts'
import type { SessionEvent } from '../log/event.ts'
import type { CallConfiguration } from '../model/contract.ts'
import { PresetError } from '../presets/preset.ts'
import type { Agent } from '../session/agent.ts'
import { SessionError } from '../session/session.ts'
import type { Session } from '../session/session.ts'
import { settings } from '../settings/specs.ts'
import { LiveAgent } from './agent.ts'
import { selected } from './attempt.ts'
import { failureFrom } from './failure.ts'
import type { AgentOptions, Agents, AgentSetUp, ResumedAs } from './points.ts'
import type { LoopServices, RequestDefaults } from './turn-context.ts'

export interface AgentsOptions {
  readonly kernel: Kernel
  readonly clock: Clock
  readonly logger: Logger
  readonly machine: Pick<Machine, 'randomId' | 'createCarrier'>
  readonly blobs: Pick<BlobStore, 'getAttachment'>
}

/** The plugin that offers the live agents. Source: runtime specification 10.5. */
export function createAgentsPlugin(options: AgentsOptions): Plugin {
  return {
    name: 'agents',
    inject: ['sessions', 'tools', 'models', 'systemPrompt', 'settings', 'presets'],
    apply(ctx) {
      const agents = new LiveAgents(ctx, options)
      ctx.provide('agents', agents)
      return () => agents.dispose()
    },
  }
}

interface Publication {
  readonly session: Session
  readonly preset: string
  readonly options: AgentOptions
  readonly source: 'startup' | 'resume' | 'clear'
  readonly owner?: Agent | undefined
  readonly setUp?: AgentSetUp | undefined
}

class LiveAgents implements Agents {
  readonly #ctx: Context
  readonly #kernel: Kernel
  readonly #loop: LoopServices
  readonly #work: Carrier<Agent>
  readonly #live = new Map<string, { readonly agent: LiveAgent; preset: string }>()
  /** Agents that are gone and whose sessions are still being written to the end. */
  readonly #leaving = new Map<string, LiveAgent>()
  /** Sessions on their way to an agent, so that two that ask get the same one. */
  readonly #resuming = new Map<string, Promise<Agent>>()

  constructor(ctx: Context, { kernel, clock, logger, machine, blobs }: AgentsOptions) {
    this.#ctx = ctx
    this.#kernel = kernel
    this.#work = machine.createCarrier()
    this.#loop = {
      dispatch: kernel.dispatch,
      clock,
      logger,
      newId: () => machine.randomId(),
      tools: ctx.tools,
      models: ctx.models,
      systemPrompt: ctx.systemPrompt,
      loadAttachment: (sessionId, attachmentId) => blobs.getAttachment(sessionId, attachmentId),
      maxParallelToolCalls: () => ctx.settings.get(settings.agentMaxParallelToolCalls),
      maxStepsPerTurn: () => ctx.settings.get(settings.agentMaxStepsPerTurn),
      maxMinutesPerTurn: () => ctx.settings.get(settings.agentMaxMinutesPerTurn),
      budgets: () => ctx.get('budgets'),
      defaults: () => defaultsFrom(ctx),
    }
  }

  async create({ cwd, owner, preset: asked = owner === undefined ? this.#ctx.presets.defaultId() : this.presetOf(owner.id), agent: options = {}, child, setUp, isCleared }: Parameters<Agents['create']>[0]): Promise<Agent> {
    checkOptions(options)
    await this.#ctx.presets.discover()
    const preset = this.#ctx.presets.get(asked)?.id ?? asked
    // A preset that does not exist is found out before a session is made.
    this.#layerOf(preset, owner)
    const session = owner !== undefined && child !== undefined ? await this.#childSession({ cwd, preset, owner, child }) : await this.#ctx.sessions.create({ cwd, agentPreset: preset })
    try {
      return await this.#publish({ session, preset, options, source: isCleared === true ? 'clear' : 'startup', owner, setUp })
    } catch (error) {
      // What its set-up wrote goes too: nobody ever saw this session.
      if (session.length > 0) await this.#contained(session.id, this.#ctx.sessions.remove(session.id))
      throw error
    }
  }

  async #childSession({ cwd, preset, owner, child }: { readonly cwd: string; readonly preset: string; readonly owner: Agent; readonly child: NonNullable<Parameters<Agents['create']>[0]['child']> }): Promise<Session> {
    const { sessions } = this.#ctx
    const { id, delegationDepth, boundary, opening } = child
    if (boundary !== undefined) return sessions.fork(owner.id, { boundary, child: { delegationDepth, agentPreset: preset }, ending: [opening], ...(id !== undefined && { childId: id }) })
    const session = await sessions.create({ cwd, agentPreset: preset, origin: 'subagent', parentSession: owner.id, delegationDepth, ...(id !== undefined && { id }) })
    try {
      session.append(opening)
    } catch (error) {
      await this.#contained(session.id, session.close())
      throw error
    }
    return session
  }

  async resume(sessionId: string, setUp?: AgentSetUp, as?: ResumedAs): Promise<Agent> {
    const live = this.live(sessionId)
    // One that could only read is made anew: the writer may be gone by now.
    if (live && !live.isDisposed && live.session.access === 'write') return live
    const under = this.#resuming.get(sessionId)
    if (under) return under
    const work = this.#resume(sessionId, setUp, as)
      .catch((error: unknown) => {
        this.#kernel.dispatch.emit('agent-loop/config-start-failed', everyLayer, [{ sessionId, error }])
        throw error
      })
      .finally(() => this.#resuming.delete(sessionId))
    this.#resuming.set(sessionId, work)
    return work
  }

  async #resume(sessionId: string, setUp: AgentSetUp | undefined, as: ResumedAs | undefined): Promise<Agent> {
    await this.#ctx.presets.discover()
    // It gives its log back first.
    await (this.#live.get(sessionId)?.agent ?? this.#leaving.get(sessionId))?.dispose()
    const session = await this.#ctx.sessions.open(sessionId)
    const events = session.milestones()
    const preset = this.#usablePreset(effectivePreset(session, events) ?? this.#ctx.presets.defaultId())
    return this.#publish({ session, preset, options: as === undefined ? optionsFrom(events) : childOptionsFrom(events, session.header.seedLength ?? 0, as.agent), source: 'resume', owner: as?.owner, setUp })
  }

  suspend(): void {
    for (const { agent } of this.#live.values()) agent.suspend()
  }

  live(sessionId: string): Agent | undefined {
    return this.#live.get(sessionId)?.agent
  }

  list(): readonly Agent[] {
    return [...this.#live.values()].map(({ agent }) => agent)
  }

  initiator(): Agent | undefined {
    return this.#work.current()
  }

  configure(sessionId: string, options: AgentOptions): void {
    checkOptions(options)
    const { agent } = this.#known(sessionId)
    const isNews = !jsonEquals({ ...agent.options }, { ...options })
    // In the log, so that a reload and a fork begin with it too; whoever may not write asks for nothing either.
    if (isNews && agent.session.access === 'write') agent.session.append({ type: 'agent/configured', data: options })
    agent.options = options
  }

  optionsOf(sessionId: string): AgentOptions {
    return this.#known(sessionId).agent.options
  }

  configurationOf(sessionId: string): CallConfiguration {
    return selected({ options: this.optionsOf(sessionId), defaults: this.#loop.defaults() })
  }

  presetOf(sessionId: string): string {
    return this.#known(sessionId).preset
  }

  presetLock(sessionId: string): string | null {
    const { session } = this.#known(sessionId).agent
    return session.milestones().some(({ type }) => type === 'turn/start') ? 'The preset of a conversation is fixed once it has begun. Start a new one to use another preset.' : null
  }

  selectPreset(sessionId: string, asked: string): void {
    const known = this.#known(sessionId)
    const { session, scope } = known.agent
    const lock = this.presetLock(sessionId)
    if (lock !== null) throw new PresetError('agent-preset-locked', lock)
    const layer = this.#ctx.presets.scopeOf(asked)
    const preset = this.#ctx.presets.get(asked)?.id ?? asked
    if (known.preset === preset) return
    session.append({ type: 'agent-preset/selected', data: { agentPreset: preset } })
    this.#kernel.rebindScope(scope, layer)
    known.preset = preset
    this.#kernel.dispatch.emit('agent-preset/selected', scope, [sessionId, preset])
  }

  async dispose(): Promise<void> {
    await Promise.allSettled(this.#resuming.values())
    await Promise.all([...this.list(), ...this.#leaving.values()].map((agent) => agent.dispose()))
  }

  /** Nobody hears of an agent before it is complete, and a veto takes everything back. */
  async #publish({ session, preset, options, source, owner, setUp }: Publication): Promise<Agent> {
    const { dispatch } = this.#kernel
    const scope = this.#kernel.createScope(`agent ${session.id}`, this.#layerOf(preset, owner))
    let agent: LiveAgent | undefined
    this.#ctx.sessions.bindScope(session.id, scope)
    try {
      agent = new LiveAgent({
        session,
        scope,
        loop: this.#loop,
        options,
        work: this.#work,
        ...(owner && { owner }),
        tearDown: (gone) => this.#tearDown(gone),
      })
      await setUp?.(agent)
      this.#live.set(session.id, { agent, preset })
      dispatch.emitStrict('agent/created', scope, [agent])
    } catch (error) {
      if (agent) await agent.dispose()
      else {
        await this.#contained(session.id, this.#kernel.disposeScope(scope))
        await this.#detach(session)
      }
      throw error
    }
    dispatch.emit('agent/session-start', scope, [agent, source])
    agent.resumeTurn()
    return agent
  }

  /** A child stands on the very layer of the agent that started it, also when the preset's file changed or went meanwhile. */
  #layerOf(preset: string, owner: Agent | undefined): Agent['scope'] | null {
    const isOwners = owner !== undefined && this.#live.get(owner.id)?.preset === preset
    return isOwners ? owner.scope.parent : this.#ctx.presets.scopeOf(preset)
  }

  /** What it works with, its layer, itself, its session: each goes when what builds on it has gone. */
  async #tearDown(agent: LiveAgent): Promise<void> {
    const { dispatch } = this.#kernel
    const wasPublished = this.#live.get(agent.id)?.agent === agent
    if (wasPublished) await this.#contained(agent.id, dispatch.parallel('agent/disposing', agent.scope, [agent]))
    await this.#contained(agent.id, this.#kernel.disposeScope(agent.scope))
    if (!wasPublished) return this.#detach(agent.session)
    this.#leaving.set(agent.id, agent)
    this.#live.delete(agent.id)
    dispatch.emit('agent/disposed', agent.scope, [agent])
    try {
      await this.#detach(agent.session)
    } finally {
      this.#leaving.delete(agent.id)
    }
  }

  async #detach(session: Session): Promise<void> {
    await this.#contained(session.id, session.close())
    this.#ctx.sessions.bindScope(session.id, null)
  }

  /** One part that fails to stop must not keep the others running. */
  async #contained(sessionId: string, work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.#loop.logger.error('A part of an agent did not stop cleanly.', { session: sessionId, error: failureFrom(error).message })
    }
  }

  #known(sessionId: string): { readonly agent: LiveAgent; preset: string } {
    const known = this.#live.get(sessionId)
    if (!known) throw new SessionError('SESSION_NOT_FOUND', `Session ${sessionId} is not open. Open it first.`)
    return known
  }

  /** A session whose preset is gone opens with the one that can do least, never with one that can do more. */
  #usablePreset(preset: string): string {
    try {
      this.#ctx.presets.scopeOf(preset)
      return preset
    } catch (error) {
      if (!(error instanceof PresetError)) throw error
      this.#loop.logger.warn('The preset of a session cannot be used; it opens with the preset ask.', { preset, reason: error.message })
      return 'ask'
    }
  }
}

function defaultsFrom(ctx: Context): RequestDefaults {
  const read = ctx.settings
  const reasoningEffort = read.get(settings.modelReasoningEffort)
  const maxTokens = read.get(settings.modelMaxTokens)
  const temperature = read.get(settings.modelTemperature)
  return {
    provider: read.get(settings.modelProvider),
    model: read.get(settings.modelName),
    ...(reasoningEffort !== null && { reasoningEffort }),
    ...(maxTokens !== null && { maxTokens }),
    ...(temperature !== null && { temperature }),
  }
}

/** The log says it last, the header first. */
function effectivePreset(session: Session, events: readonly SessionEvent[]): string | undefined {
  const chosen = events.findLast((event) => event.type === 'agent-preset/selected')
  return chosen?.data.agentPreset ?? session.header.agentPreset
}

/** What was chosen last, or the last request was made with; a model that only stood in for another until its turn ended is not what was chosen. */
function optionsFrom(events: readonly SessionEvent[]): AgentOptions {
  const turnStart = events.findLastIndex((event) => event.type === 'turn/start')
  const standIn = events.findIndex((event, index) => index > turnStart && event.type === 'llm/route' && event.data.failure !== undefined)
  const last = events.findLast((event, index) => event.type === 'agent/configured' || (event.type === 'request/header' && (standIn < 0 || index < standIn)))
  if (last?.type === 'agent/configured') return last.data
  const config = last?.type === 'request/header' ? last.data.header.config : undefined
  if (!config) return {}
  const { provider, model, maxTokens, reasoningEffort } = config
  return { provider, model, ...(maxTokens !== undefined && { maxTokens }), ...(reasoningEffort !== undefined && { reasoningEffort }) }
}

/** What a child chose or was asked with in its own part of the log, over what it was started with. */
function childOptionsFrom(events: readonly SessionEvent[], from: number, started: AgentOptions): AgentOptions {
  const { maxTokens: _maxTokens, ...own } = optionsFrom(events.filter(({ seq }) => seq >= from))
  return { ...started, ...own }
}

function checkOptions({ maxTokens }: AgentOptions): void {
  if (maxTokens === undefined || (Number.isSafeInteger(maxTokens) && maxTokens > 0)) return
  throw new RangeError(`An answer cannot have ${maxTokens} tokens at most; give a whole number of 1 or more, or none.`)
}
