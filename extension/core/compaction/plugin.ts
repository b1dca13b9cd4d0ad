import { isErrorOf } from '../../base/harness-error.ts'
import { orAbort } from '../../base/or-abort.ts'
import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Context, Dispatcher, PointListener, Plugin } from '../kernel/plugin.ts'
import { failureFrom } from '../loop/failure.ts'
import { ModelFacts } from '../loop/request.ts'
import type {} from '../loop/model-routes.ts'
import type {} from '../loop/points.ts'
import { ModelError } from '../model/contract.ts'
import type { CallConfiguration, ModelInfo } from '../model/contract.ts'
import { estimateMessageTokens } from '../model/token-estimate.ts'
import type {} from '../presets/preset.ts'
import type { Agent } from '../session/agent.ts'
import { AgentError } from '../session/agent.ts'
import { settings as specs } from '../settings/specs.ts'
import { makeRoom, type CompactionRun, type CompactorParts } from './compactor.ts'
import { compactionBusy, CompactionError, summaryFailed } from './error.ts'
import { policyFor, roomFor, type CompactionPolicy } from './policy.ts'
import type { Compaction, CompactionOutcome } from './service.ts'
import { pressureOf } from './situation.ts'

export interface CompactionOptions {
  readonly clock: Clock
  readonly machine: Pick<Machine, 'randomId'>
  readonly logger: Logger
  readonly dispatch: Dispatcher
  readonly blobs: Pick<BlobStore, 'getAttachment'>
}

/**
 * Provides `compaction` and, unless the setting `compaction.auto` is off, compacts by itself: before a step that would fill the
 * window too far, and after a request that the provider found too long. A preset may do without both.
 *
 * Source: runtime specification 13.
 */
export function compactionPlugin(options: CompactionOptions): Plugin {
  return {
    name: 'compaction',
    inject: ['agents', 'models', 'presets', 'settings'],
    apply(ctx) {
      const driver = new CompactionDriver(ctx, options)
      ctx.provide('compaction', driver)
      let stop = () => {}
      const follow = () => {
        stop()
        stop = driver.isAnyAuto ? driver.listen() : () => {}
      }
      follow()
      ctx.on('settings/updated', (key) => {
        if (!key.startsWith('compaction.')) return
        driver.forgetPolicies()
        follow()
      })
      return () => driver.dispose()
    },
  }
}

/** What one agent has been through, so that nothing is tried again without a new reason. */
interface AgentRecord {
  readonly facts: ModelFacts
  /** Tokens at which making room failed last, or led to nothing. */
  failedAt: number | null
  /** The step that overflowed last, and how often it was sent again. */
  overflow: { readonly place: string; retries: number }
}

/** Share of the room by which a talk has to grow before what failed is tried again. */
const patience = 0.05

