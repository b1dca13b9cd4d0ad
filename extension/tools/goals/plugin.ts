import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/goals/calls.ts'
import { createCreateGoal } from './create-goal.ts'
import { createGetGoal } from './get-goal.ts'
import { createUpdateGoal } from './update-goal.ts'

/** Registers `create_goal`, `get_goal` and `update_goal`, with what the model has to know of goals. */
export const goalTools: Plugin = {
  name: 'tools-goals',
  inject: ['tools', 'goalCalls', 'systemPrompt'],
  apply(ctx) {
    const { goalCalls: goals, tools } = ctx
    for (const tool of [createCreateGoal(goals), createGetGoal(goals), createUpdateGoal(goals)]) tools.register(tool)
    ctx.systemPrompt.section({
      name: 'tool:goal',
      order: 114,
      tools: ['create_goal', 'get_goal', 'update_goal'],
      text: 'A goal is for what the person wants pursued until it is reached. Read it with get_goal before update_goal. After a reload it rests until the person has it resumed. Complete it on evidence only; report blocked only what the person alone can remove.',
    })
  },
}
