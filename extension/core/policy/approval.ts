import type { Json, JsonObject } from '../../base/json.ts'
import type { Undo } from '../../base/undo.ts'
import type { Waterfall } from '../kernel/plugin.ts'
import type { ApprovalOutcome } from '../log/event.ts'
import type { Agent } from '../session/agent.ts'
import type { ApprovalDetails } from '../tools/definition.ts'

export interface ApprovalRequest {
  readonly id: string
  readonly agent: Agent
  readonly toolName: string
  readonly callId?: string
  readonly arguments?: Json
  readonly reason?: string
  readonly details?: ApprovalDetails
  readonly signal: AbortSignal
}

/** What one answer says: a grant for this call, maybe with a rule to keep, or a refusal with words for the model. */
export type ApprovalAnswer =
  | {
      readonly outcome: 'allowed-once'
      /** One of the request's own `details.always`. */
      readonly rule?: JsonObject
      /** As the person changed them before allowing; they are validated and judged anew. */
      readonly arguments?: Json
    }
  | { readonly outcome: 'rejected'; readonly note?: string }
  | { readonly outcome: 'cancelled' | 'unavailable' }

/** Asks the person, inside an open turn, with an audit pair in the log. No answer means no. */
export interface Approvals {
  /** What was asked before the window closed and stands open in the log goes on under its id. Errors: `Error` outside an open turn, or when the audit cannot be appended; nothing was asked then. */
  request(request: Omit<ApprovalRequest, 'id'>): Promise<ApprovalAnswer>
  /** End in the log what was asked about a call before its window closed, when it is not asked about again. */
  withdraw(agent: Agent, callId: string): void
  /** Everything that waits for the person, of all agents, oldest first. */
  pending(): readonly ApprovalRequest[]
  /** First valid answer wins. False when it no longer waits. */
  answer(id: string, answer: ApprovalAnswer): boolean
  /** A surface shows what is pending and can answer. Without one (and without a listener that answers) a request is `unavailable`. */
  attach(): Undo
  onDidChange(listener: () => void): Undo
}

declare module '../kernel/plugin.ts' {
  interface Services {
    approvals: Approvals
  }
  interface ExtensionPoints {
    'approval/request': Waterfall<[request: ApprovalRequest], ApprovalAnswer>
  }
}

export type { ApprovalOutcome }
