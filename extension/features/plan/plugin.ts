import * as z from 'zod'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type {} from '../../core/commands/command.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/log/event-types.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/policy/permissions.ts'
import type { Projection } from '../../core/projections/projection.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import { planCommand } from './command.ts'
import { noPlan, stepPlan, type PlanState } from './plan-state.ts'
import { createPlanBook } from './plan.ts'
import { planIsOff, planPolicy, planRefusal } from './policy-text.ts'
import { createPlanReviews } from './reviews.ts'
import type {} from './service.ts'

/** `pending`: what waits for the next step. */
type PlanView = { readonly active: boolean; readonly pending: boolean | null }

const planProjection: Projection<PlanState, PlanView> = {
  key: 'plan',
  stateVersion: 2,
  schema: () => z.strictObject({ active: z.boolean(), pending: z.boolean().nullable() }),
  start: () => noPlan,
  step: stepPlan,
  view: ({ isActive, pending }) => ({ active: isActive, pending: pending?.active ?? null }),
}

/**
 * Plan mode: provides `plan`, and holds a session in it to reading.
 *
 * The policy refuses by its cap, shell commands judged part by part; the guard is the second lock, behind every listener.
 * The model hears of it in the runtime context, so that the prefix stays as it is.
 */
export function planPlugin({ logger, machine }: { readonly logger: Logger; readonly machine: Pick<Machine, 'randomId'> }): Plugin {
  return {
    name: 'plan',
    inject: ['eventTypes', 'projections', 'permissions', 'tools', 'systemPrompt'],
    apply(ctx) {
      ctx.effect(ctx.projections.register(planProjection))
      const book = createPlanBook({ logger, newId: () => machine.randomId() })
      ctx.provide('plan', book)
      ctx.provide('planReviews', createPlanReviews({ plan: book, newId: () => machine.randomId() }))
      const { permissions, tools } = ctx
      ctx.effect(permissions.cap((session, call) => (book.isHeld(session) && !book.covers(call) ? planRefusal : null)))
      ctx.tools.guard((call) => {
        if (call.agent === undefined || !book.isHeld(call.agent.session) || book.covers(call)) return undefined
        return permissions.effectOf(call.name, call.arguments, call.agent.scope).kind === 'edit' ? planRefusal : undefined
      })
      ctx.systemPrompt.runtimeContext({
        name: 'plan',
        order: 50,
        text({ agent, scope }) {
          const { isActive, wasActive, pending } = book.state(agent.session)
          // What waits for the step that is put together now holds in it.
          if (pending?.active ?? isActive) return planPolicy({ hasExitTool: agent.owner === undefined && tools.get('exit_plan_mode', scope) !== undefined })
          return wasActive || isActive ? planIsOff : undefined
        },
      })
      ctx.on('agent/pre-step', async ({ agent }, next) => {
        const decision = await next()
        if (decision.kind !== 'enter') return decision
        const notice = book.settle(agent)
        return notice === null ? decision : { ...decision, messages: [notice, ...decision.messages] }
      })
      ctx.on('agent/session-start', (agent) => book.restore(agent))
      ctx.plugin(planCommand({ plan: book }))
    },
  }
}
