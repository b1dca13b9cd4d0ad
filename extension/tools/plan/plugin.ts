import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/plan/service.ts'
import type {} from '../../features/questions/service.ts'
import { createExitPlanMode } from './exit-plan-mode.ts'

/** Registers `exit_plan_mode`, in plan mode and out of it: the declarations stay as they are. */
export const planTools: Plugin = {
  name: 'tools-plan',
  inject: ['tools', 'plan', 'planReviews'],
  apply(ctx) {
    const gone = new AbortController()
    ctx.tools.register(createExitPlanMode({ plan: ctx.plan, reviews: ctx.planReviews, questions: () => ctx.get('questions'), gone: gone.signal }))
    ctx.effect(() => gone.abort())
  },
}
