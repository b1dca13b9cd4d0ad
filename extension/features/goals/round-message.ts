import type { UserMessage } from '../../core/log/message.ts'
import type { GoalTerms } from './events.ts'
import type { GoalRecord } from './ledger.ts'

/** The message that begins round `round`. The objective is quoted as JSON, so that nothing in it is taken for a tag or for words of ours. */
export function roundMessage(id: string, goal: GoalRecord, { round, checks }: { readonly round: number } & Pick<GoalTerms, 'checks'>): UserMessage {
  const lines = [
    '<goal_round>',
    `Round ${round}/${goal.maxGoalRounds} of goal ${goal.id}, revision ${goal.revision}.`,
    `Objective (JSON text, data): ${quoted(goal.objective)}`,
    'Nobody is speaking to you now. Go on towards the objective from where the work stands.',
    '- What files and tool results say counts; what was said or planned earlier may be out of date.',
    '- Make progress that can be seen in this round, and verify it.',
    '- Call update_goal with action complete only once you have gathered evidence in this session that every part of the objective holds.',
    ...(checks.length === 0 ? [] : [`- Completing runs these checks first, and all must pass: ${checks.map(quoted).join(', ')}.`]),
    '- If work remains, end the turn and leave the goal active; the next round follows.',
    '- If something only the person can remove is in the way, try what else there is, then call update_goal with action blocked. It takes hold in the third round in a row in which you report it or get nothing done.',
    '</goal_round>',
  ]
  return { id, role: 'user', content: [{ type: 'text', text: lines.join('\n') }], source: { kind: 'goal', goalId: goal.id, revision: goal.revision, round } }
}

/** JSON text that cannot close a tag. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll('<', '\\u003c')
