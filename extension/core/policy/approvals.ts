import { Emitter } from '../../base/emitter.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Dispatcher } from '../kernel/plugin.ts'
import type { ApprovalAnswer, ApprovalRequest, Approvals } from './approval.ts'
import type { PermissionBook } from './permissions-service.ts'
import { ruleChoiceFrom, type RuleChoice } from './rules.ts'

interface Parts {
  readonly dispatch: Dispatcher
  readonly machine: Pick<Machine, 'randomId'>
  readonly logger: Logger
  readonly book: Pick<PermissionBook, 'policyIn' | 'isTurnOpen' | 'keep'>
}

interface Waiting {
  readonly request: ApprovalRequest
  readonly settle: (answer: ApprovalAnswer) => void
}

/** Source: runtime specification 18.2. */
export function createApprovals({ dispatch, machine, logger, book }: Parts): Approvals {
  const waiting = new Map<string, Waiting>()
  let surfaces = 0
  const changes = new Emitter<void>((error) => logger.error('A listener for approvals failed.', { error: String(error) }))

  async function request(asked: Omit<ApprovalRequest, 'id'>): Promise<ApprovalAnswer> {
    const { agent, toolName, callId, reason, details } = asked
    const { session } = agent
    if (!book.isTurnOpen(session)) throw new Error(`${toolName} asked for approval outside of a turn. Ask while the agent works.`)
    const whole: ApprovalRequest = { ...asked, id: machine.randomId() }
    session.append({
      type: 'approval/asked',
      data: { id: whole.id, toolName, ...(callId !== undefined && { callId }), ...(reason !== undefined && { reason }) },
    })
    const isSilent = book.policyIn(session) === 'never' && details?.mustAsk !== true
    const answer = isSilent ? silentNo : await decided(whole)
    const choice = answer.outcome === 'allowed-once' && answer.rule !== undefined ? ruleChoiceFrom(answer.rule) : null
    session.append({
      type: 'approval/decided',
      data: {
        id: whole.id,
        outcome: answer.outcome,
        ...(choice !== null && { rule: JSON.stringify(choice) }),
        ...(answer.outcome === 'rejected' && answer.note !== undefined && { note: answer.note }),
      },
    })
    if (choice !== null) await keep(choice)
    return answer
  }

  /** What the answerers make of it; whatever is not an answer means no. */
  async function decided(whole: ApprovalRequest): Promise<ApprovalAnswer> {
    if (whole.signal.aborted) return { outcome: 'cancelled' }
    let stop = (): void => undefined
    const cancelled = new Promise<ApprovalAnswer>((resolve) => {
      stop = () => resolve({ outcome: 'cancelled' })
      whole.signal.addEventListener('abort', stop, { once: true })
    })
    try {
      const answer = dispatch.waterfall('approval/request', whole.agent.scope, [whole], () => person(whole))
      return checked(await Promise.race([answer, cancelled]), whole)
    } catch (error) {
      logger.error('An answerer of approvals failed; the call is not allowed.', { tool: whole.toolName, error: String(error) })
      return { outcome: 'unavailable' }
    } finally {
      whole.signal.removeEventListener('abort', stop)
      if (waiting.delete(whole.id)) changes.emit()
    }
  }

  function person(whole: ApprovalRequest): Promise<ApprovalAnswer> {
    if (surfaces === 0) return Promise.resolve({ outcome: 'unavailable' })
    return new Promise((settle) => {
      waiting.set(whole.id, { request: whole, settle })
      changes.emit()
    })
  }

  function checked(answer: ApprovalAnswer, { toolName, details }: ApprovalRequest): ApprovalAnswer {
    if (isAnswer(answer) && (answer.outcome !== 'allowed-once' || answer.rule === undefined || isOffered(answer.rule, details?.always))) return answer
    logger.error('An answer to an approval is none that was offered; the call is not allowed.', { tool: toolName })
    return { outcome: 'unavailable' }
  }

  /** The grant of this call stands also when its rule cannot be kept. */
  async function keep(choice: RuleChoice): Promise<void> {
    try {
      await book.keep(choice)
    } catch (error) {
      logger.warn('The rule could not be saved; this call alone is allowed.', { error: String(error) })
    }
  }

  return {
    request,
    pending: () => [...waiting.values()].map((entry) => entry.request),
    answer(id, answer) {
      const entry = waiting.get(id)
      // What was cancelled only waits to be cleared away.
      if (entry === undefined || entry.request.signal.aborted || !isAnswer(answer)) return false
      waiting.delete(id)
      entry.settle(answer)
      changes.emit()
      return true
    },
    attach() {
      surfaces += 1
      let isAttached = true
      return () => {
        if (isAttached) surfaces -= 1
        isAttached = false
      }
    },
    onDidChange: (listener) => changes.listen(listener),
  }
}

const silentNo: ApprovalAnswer = { outcome: 'rejected', note: 'The permissions of this session say that nobody is to be asked.' }

const outcomes: ReadonlySet<unknown> = new Set(['allowed-once', 'rejected', 'cancelled', 'unavailable'] satisfies ApprovalAnswer['outcome'][])

/** Listeners and surfaces are others' code: what they give is looked at. */
function isAnswer(answer: unknown): answer is ApprovalAnswer {
  return typeof answer === 'object' && answer !== null && 'outcome' in answer && outcomes.has(answer.outcome)
}

const isOffered = (rule: JsonObject, always: readonly { readonly rule: JsonObject }[] = []) => always.some((offer) => JSON.stringify(offer.rule) === JSON.stringify(rule))
