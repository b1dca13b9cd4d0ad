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
import { createPlanBook } from './plan.ts'
import type {} from './service.ts'

type PlanView = { readonly active: boolean }

export const planProjection: Projection<PlanView, PlanView> = {
  key: 'plan',
  stateVersion: 1,
  schema: () => z.strictObject({ active: z.boolean() }),
  start: () => ({ active: false }),
  step: (state, event) => (event.type === 'plan/mode' ? event.data : state),
  view: (state) => state,
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
      const book = createPlanBook({ logger })
      ctx.provide('plan', book)
      const { permissions } = ctx
      ctx.effect(permissions.cap((session) => (book.isActive(session) ? refusal : null)))
      ctx.tools.guard(({ name, arguments: args, agent }) => {
        if (agent === undefined || !book.isActive(agent.session)) return undefined
        return permissions.effectOf(name, args, agent.scope).kind === 'edit' ? refusal : undefined
      })
      ctx.systemPrompt.runtimeContext({
        name: 'plan',
        order: 50,
        text({ agent }) {
          const { isActive, wasActive } = book.state(agent.session)
          return isActive ? guidance : wasActive ? 'Plan mode is off: the permissions above hold again.' : undefined
        },
      })
      ctx.on('agent/pre-step', async ({ agent }, next) => {
        const decision = await next()
        if (decision.kind === 'enter') book.settle(agent)
        return decision
      })
      ctx.on('agent/disposed', book.forget)
      ctx.plugin(planCommand({ plan: book, machine }))
    },
  }
}

const refusal = 'The session is in plan mode, so nothing may be changed yet: read, search and write the plan. The person ends plan mode when they agree with it.'

const guidance = `Plan mode is on. Explore, ask, and work out a plan; change nothing.
- Read and search files, and run commands that only read. What changes anything is refused, whatever the permissions say.
- Ask where the task leaves a choice that matters.
- Answer with the plan: what you will do, in which files, in which order, and how it will be checked. The person reads it and ends plan mode when they agree.`
