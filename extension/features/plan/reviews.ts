import type { SessionEvent } from '../../core/log/event.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { Session } from '../../core/session/session.ts'
import { stepsOf } from './plan-steps.ts'
import { changesOf, commentsOf, feedbackWords } from './plan-words.ts'
import type { ApprovedPlan, DraftWords, Plan, PlanComment, PlanDraft, PlanReviews } from './service.ts'

/** Drafts and agreed plans, read from the log. They are rare, so they are looked for when somebody asks. */
export function createPlanReviews({ plan, newId }: { readonly plan: Pick<Plan, 'set' | 'isActive'>; readonly newId: () => string }): PlanReviews {
  const draftOf = (session: Session, callId: string, proposed: string): PlanDraft => {
    const edited = session.milestones().findLast((event): event is SessionEvent<'plan/edited'> => event.type === 'plan/edited' && event.data.callId === callId)
    return edited === undefined ? { plan: proposed, comments: [] } : { plan: edited.data.plan, comments: edited.data.comments.filter(isComment) }
  }
  const approve: PlanReviews['approve'] = (agent, callId, proposed) => {
    const before = lastApproved(agent.session)
    // A call that goes on after a crash finds its yes in the log; the crash may have come before what follows from it.
    if (before?.callId === callId) {
      if (plan.isActive(agent.session)) plan.set(agent, false, { isSilent: true })
      return { approved: before, words: wordsOf(proposed, before) }
    }
    const draft = draftOf(agent.session, callId, proposed)
    const approved = { ...draft, callId, isEdited: draft.plan.trim() !== proposed.trim(), steps: stepsOf(draft.plan) }
    agent.session.append({ type: 'plan/approved', data: approved, ignorable: true })
    plan.set(agent, false, { isSilent: true })
    return { approved, words: wordsOf(proposed, draft) }
  }
  return {
    draft: draftOf,
    edit(session, callId, proposed, draft) {
      if (JSON.stringify(draftOf(session, callId, proposed)) === JSON.stringify({ plan: draft.plan, comments: draft.comments })) return
      session.append({ type: 'plan/edited', data: { callId, plan: draft.plan, comments: draft.comments }, ignorable: true })
    },
    approve,
    approveLate(agent, callId, proposed) {
      const { words } = approve(agent, callId, proposed)
      const text = feedbackWords({ words: 'The person approved the plan that was under review when the window closed. Plan mode is off; begin the work.', ...words })
      agent.inject(noticeMessage({ id: newId(), plugin: 'plan', text, summary: 'You approved the plan' }))
    },
    feedback: (session, callId, proposed, words) => feedbackWords({ words, ...wordsOf(proposed, draftOf(session, callId, proposed)) }),
    approved: lastApproved,
  }
}

function lastApproved(session: Session): ApprovedPlan | null {
  const approved = session.milestones().findLast((event): event is SessionEvent<'plan/approved'> => event.type === 'plan/approved')?.data
  return approved === undefined ? null : { ...approved, comments: approved.comments.filter(isComment) }
}

/** The log holds comments to being a list; what stands in it may come from another build. */
function isComment(value: unknown): value is PlanComment {
  if (typeof value !== 'object' || value === null) return false
  const { id, line, quote, text } = value as Readonly<Record<string, unknown>>
  return Number.isSafeInteger(line) && [id, quote, text].every((each) => typeof each === 'string')
}

const wordsOf = (proposed: string, { plan, comments }: PlanDraft): DraftWords => ({ changes: changesOf(proposed, plan), comments: commentsOf(plan, comments) })
