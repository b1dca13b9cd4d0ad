import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { GoalCalls } from '../../features/goals/calls.ts'
import { presentCall } from './create-goal.card.ts'
import { goalOutput, goalValue } from './goal-schema.ts'

/** `create_goal`: give the session a goal that Bosun works towards by itself. Source: agent tools specification 1.4, 12.1, 12.2. */
export const createCreateGoal = (goals: Pick<GoalCalls, 'create' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'create_goal',
    description: 'Set the goal of this session, which you then work towards in rounds by yourself. Only when the person asks for something to be pursued until it is reached, never for ordinary work of one turn.',
    parameters: {
      objective: { type: 'string', required: true, description: 'What is reached, and how one can tell.' },
      max_goal_rounds: { type: 'number' },
      checks: { type: 'array', items: { type: 'string' }, description: 'Commands that must exit with 0 before it can complete; "no-new-errors" asks the editor.' },
      max_tokens: { type: 'number' },
      max_cost: { type: 'number', description: 'Dollars.' },
      max_minutes: { type: 'number' },
    },
    output: goalOutput,
    execute({ objective, max_goal_rounds, checks, max_tokens, max_cost, max_minutes }, exec) {
      // Models that fill every field send 0 for a budget they do not mean.
      const budget = <Name extends string>(name: Name, value: number | undefined) => (value === undefined || value === 0 ? {} : ({ [name]: value } as { readonly [Key in Name]: number }))
      return goalValue(
        goals.create(exec, {
          objective,
          ...(max_goal_rounds !== undefined && { maxGoalRounds: max_goal_rounds }),
          terms: { checks: checks ?? [], ...budget('maxTokens', max_tokens), ...budget('maxCost', max_cost), ...budget('maxMinutes', max_minutes) },
        }),
      )
    },
    limits: [
      { of: 'objective', max: goals.limits.objectiveChars, unit: 'characters' },
      { of: 'checks', max: goals.limits.checks, unit: 'items' },
      { of: 'one check', max: goals.limits.checkChars, unit: 'characters' },
      { of: 'time of one check', max: goals.limits.checkMs, unit: 'ms' },
      { of: 'what is kept of the output of one check', max: goals.limits.checkOutputBytes, unit: 'bytes' },
    ],
    presentCall,
  })
