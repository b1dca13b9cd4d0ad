import { lostResult } from '../log/crash-repair.ts'
import type { OpenCall, OpenStep } from '../log/invariants.ts'
import { runCalls } from './calls.ts'
import type { StepOutcome } from './step.ts'
import type { TurnContext } from './turn-context.ts'

/**
 * Go on with a step whose calls wait for the person, where a window that closed left it: they are judged and asked about again,
 * and what the person answers is the result of the very call.
 *
 * A call that had asked from within its body runs again only where its tool says that this does nothing twice (`canAskAgain`).
 * Null when nothing is left to wait for: the model is not asked to go on just because a window was opened.
 * Errors: as `runStep`.
 */
export async function resumeStep(context: TurnContext, { step, unanswered }: OpenStep): Promise<StepOutcome | null> {
  const { log, turn, loop } = context
  const place = { turn, step }
  try {
    const lost = unanswered.filter((call) => !canGoOn(context, call))
    for (const { callId } of lost) log.append(lostResult(place, callId, 'TOOL_OUTCOME_UNKNOWN', loop.newId()))
    const open = unanswered.filter((call) => !lost.includes(call))
    if (!open.some(({ isStarted }) => isStarted)) {
      for (const { callId, name, arguments: args } of open) {
        log.append({ type: 'tool/call', data: { ...place, callId, name, arguments: args } })
        log.append(lostResult(place, callId, 'TOOL_NOT_STARTED', loop.newId()))
      }
      return null
    }
    const { concludesTurn } = await runCalls(context, {
      step,
      calls: open.map(({ callId, name, arguments: args }) => ({ type: 'tool-call', id: callId, name, arguments: args })),
      startedBefore: new Map(open.flatMap(({ callId, isStarted, approvalId }) => (isStarted ? [[callId, approvalId !== undefined]] : []))),
    })
    context.barrier.begin()
    return { hasCalls: true, concludesTurn, isCut: false }
  } finally {
    log.append({ type: 'step/end', data: place })
  }
}

/** One that waits for its approval has done nothing yet. */
const canGoOn = ({ loop, agent }: TurnContext, { isStarted, approvalId, hasAsked, name }: OpenCall): boolean =>
  !isStarted || (hasAsked === true ? loop.tools.get(name, agent.scope)?.canAskAgain === true : approvalId !== undefined)
