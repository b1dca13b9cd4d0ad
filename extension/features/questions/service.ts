import type { Undo } from '../../base/undo.ts'
import type { Agent } from '../../core/session/agent.ts'

/** A question for the person. Source: agent tools specification 3. */
export interface Question {
  readonly id: string
  readonly question: string
  readonly header?: string
  readonly options?: readonly { readonly label: string; readonly description?: string }[]
  readonly multi_select?: boolean
}
export interface Answer {
  readonly id: string
  readonly selected: readonly string[]
  readonly custom?: string
}
export interface PendingQuestions {
  readonly id: string
  readonly agent: Agent
  readonly callId?: string
  readonly questions: readonly Question[]
}

/** Asks the person and waits, without a time-out, until answered, closed or interrupted. */
export interface Questions {
  /** Errors: `QuestionError` `ASK_ABORTED`, `EMPTY_QUESTIONS`, `CALLER_NOT_LIVE`, `DELEGATED_CALLER`, `NO_PROVIDER`, `ASK_CANCELLED`. */
  ask(request: { readonly agent: Agent; readonly callId?: string; readonly questions: readonly Question[]; readonly signal: AbortSignal }): Promise<readonly Answer[]>
  pending(): readonly PendingQuestions[]
  /** A bad answer is refused with the reason and the question stays; null closes the set (`ASK_CANCELLED`). */
  answer(id: string, answers: readonly Answer[] | null): { readonly ok: true } | { readonly ok: false; readonly problem: string }
  onDidChange(listener: () => void): Undo
  /** Exactly one surface may offer to answer. Errors: `QuestionError` `DUPLICATE_PROVIDER`. */
  attach(): Undo
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    questions: Questions
  }
}

declare module '../../core/log/event.ts' {
  interface EventMap {
    /** `ignorable`. Without its `question/settled` a set still waits, and is asked again after a resume. */
    'question/asked': { readonly id: string; readonly callId?: string; readonly questions: readonly Question[] }
    /** `ignorable`. */
    'question/settled': { readonly id: string; readonly outcome: 'answered' | 'closed' | 'interrupted' }
  }
}
