import { isHarnessError } from '../../base/harness-error.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { DraftWords, Plan, PlanReviews } from '../../features/plan/service.ts'
import type { Answer, Question, Questions } from '../../features/questions/service.ts'
import { presentCall, presentResult } from './exit-plan-mode.card.ts'
import { PlanError } from './plan-error.ts'

const MAX_PLAN_CHARS = 60_000
const REVIEW = 'plan-review'
const APPROVE = 'Approve'
const KEEP_PLANNING = 'Keep planning'

export interface ExitPlanModeParts {
  readonly plan: Pick<Plan, 'isActive' | 'pending'>
  readonly reviews: Pick<PlanReviews, 'approve' | 'approved'>
  /** Undefined where nobody can be asked. */
  readonly questions: () => Pick<Questions, 'ask'> | undefined
  /** Fires when the tool is taken away. */
  readonly gone: AbortSignal
}

/** `exit_plan_mode`: put the plan before the person; only their exact approval ends plan mode. Source: agent tools specification 2. */
export function createExitPlanMode({ plan: mode, reviews, questions, gone }: ExitPlanModeParts): ToolDefinition {
  return defineTool({
    name: 'exit_plan_mode',
    description: 'In plan mode only: put the finished plan before the person for review. Call it alone and last. Approved, plan mode ends with the next step; until then nothing may change.',
    parameters: {
      plan: { type: 'string', required: true, description: 'The whole plan as Markdown, beginning with “# ” and a title.' },
    },
    limits: [{ of: 'plan', max: MAX_PLAN_CHARS, unit: 'characters' }],
    output: {
      schema: {
        type: 'object',
        properties: {
          approved: { type: 'boolean', const: true, required: true },
          changes: { type: 'string' },
          comments: { type: 'string' },
        },
        additionalProperties: false,
      },
      render: (_args, value) => [{ type: 'text', text: approvedWords(value) }],
    },
    // What it does it does after the answer, and finds done.
    canAskAgain: true,
    async execute({ plan }, { agent, callId, signal }) {
      if (agent === undefined) throw new PlanError('NO_AGENT', 'A plan belongs to a session, and this call has none.')
      if (reviews.approved(agent.session)?.callId === callId) return valueOf(reviews.approve(agent, callId, plan).words)
      if (!mode.isActive(agent.session)) throw new PlanError('NOT_PLANNING', 'Plan mode is off, so there is nothing to leave. Go on with the work.')
      if (mode.pending(agent.session) === false) throw new PlanError('NOT_PLANNING', 'Plan mode ends with the next step already. End this one.')
      checkPlan(plan)
      const channel = questions()
      if (channel === undefined) throw new PlanError('NO_CHANNEL', 'Nobody can be asked here, so no plan can be approved. Answer with the plan instead.')
      const answers = await review(channel.ask({ agent, callId, questions: [question(plan)], signal: AbortSignal.any([signal, gone]) }), gone)
      const verdict = verdictOf(answers)
      if (!verdict.isApproved) throw keepPlanning(verdict.feedback)
      return valueOf(reviews.approve(agent, callId, plan).words)
    },
    presentCall,
    presentResult,
  })
}

/** Without a hand of the person in it the value says nothing but yes. */
const valueOf = ({ changes, comments }: DraftWords) => ({ approved: true as const, ...(changes !== '' && { changes }), ...(comments !== '' && { comments }) })

function checkPlan(plan: string): void {
  if (!/^#[ \t]+\S/.test(plan.trim())) throw new PlanError('BAD_PLAN', 'The plan must begin with a level-1 heading: “# ” and a title. Call it again with the whole plan.')
  if (plan.length > MAX_PLAN_CHARS) throw new PlanError('BAD_PLAN', `The plan has ${plan.length} characters, and at most ${MAX_PLAN_CHARS} can be reviewed. Say it shorter.`)
}

const question = (plan: string): Question => ({
  id: REVIEW,
  header: 'Plan',
  question: 'Do you agree with this plan?',
  detail: plan,
  options: [
    { label: APPROVE, description: 'Plan mode ends, and the work begins.' },
    { label: KEEP_PLANNING, description: 'Nothing changes yet; say what the plan still needs.' },
  ],
  intent: { kind: 'plan-review', approve: APPROVE },
})

async function review(asked: Promise<readonly Answer[]>, gone: AbortSignal): Promise<readonly Answer[]> {
  try {
    const answers = await asked
    if (!gone.aborted) return answers
  } catch (error) {
    if (isHarnessError(error) && error.code === 'ASK_CANCELLED') {
      throw new PlanError('REVIEW_DISMISSED', 'The person closed the review without a decision: they want to talk first. Stay in plan mode, end your turn now and wait for what they say.', { cause: error })
    }
    if (!gone.aborted) throw error
  }
  throw new PlanError('REVIEW_WITHDRAWN', 'Plan mode was loaded anew while the plan was under review, so nothing was decided. Submit the plan again.')
}

type Verdict = { readonly isApproved: true } | { readonly isApproved: false; readonly feedback: string }

/** Only the one answer that says exactly yes counts; whatever else came means to keep planning. */
export function verdictOf(answers: readonly Answer[]): Verdict {
  const [answer, ...others] = answers.filter(({ id }) => id === REVIEW)
  const custom = answers.flatMap((each) => (each.custom === undefined ? [] : [each.custom])).join('\n')
  const isExact = answer !== undefined && others.length === 0 && answers.length === 1 && answer.custom === undefined && answer.selected.length === 1 && answer.selected[0] === APPROVE
  return isExact ? { isApproved: true } : { isApproved: false, feedback: custom }
}

const keepPlanning = (feedback: string): PlanError =>
  feedback.trim() === ''
    ? new PlanError('KEEP_PLANNING', 'The person wants you to keep planning, and did not say why. Look again at what may be missing, or ask.')
    : new PlanError('KEEP_PLANNING', `The person wants you to keep planning. They say:\n${feedback}`)

const approvedWords = ({ changes, comments }: { readonly changes?: string; readonly comments?: string }): string =>
  [
    'The person approved the plan. Plan mode ends with the next step; begin the work there. Numbered steps of it are the task list now: keep it up with todo_write, in the same words.',
    ...(changes === undefined ? [] : [`They changed the plan first; do it as changed:\n${changes}`]),
    ...(comments === undefined ? [] : [`Their comments hold too:\n${comments}`]),
  ].join('\n\n')
