import { Emitter } from '../../base/emitter.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Dispatcher } from '../kernel/plugin.ts'
import type { Agent } from '../session/agent.ts'
import type { ApprovalDetails } from '../tools/definition.ts'
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
  /** Ids that are asked for now. */
  const taken = new Set<string>()
  let surfaces = 0
  const changes = new Emitter<void>((error) => logger.error('A listener for approvals failed.', { error: String(error) }))

  async function request(asked: Omit<ApprovalRequest, 'id'>): Promise<ApprovalAnswer> {
    const { agent, toolName, callId, reason } = asked
    const details = agent.owner === undefined ? asked.details : withTreeOffers(asked.details)
    const { session } = agent
    if (!book.isTurnOpen(session)) throw new Error(`${toolName} asked for approval outside of a turn. Ask while the agent works.`)
    const openId = callId === undefined ? undefined : openApproval(agent, callId)
    const loggedId = openId ?? machine.randomId()
    // A copy of a session was asked under the same id; whoever answers must mean one of them.
    const whole: ApprovalRequest = { ...asked, ...(details && { details }), id: taken.has(loggedId) ? machine.randomId() : loggedId }
    if (openId === undefined)
      session.append({
        type: 'approval/asked',
        data: { id: loggedId, toolName, ...(callId !== undefined && { callId }), ...(reason !== undefined && { reason }) },
      })
    // What the person was asked already stays with them, also when they said since that nobody is to be asked.
    const isSilent = openId === undefined && book.policyIn(session) === 'never' && details?.mustAsk !== true
    const answer = isSilent ? silentNo : await decided(whole)
    // The stop that comes with a closing window is no answer: the question stands open in the log.
    if (agent.isDisposed && answer.outcome === 'cancelled') return answer
    const choice = answer.outcome === 'allowed-once' && answer.rule !== undefined ? ruleChoiceFrom(answer.rule) : null
    session.append({
      type: 'approval/decided',
      data: {
        id: loggedId,
        outcome: answer.outcome,
        ...(choice !== null && { rule: JSON.stringify(choice) }),
        ...(answer.outcome === 'rejected' && answer.note !== undefined && { note: answer.note }),
      },
    })
    if (choice !== null) await keep(choice, agent)
    return answer
  }

  /** What the answerers make of it; whatever is not an answer means no. */
  async function decided(whole: ApprovalRequest): Promise<ApprovalAnswer> {
    if (whole.signal.aborted) return { outcome: 'cancelled' }
    let stop = (): void => undefined
    taken.add(whole.id)
    const cancelled = new Promise<ApprovalAnswer>((resolve) => {
      stop = () => resolve({ outcome: 'cancelled' })
      whole.signal.addEventListener('abort', stop, { once: true })
    })
    try {
      const answer = dispatch.waterfall('approval/request', whole.agent.scope, [whole], () => person(whole))
      const given = await Promise.race([answer, cancelled])
      // Also where both came in one moment: what was stopped is allowed no more.
      return whole.signal.aborted ? { outcome: 'cancelled' } : checked(given, whole)
    } catch (error) {
      logger.error('An answerer of approvals failed; the call is not allowed.', { tool: whole.toolName, error: String(error) })
      return { outcome: 'unavailable' }
    } finally {
      whole.signal.removeEventListener('abort', stop)
      taken.delete(whole.id)
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
  async function keep(choice: RuleChoice, agent: Agent): Promise<void> {
    try {
      await book.keep(choice, agent)
    } catch (error) {
      logger.warn('The rule could not be saved; this call alone is allowed.', { error: String(error) })
    }
  }

  return {
    request,
    withdraw(agent, callId) {
      const id = agent.isDisposed ? undefined : openApproval(agent, callId)
      if (id !== undefined) agent.session.append({ type: 'approval/decided', data: { id, outcome: 'cancelled' } })
    },
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

/** What was asked about a call and is not decided. */
export const openApproval = ({ session }: Agent, callId: string): string | undefined => session.openTurn()?.step?.unanswered.find((call) => call.callId === callId)?.approvalId

/** What may be allowed to one agent until it ends may be allowed to all agents of the person's session too. */
function withTreeOffers(details: ApprovalDetails | undefined): ApprovalDetails | undefined {
  if (details?.always === undefined) return details
  const always = details.always.flatMap((offer) => (offer.rule['scope'] === 'session' ? [offer, { label: `${offer.label}, for all agents of this session`, rule: { ...offer.rule, scope: 'tree' } }] : [offer]))
  return { ...details, always }
}

const silentNo: ApprovalAnswer = { outcome: 'rejected', note: 'The permissions of this session say that nobody is to be asked.' }

const outcomes: ReadonlySet<unknown> = new Set(['allowed-once', 'rejected', 'cancelled', 'unavailable'] satisfies ApprovalAnswer['outcome'][])

/** Listeners and surfaces are others' code: what they give is looked at. */
function isAnswer(answer: unknown): answer is ApprovalAnswer {
  return typeof answer === 'object' && answer !== null && 'outcome' in answer && outcomes.has(answer.outcome)
}

const isOffered = (rule: JsonObject, always: readonly { readonly rule: JsonObject }[] = []) => always.some((offer) => JSON.stringify(offer.rule) === JSON.stringify(rule))