class CompactionDriver implements Compaction {
  readonly #ctx: Context
  readonly #options: CompactionOptions
  readonly #parts: CompactorParts
  readonly #records = new WeakMap<Agent, AgentRecord>()
  readonly #policies = new Map<string, CompactionPolicy>()
  readonly #running = new Map<Agent, Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor(ctx: Context, options: CompactionOptions) {
    this.#ctx = ctx
    this.#options = options
    this.#parts = {
      models: ctx.models,
      settings: ctx.settings,
      clock: options.clock,
      newId: () => options.machine.randomId(),
      loadAttachment: (sessionId, attachmentId) => options.blobs.getAttachment(sessionId, attachmentId),
      // Without routes there is nowhere else to ask.
      nextRoute: async (request) => (await ctx.get('modelRoutes')?.next(request)) ?? null,
      logger: options.logger,
      configurationOf: (agent) => ctx.agents.configurationOf(agent.id),
    }
  }

  /** Some model is compacted without being asked. */
  get isAnyAuto(): boolean {
    return this.#ctx.settings.get(specs.compactionAuto) || this.#ctx.settings.get(specs.compactionModelPolicies).some(({ auto }) => auto === true)
  }

  /** Install the triggers. Gives their removal. */
  listen(): () => void {
    // First, so that whoever tells the model something again sees what it lost.
    const undos = [this.#ctx.on('agent/pre-step', this.#beforeStep, { prepend: true }), this.#ctx.on('agent/request-error', this.#afterFailure)]
    return () => {
      for (const undo of undos) undo()
    }
  }

  forgetPolicies(): void {
    this.#policies.clear()
  }

  async compact(agent: Agent, { signal, sourceCommandId }: NonNullable<Parameters<Compaction['compact']>[1]> = {}): Promise<CompactionOutcome> {
    const record = this.#recordOf(agent)
    if (this.#running.has(agent)) throw compactionBusy()
    try {
      return await agent.runMaintenance(async (stopped) => {
        const config = this.#ctx.agents.configurationOf(agent.id)
        const info = await this.#infoOf(record, config)
        const signals = [stopped, this.#closing.signal, ...(signal ? [signal] : [])]
        const outcome = await this.#run({
          agent, cause: 'manual', turn: null, incoming: 0, config, info, sourceCommandId, policy: this.#policyOf(config), signal: AbortSignal.any(signals),
        })
        record.failedAt = null
        return outcome
      })
    } catch (error) {
      if (isErrorOf(AgentError, error, 'BUSY')) throw compactionBusy(error)
      throw error instanceof ModelError ? summaryFailed(error.message, error) : error
    }
  }

  async dispose(): Promise<void> {
    this.#closing.abort(new DOMException('Compaction was taken away.', 'AbortError'))
    await Promise.allSettled(this.#running.values())
  }

  readonly #beforeStep: PointListener<'agent/pre-step'> = async (place, next) => {
    const { agent, messages, turn, signal, config } = place
    const policy = this.#policyOf(config)
    if (policy.isAuto && !this.#doesWithout(agent)) {
      const incoming = messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
      await this.#relieve({ agent, turn, signal, config, policy, incoming })
    }
    return next()
  }

  /** Never throws: what cannot be done is said in the log, and the step goes on. */
  async #relieve(place: Omit<CompactionRun, 'cause' | 'info'>): Promise<void> {
    const { agent, signal, config, policy, incoming } = place
    const record = this.#recordOf(agent)
    try {
      const info = await orAbort(this.#infoOf(record, config), signal)
      const room = roomFor(info, config)
      const used = () => pressureOf(agent.session).projectedTokens + incoming
      const isTooMuch = () => used() >= room * policy.thresholdRatio
      if (!isTooMuch() || (record.failedAt !== null && used() < record.failedAt + room * patience)) return
      // Until it has worked.
      record.failedAt = used()
      await this.#run({ ...place, cause: 'pressure', info, signal: AbortSignal.any([signal, this.#closing.signal]) })
      record.failedAt = isTooMuch() ? used() : null
    } catch (error) {
      if (signal.aborted) return
      this.#warn(agent, error)
    }
  }

  readonly #afterFailure: PointListener<'agent/request-error'> = async (place, next) => {
    if (place.failure.code !== 'CONTEXT_WINDOW_EXCEEDED' || this.#doesWithout(place.agent)) return next()
    return (await this.#recover(place)) ? { kind: 'retry' } : next()
  }

  #doesWithout(agent: Agent): boolean {
    return this.#ctx.presets.presetOf(agent.scope)?.hasCompaction === false
  }

  /** Whether the request is another one now. */
  async #recover({ agent, turn, step, signal }: Parameters<PointListener<'agent/request-error'>>[0]): Promise<boolean> {
    const record = this.#recordOf(agent)
    const { session } = agent
    const { generation } = session.surface()
    const at = `${turn}.${step}`
    if (record.overflow.place !== at) record.overflow = { place: at, retries: 0 }
    try {
      const config = this.#ctx.agents.configurationOf(agent.id)
      const policy = this.#policyOf(config)
      if (!policy.isAuto || record.overflow.retries >= policy.maxOverflowRetries) return false
      record.overflow.retries++
      const info = await orAbort(this.#infoOf(record, config), signal)
      await this.#run({ agent, cause: 'overflow', turn, incoming: 0, config, info, policy, signal: AbortSignal.any([signal, this.#closing.signal]) })
      record.failedAt = null
    } catch (error) {
      if (signal.aborted) return false
      this.#warn(agent, error)
    }
    return session.surface().generation !== generation
  }

  async #run(run: CompactionRun): Promise<CompactionOutcome> {
    const { agent } = run
    if (this.#running.has(agent)) throw compactionBusy()
    const work = makeRoom(this.#parts, run)
    this.#running.set(agent, work)
    try {
      const outcome = await work
      if (outcome.kind === 'summarised') this.#options.dispatch.emit('agent/session-start', agent.scope, [agent, 'compact'])
      return outcome
    } finally {
      this.#running.delete(agent)
    }
  }

  #warn(agent: Agent, error: unknown): void {
    const code = error instanceof CompactionError ? { code: error.code } : {}
    this.#options.logger.warn('A conversation could not be compacted.', { session: agent.id, ...code, reason: failureFrom(error).message })
  }

  #recordOf(agent: Agent): AgentRecord {
    const known = this.#records.get(agent)
    if (known) return known
    const record: AgentRecord = { facts: new ModelFacts(), failedAt: null, overflow: { place: '', retries: 0 } }
    this.#records.set(agent, record)
    return record
  }

  /** Errors: `ModelError`. */
  async #infoOf({ facts }: AgentRecord, { provider, model }: CallConfiguration): Promise<ModelInfo> {
    const info = await facts.of(this.#ctx.models.get(provider), model)
    if (info === undefined) throw new CompactionError('summary', `The window of ${model} is not known, because no provider "${provider}" is there.`)
    return info
  }

  #policyOf(config: CallConfiguration): CompactionPolicy {
    const key = JSON.stringify([config.provider, config.model])
    const policy = this.#policies.get(key) ?? policyFor(this.#ctx.settings, config)
    this.#policies.set(key, policy)
    return policy
  }
}
