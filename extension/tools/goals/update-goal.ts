import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { GoalCalls } from '../../features/goals/calls.ts'
import { goalOutput, goalValue } from './goal-schema.ts'
import { presentCall } from './update-goal.card.ts'

/** `update_goal`: change the goal, or say that it is reached or blocked. Source: agent tools specification 1.5. */
export const createUpdateGoal = (goals: Pick<GoalCalls, 'update' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'update_goal',
    description: 'Change the goal; give the id and revision that get_goal says. In a round of the goal only complete and blocked are yours; complete runs its checks first. edit, pause and resume need a word of the person.',
    parameters: {
      goal_id: { type: 'string', required: true },
      revision: { type: 'number', required: true },
      action: { type: 'string', required: true, enum: ['edit', 'pause', 'resume', 'complete', 'blocked'] },
      objective: { type: 'string', description: 'For edit.' },
      max_goal_rounds: { type: 'number', description: 'For edit.' },
      blocked_reason: { type: 'string', description: 'For blocked: what is in the way, and what the person would have to do.' },
    },
    output: goalOutput,
    execute: async (args, exec) => goalValue(await goals.update(exec, args)),
    limits: [
      { of: 'objective', max: goals.limits.objectiveChars, unit: 'characters' },
      { of: 'blocked_reason', max: goals.limits.reasonChars, unit: 'characters' },
      { of: 'the diff that goes with the last account', max: goals.limits.diffBytes, unit: 'bytes' },
    ],
    presentCall,
  })
