import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { GoalCalls } from '../../features/goals/calls.ts'
import { presentCall } from './get-goal.card.ts'
import { goalOutput, goalValue } from './goal-schema.ts'

/** `get_goal`: the goal of the session as it is now. Source: agent tools specification 1.3. */
export const createGetGoal = (goals: Pick<GoalCalls, 'read'>): ToolDefinition =>
  defineTool({
    name: 'get_goal',
    description: 'Read the goal of this session: id, revision, phase, rounds, budgets and checks.',
    parameters: {},
    output: goalOutput,
    execute: (_args, exec) => goalValue(goals.read(exec)),
    presentCall,
  })
