import * as z from 'zod'
import type { GoalChange } from './events.ts'

const count = z.int().min(1)
const time = z.number().min(0)
const words = z.string().refine((text) => text !== '' && text.trim() === text)

const goal = z.strictObject({
  id: words,
  revision: count,
  objective: words,
  phase: z.enum(['active', 'paused', 'blocked', 'complete']),
  maxGoalRounds: count,
  blockedReason: z.strictObject({ code: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/), message: words }).exactOptional(),
})

/** Exactly the two forms of a `goal/change`, with no key more. Source: agent tools specification 1.1. */
const goalChangeSchema: z.ZodType<GoalChange> = z.union([
  z.strictObject({
    kind: z.literal('goal/change'),
    version: z.literal(1),
    operation: z.enum(['create', 'edit', 'pause', 'resume', 'complete', 'block']),
    goal,
    roundsStarted: z.int().min(0),
    createdAt: time,
    updatedAt: time,
  }),
  z.strictObject({
    kind: z.literal('goal/change'),
    version: z.literal(1),
    operation: z.literal('clear'),
    cleared: z.strictObject({ id: words, revision: count }),
    clearedAt: time,
  }),
])

/** Why `data` is no change of a goal, or null. A reason stands exactly on a blocked goal. */
export function changeShapeProblem(data: unknown): string | null {
  const outcome = goalChangeSchema.safeParse(data)
  if (!outcome.success) {
    const issue = outcome.error.issues[0]
    return `it has not the form of a change${issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`}`
  }
  const change = outcome.data
  if (change.operation === 'clear') return null
  return (change.goal.phase === 'blocked') === (change.goal.blockedReason !== undefined) ? null : 'a reason stands exactly on a blocked goal'
}
