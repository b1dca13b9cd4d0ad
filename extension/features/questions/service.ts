import type { Undo } from '../../base/undo.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type { Agent } from '../../core/session/agent.ts'

/** A question for the person. Source: agent tools specification 3. */
export interface Question {
  readonly id: string
  readonly question: string
  readonly header?: string
  readonly options?: readonly { readonly label: string; readonly description?: string }[]
  readonly multi_select?: boolean
  /** Markdown to read before answering, such as a plan. */
  readonly detail?: string
  /** What the answer decides, for surfaces that know how to ask it better than as a question. */
  readonly intent?: QuestionIntent
}
/** `approve`: the label of the question's own option that says yes. */
export type QuestionIntent = { readonly kind: 'plan-review'; readonly approve: string }

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
  /** Who outside asks by way of the agent, such as an MCP server: the answers are for them alone, and only the person may give them. */
  readonly server?: string
  /** Epoch ms: then the recommended options are taken, unless the person has begun to answer. */
  readonly answersAt?: number
}

/** Asks the person and waits until answered, closed or interrupted, without a time-out unless the person set one. */
export interface Questions {
  /**
   * `callId`: the call whose result the answers are. A reload does not end its wait where its tool says `canAskAgain`: the call runs
   * again, asks the same, and finds its question as it was.
   * `server`: who outside asks. No time-out answers it, its answers are in no log, and once the window is closed nobody waits for them.
   * Errors: `QuestionError` `ASK_ABORTED`, `EMPTY_QUESTIONS`, `CALLER_NOT_LIVE`, `DELEGATED_CALLER`, `BAD_INTENT`, `NO_PROVIDER`, `ASK_CANCELLED`.
   */
  ask(request: { readonly agent: Agent; readonly callId?: string; readonly server?: string; readonly questions: readonly Question[]; readonly signal: AbortSignal; /** For what the answers point at, after the result. */ readonly addContext?: (message: UserMessage) => void }): Promise<readonly Answer[]>
  pending(): readonly PendingQuestions[]
  /**
   * A bad answer is refused with the reason and the question stays; null closes the set (`ASK_CANCELLED`).
   * `contexts`: what the answers point at, for the model.
   */
  answer(id: string, answers: readonly Answer[] | null, contexts?: readonly UserMessage[]): { readonly ok: true } | { readonly ok: false; readonly problem: string }
  /** The person has begun to answer: no time-out answers in their place any more. */
  touch(id: string): void
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
    'question/asked': { readonly id: string; readonly callId?: string; readonly server?: string; readonly questions: readonly Question[] }
    /** `ignorable`. `answers`: what was answered, for a call that a crash kept from returning it; absent where a server asked. */
    'question/settled': { readonly id: string; readonly outcome: 'answered' | 'closed' | 'interrupted'; readonly answers?: readonly Answer[] }
  }
}
