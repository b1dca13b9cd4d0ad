import type { InferValue, ValueSpec } from '../../core/schema/spec.ts'
import type { GoalState } from '../../features/goals/service.ts'

/** What all three tools give: the goal as it is, or none. Budgets, what is used of them and checks only where there are any. */
const goalValueSchema = {
  type: 'object',
  properties: {
    goal: {
      required: true,
      oneOf: [
        {
          type: 'object',
          properties: {
            id: { type: 'string', required: true },
            revision: { type: 'integer', required: true },
            objective: { type: 'string', required: true },
            phase: { type: 'string', required: true, enum: ['active', 'paused', 'blocked', 'complete'] },
            roundsStarted: { type: 'integer', required: true },
            maxGoalRounds: { type: 'integer', required: true },
            blockedReason: {
              type: 'object',
              properties: { code: { type: 'string', required: true }, message: { type: 'string', required: true } },
              additionalProperties: false,
            },
          },
          additionalProperties: false,
        },
        { type: 'null' },
      ],
    },
    activation: { type: 'string', enum: ['armed', 'disarmed'], description: 'Whether it goes on by itself. Absent without a goal.' },
    budgets: {
      type: 'object',
      properties: { tokens: { type: 'integer' }, cost: { type: 'number' }, minutes: { type: 'number' } },
      additionalProperties: false,
    },
    used: {
      type: 'object',
      properties: { tokens: { type: 'integer', required: true }, cost: { type: 'number', required: true }, minutes: { type: 'number', required: true } },
      additionalProperties: false,
    },
    checks: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
} as const satisfies ValueSpec

export type GoalValue = InferValue<typeof goalValueSchema>

export function goalValue(state: GoalState | null): GoalValue {
  if (state === null) return { goal: null }
  const { goal, activation, maxTokens, maxCost, maxMinutes, used, checks } = state
  const { id, revision, objective, phase, roundsStarted, maxGoalRounds, blockedReason } = goal
  const budgets = { ...(maxTokens !== undefined && { tokens: maxTokens }), ...(maxCost !== undefined && { cost: maxCost }), ...(maxMinutes !== undefined && { minutes: maxMinutes }) }
  const hasBudgets = Object.keys(budgets).length > 0
  return {
    goal: { id, revision, objective, phase, roundsStarted, maxGoalRounds, ...(blockedReason && { blockedReason: { ...blockedReason } }) },
    activation,
    ...(hasBudgets && { budgets, used: { tokens: used.tokens, cost: used.amount, minutes: Math.round(used.minutes * 10) / 10 } }),
    ...(checks.length > 0 && { checks: [...checks] }),
  }
}

/** Of all three tools: the value as compact JSON. */
export const goalOutput = {
  schema: goalValueSchema,
  render: (_args: unknown, value: GoalValue) => [{ type: 'text' as const, text: JSON.stringify(value) }],
}
