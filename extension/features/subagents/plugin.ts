import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Dispatcher, Plugin } from '../../core/kernel/plugin.ts'
import { settings } from '../../core/settings/specs.ts'
import { childProjection } from './descriptor.ts'
import { createGovernor } from './governor.ts'
import { createSubagents } from './runtime.ts'
import type { SubagentProvider } from './service.ts'

export interface SubagentsPluginParts {
  readonly dispatch: Dispatcher
  readonly clock: Clock
  readonly logger: Logger
  readonly machine: Pick<Machine, 'randomId'>
}

/** Where a provider names no time of its own after a rate limit, starts on it wait so long; never longer than the second. */
const RATE_LIMIT_WAIT_MS = 10_000
const LONGEST_RATE_LIMIT_WAIT_MS = 300_000

const inProcess = { outputSchema: true, depthLimit: true, toolFilter: true, persona: true, continuable: true } as const
const spawn: SubagentProvider = { name: 'spawn', supports: inProcess, inheritsParentContext: false, isLocal: true }
const fork: SubagentProvider = { name: 'fork', supports: inProcess, inheritsParentContext: true, isLocal: true }

/** Offers `subagents` with the providers `spawn` and `fork`; ends every child before it goes. Source: agent tools specification 6. */
export function subagentsPlugin({ dispatch, clock, logger, machine }: SubagentsPluginParts): Plugin {
  return {
    name: 'subagents',
    inject: ['agents', 'sessions', 'projections', 'tools', 'systemPrompt', 'settings'],
    apply(ctx) {
      ctx.effect(ctx.projections.register(childProjection))
      const governor = createGovernor({
        clock,
        logger,
        limits: () => ({
          maxConcurrent: ctx.settings.get(settings.subagentsMaxConcurrent),
          maxDepth: ctx.settings.get(settings.subagentsMaxDepth),
          maxTotal: ctx.settings.get(settings.subagentsMaxTotal),
        }),
      })
      const subagents = createSubagents({ ctx, dispatch, clock, logger, newId: () => machine.randomId(), governor })
      ctx.effect(subagents.registerProvider(spawn))
      ctx.effect(subagents.registerProvider(fork))
      ctx.provide('subagents', subagents)
      ctx.on('agent/pre-step', async ({ agent, signal }, next) => {
        if (subagents.has(agent.id)) await subagents.beforeStep(agent, signal)
        return next()
      }, { prepend: true })
      ctx.on('agent/request-error', (place, next) => {
        if (place.failure.code === 'RATE_LIMIT') governor.backOff(place.provider, Math.min(place.failure.providerRetryAfterMs ?? RATE_LIMIT_WAIT_MS, LONGEST_RATE_LIMIT_WAIT_MS))
        return next()
      }, { prepend: true })
      ctx.on('agent/status', (agent, status) => subagents.onStatus(agent, status))
      ctx.on('session/event', ({ id }, event) => {
        if (subagents.has(id)) subagents.onEvent(id, event)
      })
      ctx.on('agent/disposing', (agent) => subagents.endChildrenOf(agent))
      ctx.on('agent/disposed', (agent) => subagents.onDisposed(agent))
      ctx.effect(
        ctx.settings.onDidChange((key) => {
          if (key.startsWith('subagents.')) governor.refresh()
        }),
      )
      return () => subagents.dispose()
    },
  }
}
