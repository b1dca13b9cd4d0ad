import { withoutMarks } from '../../extension/base/marked-code.ts'
import type { ApprovalView, PlanReviewView, QuestionSetView } from '../../extension/protocol/view-state.ts'

/** One thing that waits for the person. */
export type WaitingItem = { readonly id: string; readonly line: string; readonly who: string | null } & (
  | { readonly kind: 'approval'; readonly approval: ApprovalView }
  | { readonly kind: 'plan'; readonly plan: PlanReviewView }
  | { readonly kind: 'question'; readonly set: QuestionSetView }
)

/** All that waits, most urgent first: calls that stand still, the plan, questions; each kind in the order it was asked. */
export function waitingItems(waiting: { readonly approvals: readonly ApprovalView[]; readonly plan: PlanReviewView | null; readonly sets: readonly QuestionSetView[] }): readonly WaitingItem[] {
  const { approvals, plan, sets } = waiting
  return [
    ...approvals.map((approval): WaitingItem => ({ id: approval.id, kind: 'approval', line: withoutMarks(approval.effect), who: approval.who, approval })),
    ...(plan === null ? [] : [{ id: plan.id, kind: 'plan' as const, line: plan.title, who: plan.who, plan }]),
    ...sets.map((set): WaitingItem => ({ id: set.id, kind: 'question', line: set.questions[0]?.question ?? '', who: set.who ?? null, set })),
  ]
}
