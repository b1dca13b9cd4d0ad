import type { Undo } from '../../base/undo.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import type { Execution } from '../../core/tools/definition.ts'
import type { SelectionOutcome } from './selection.ts'

/** Plan mode of each session: Bosun explores and writes a plan, and nothing is changed. Source: agent tools specification 2, design 6.1. */
export interface Plan {
  /** What the log says. A session that is not live is read from its log. */
  isActive(session: Session): boolean
  /** What changes anything is refused: from the choice to plan on, until the step after plan mode was left. */
  isHeld(session: Session): boolean
  /** A selection that waits for the next step; null when none does. */
  pending(session: Session): boolean | null
  /** `isSilent`: the model is not told by a notice, since something else tells it. Errors: as `Session.append`. */
  set(agent: Agent, target: boolean, options?: { readonly isSilent?: boolean }): SelectionOutcome
  /**
   * Let one call through that plan mode refused, the next time the model makes it with the same arguments, and tell the model so.
   * Whatever else the policy says of it holds. False when this call was not refused by plan mode, or is let through already.
   */
  allowOnce(agent: Agent, callId: string): boolean
  onDidChange(listener: () => void): Undo
}

/** A call as far as it is known to whoever asks; the token tells it from others of the same words. */
export type HeldCall = Pick<Execution, 'agent' | 'token'> & Partial<Pick<Execution, 'name' | 'arguments'>>

/** What a person wrote to a line of a plan. `line` is 1-based; `quote` is the line as it reads, to find it again. */
export type PlanComment = {
  readonly id: string
  readonly line: number
  readonly quote: string
  readonly text: string
}

/** The plan of one review as the person left it: their text, which may be the model's own, and what they wrote to its lines. */
export type PlanDraft = {
  readonly plan: string
  readonly comments: readonly PlanComment[]
}

/** The plan that the person agreed with. */
export type ApprovedPlan = PlanDraft & {
  readonly callId: string
  /** Their text is not the model's. */
  readonly isEdited: boolean
  /** Its top-level steps, which the task list begins with. */
  readonly steps: readonly string[]
}

/** What the person did in the document, for the model; empty where nothing. */
export type DraftWords = {
  /** As a patch of the plan. */
  readonly changes: string
  /** A line each, with its heading and line. */
  readonly comments: string
}

/** The document under each review, and what became of it. A review is known by the call that asked for it. */
export interface PlanReviews {
  /** As the person left it; what was proposed, when they changed nothing. */
  draft(session: Session, callId: string, proposed: string): PlanDraft
  /** Keep what the person changed. Nothing when it is what is kept already. Errors: as `Session.append`. */
  edit(session: Session, callId: string, proposed: string, draft: PlanDraft): void
  /** The person agreed: plan mode ends with the next step, silently. Errors: as `Session.append`. */
  approve(agent: Agent, callId: string, proposed: string): { readonly approved: ApprovedPlan; readonly words: DraftWords }
  /** The same for a review whose call did not outlive its window; the model is told by a message of its own. */
  approveLate(agent: Agent, callId: string, proposed: string): void
  /** What a refusal tells the model: the person's words as they are, then what they changed and wrote in the document. */
  feedback(session: Session, callId: string, proposed: string, words: string): string
  /** The last plan that was agreed with; null before one. */
  approved(session: Session): ApprovedPlan | null
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    plan: Plan
    planReviews: PlanReviews
  }
}

declare module '../../core/log/event.ts' {
  interface EventMap {
    'plan/mode': { readonly active: boolean }
    /** `ignorable`. What waits for the next step; the value that holds already takes a waiting one back. */
    'plan/selected': { readonly active: boolean; readonly isSilent?: true }
    /** `ignorable`. The person changed the document of a review; the whole new state. */
    'plan/edited': { readonly callId: string } & PlanDraft
    /** `ignorable`. The plan as the person agreed with it. */
    'plan/approved': ApprovedPlan
    /** `ignorable`. The person lets a call through although the session plans. */
    'plan/exception': { readonly callId: string; readonly tool: string }
  }
}
