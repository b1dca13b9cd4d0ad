import { clipped } from '../../base/text.ts'
import { thrownLine } from '../../base/thrown-text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Context } from '../../core/kernel/plugin.ts'
import type { Execution, PreExecuteAnswer } from '../../core/tools/definition.ts'
import type { PolicyAnswer, PolicyListener } from '../../../bosun.d.ts'
import { callFacts } from './call-facts.ts'

/** Milliseconds that a listener of another extension has; then the call is asked about. Source: runtime specification 26. */
export const POLICY_TIMEOUT_MS = 5_000
/** UTF-16 units of a reason that are told. */
const MAX_REASON = 1_000

interface Parts {
  readonly extensionId: string
  readonly clock: Clock
  readonly logger: Logger
  readonly extensionOf: (tool: string, exec: Execution) => string | null
}

/**
 * Let another extension judge every call: it can deny or have the person asked, never allow.
 *
 * It is asked after all others, and only about what they did not deny. What is no answer counts as `ask`: a broken listener neither lets a call
 * through nor stops all work.
 */
export function addPolicy(ctx: Context, listener: PolicyListener, parts: Parts): void {
  ctx.on(
    'tools/pre-execute',
    async (exec, next): Promise<PreExecuteAnswer> => {
      const others = await next()
      // Other arguments are another call, which comes around again.
      if (others.kind === 'deny' || others.kind === 'rewrite' || exec.signal.aborted) return others
      const answer = await answerOf(listener, exec, parts)
      if (answer === null) return others
      const why = `${parts.extensionId}: ${answer.reason}`
      if (answer.decision === 'deny') return { kind: 'deny', reason: `The extension ${parts.extensionId} refused this: ${answer.reason}`, grounds: { by: 'guard', why } }
      if (others.kind === 'allow') return { kind: 'ask', reason: why }
      return others.details === undefined ? { ...others, reason: joined(others.reason, why) } : { ...others, details: { ...others.details, why: joined(others.details.why, why) } }
    },
    { prepend: true },
  )
}

const joined = (first: string | undefined, second: string) => (first === undefined || first === '' ? second : `${first} ${second}`)

/** Null: nothing against it. Errors: none. */
async function answerOf(listener: PolicyListener, exec: Execution, { extensionId, clock, logger, extensionOf }: Parts): Promise<PolicyAnswer | null> {
  const controller = new AbortController()
  const signal = AbortSignal.any([exec.signal, controller.signal])
  const unanswered = (problem: string, reason: string): PolicyAnswer => {
    logger.warn('The policy of another extension gave no answer, so the person is asked.', { extension: extensionId, tool: exec.name, problem })
    return { decision: 'ask', reason }
  }
  const late = Promise.withResolvers<'late'>()
  const unschedule = clock.schedule(POLICY_TIMEOUT_MS, () => late.resolve('late'))
  const stop = () => late.resolve('late')
  exec.signal.addEventListener('abort', stop, { once: true })
  try {
    const call = callFacts(exec, (tool) => extensionOf(tool, exec))
    const asked = (async () => await listener(call, signal))()
    // One that is late may still fail, when nobody listens any more.
    asked.catch(() => {})
    const answer: unknown = await Promise.race([asked, late.promise])
    if (exec.signal.aborted) return null
    if (answer === 'late') return unanswered(`no answer within ${POLICY_TIMEOUT_MS} ms`, `Its policy did not answer within ${POLICY_TIMEOUT_MS / 1_000} seconds.`)
    if (answer === undefined || answer === null) return null
    return isAnswer(answer) ? { decision: answer.decision, reason: clipped(answer.reason, MAX_REASON) } : unanswered('an answer that is neither deny nor ask with a reason', 'Its policy gave an answer that Bosun does not know.')
  } catch (error) {
    return exec.signal.aborted ? null : unanswered(thrownLine(error), 'Its policy failed.')
  } finally {
    unschedule()
    exec.signal.removeEventListener('abort', stop)
    controller.abort()
  }
}

function isAnswer(answer: unknown): answer is PolicyAnswer {
  if (typeof answer !== 'object' || answer === null) return false
  const { decision, reason } = answer as Partial<PolicyAnswer>
  return (decision === 'deny' || decision === 'ask') && typeof reason === 'string' && reason.trim() !== ''
}
