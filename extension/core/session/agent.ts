import { HarnessError } from '../../base/harness-error.ts'
import type { ScopeKey } from '../kernel/plugin.ts'
import type { CancelCause, InboxTarget } from '../log/event.ts'
import type { UserMessage } from '../log/message.ts'
import type { Session } from './session.ts'

/** A message to, or an edit of, an agent that is gone; whoever reports to an agent later guards against it. */
export class AgentError extends HarnessError<'DISPOSED' | 'BUSY'> {}

/** The live worker of one session. Source: runtime specification 10.1. */
export interface Agent {
  /** Equals the session's id. */
  readonly id: string
  readonly session: Session
  /** The layer of what is registered for this agent alone. */
  readonly scope: ScopeKey
  readonly status: 'idle' | 'running'
  readonly inbox: { readonly nextTurn: readonly UserMessage[]; readonly nextStep: readonly UserMessage[] }
  readonly isDisposed: boolean
  /** The live agent that started this one and answers for it; absent for a root, also when a child session was reopened by a person. */
  readonly owner?: Agent
  /** Errors, as for the three below: `AgentError` `DISPOSED`. */
  send(message: UserMessage, target: InboxTarget, wakeup: boolean): void
  /** Next turn, wakes. */
  followup(message: UserMessage): void
  /** Next step, wakes. */
  steer(message: UserMessage): void
  /** Next step, does not wake. Taken also while the agent goes, for when its session is resumed. */
  inject(message: UserMessage): void
  /** First cause wins; nothing when idle, but it ends maintenance. Clears the inbox, durably, unless `keepInbox`. */
  cancel(cause: CancelCause, options?: { readonly keepInbox?: boolean }): void
  /**
   * Go on where the talk stands, without words of the person: after a pause, a failure, a stop or a crash.
   * Nothing while it runs. What waits in the inbox is taken along.
   */
  continueTurn(): void
  /** Edits of what waits, each durable. False when the message waits no longer. */
  readonly queue: {
    edit(messageId: string, content: UserMessage['content']): boolean
    remove(messageId: string): boolean
    /** Move from the next turn to the next step, and wake. */
    steerNow(messageId: string): boolean
  }
  /** Time that `work` takes is none of the turn's: it waits for others, such as for a place among the agents at work. */
  untimed<T>(work: () => Promise<T>): Promise<T>
  /** Quiescence of the whole agent, not the end of one message. */
  whenIdle(): Promise<void>
  /** Only when idle; the status stays idle. The signal fires on a cancel. Errors: `AgentError` `BUSY`, `DISPOSED`. */
  runMaintenance<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T>
  dispose(): Promise<void>
}
