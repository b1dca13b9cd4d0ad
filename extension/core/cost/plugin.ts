import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Plugin } from '../kernel/plugin.ts'
import type { EventType } from '../log/event.ts'
import type {} from '../log/event-types.ts'
import { settings as specs } from '../settings/specs.ts'
import type { Settings } from '../settings/settings.ts'
import { budgetsProjection, createBudgets, lastRequestProjection, type BudgetLimits, type Budgets } from './budgets.ts'
import { costProjection } from './cost-projection.ts'
import { costEventTypes } from './events.ts'
import { createCostLedger, type CostLedger } from './ledger.ts'
import { createMeter } from './meter.ts'

declare module '../kernel/plugin.ts' {
  interface Services {
    costs: CostLedger
    budgets: Budgets
  }
}

/** Meters every request, sums sessions with those they started, and holds spending to its limits. */
export function costPlugin({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): Plugin {
  return {
    name: 'cost',
    inject: ['eventTypes', 'projections', 'sessions', 'models', 'settings'],
    apply(ctx) {
      const { models, projections, sessions, settings } = ctx
      for (const [type, rules] of Object.entries(costEventTypes)) ctx.effect(ctx.eventTypes.register(type as EventType, rules))
      for (const unit of [costProjection, budgetsProjection, lastRequestProjection]) ctx.effect(projections.register(unit))
      const now = () => clock.now()
      const meter = createMeter({ sessions, models, clock, logger })
      ctx.on('llm/stream', (request, next) => meter.watch(request, next))
      const ledger = createCostLedger({ sessions, projections, logger, now })
      ctx.effect(ledger.dispose)
      ctx.on('session/created', ledger.opened)
      ctx.provide('costs', ledger)
      ctx.provide('budgets', createBudgets({ ledger, limits: () => limitsFrom(settings), priceOf: meter.priceOf, now }))
    },
  }
}

function limitsFrom(settings: Settings): BudgetLimits {
  return {
    cost: { turn: settings.get(specs.agentTurnCostLimit), session: settings.get(specs.agentCostLimit), day: settings.get(specs.agentDayCostLimit) },
    tokens: { turn: settings.get(specs.agentTurnTokenLimit), session: settings.get(specs.agentTokenLimit), day: settings.get(specs.agentDayTokenLimit) },
  }
}
