import type { UserMessage } from '../log/message.ts'
import { ModelError } from '../model/contract.ts'
import type { RuntimeSnapshot } from '../prompt/runtime-context.ts'
import type { ClaimedMessages } from '../session/inbox.ts'
import { callsOf } from './answer.ts'
import type { Answer } from './answer.ts'
import { ask } from './attempt.ts'
import type { Attempt, RequestEntry } from './attempt.ts'
import { runCalls } from './calls.ts'
import type { RequestErrorDecision } from './points.ts'
import type { TurnContext } from './turn-context.ts'

/** What a step begins with. */
export interface StepEntry extends RequestEntry {
  readonly surroundings: RuntimeSnapshot
  /** What comes into the talk with this step. */
  readonly messages: readonly UserMessage[]
  /** What was taken out of the inbox for it. */
  readonly claimed: ClaimedMessages
}

export interface StepOutcome {
  readonly hasCalls: boolean
  readonly concludesTurn: boolean
  readonly isCut: boolean
}

/**
 * One request to the model and the tools it asks for.
 *
 * Errors: a failed request nobody retried is a `ModelError`; a cancel throws the signal's reason. `step/end` is written in any case.
 * Source: runtime specification 10.2 steps 5 to 10.
 */
export async function runStep(context: TurnContext, entry: StepEntry): Promise<StepOutcome> {
  const { log, turn, signal } = context
  const { step } = entry
  log.append({ type: 'step/start', data: { turn, step } })
  try {
    if (signal.aborted) {
      // Whoever watches the log cancelled at the sight of the step.
      giveBack(context, entry.claimed)
      throw signal.reason
    }
    enterMessages(context, entry)
    const answer = await answerOf(context, entry)
    const calls = callsOf(answer.content)
    if (calls.length === 0) return { hasCalls: false, concludesTurn: false, isCut: answer.isCut }
    const { concludesTurn } = await runCalls(context, { step, calls })
    context.barrier.begin()
    return { hasCalls: true, concludesTurn, isCut: answer.isCut }
  } finally {
    log.append({ type: 'step/end', data: { turn, step } })
  }
}

/** Put what came in before the model. A message that the log refuses takes none of the person's words with it: they wait again. */
function enterMessages({ log, runtimeContext, loop, inbox }: TurnContext, { surroundings, messages, claimed }: StepEntry): void {
  const snapshot = runtimeContext.next(surroundings, loop.newId)
  const entered = new Set<string>()
  try {
    for (const message of [...(snapshot ? [snapshot] : []), ...messages]) {
      log.append({ type: 'user/message', surfaceOp: 'append', data: message })
      entered.add(message.id)
    }
  } catch (error) {
    const left = (list: readonly UserMessage[]) => list.filter(({ id }) => !entered.has(id))
    inbox.putBack({ nextStep: left(claimed.nextStep), nextTurn: left(claimed.nextTurn) })
    throw error
  }
}

/** Ask until there is an answer; a listener of `agent/request-error` decides whether a failed request is sent again. */
async function answerOf(context: TurnContext, entry: StepEntry): Promise<Answer & { readonly isCut: boolean }> {
  for (;;) {
    const attempt = await ask(context, entry)
    if (attempt.kind === 'answered') return attempt.answer
    const decision = await afterFailure(context, entry.step, attempt)
    if (decision.kind === 'fail') throw new ModelError(decision.failure ?? attempt.failure)
    // Whoever made room for the retry may have taken the surroundings out of the model's sight.
    const snapshot = context.runtimeContext.next(entry.surroundings, context.loop.newId)
    if (snapshot) context.log.append({ type: 'user/message', surfaceOp: 'append', data: snapshot })
  }
}

async function afterFailure(context: TurnContext, step: number, attempt: Extract<Attempt, { readonly kind: 'failed' }>): Promise<RequestErrorDecision> {
  const { loop, agent, turn, signal } = context
  signal.throwIfAborted()
  const { provider, failure, retryPolicy } = attempt
  const place = { agent, turn, step, signal, provider, failure, ...(retryPolicy && { retryPolicy }) }
  const decision = await loop.dispatch.waterfall('agent/request-error', agent.scope, [place], async () => ({ kind: 'fail' as const }))
  // A cancel while somebody made up their mind counts for more than the answer.
  signal.throwIfAborted()
  return decision
}

/** A cancelled turn does not use what it claimed: it waits again, or is dropped, as the cancel wants it. */
export function giveBack({ inbox, cancellation }: TurnContext, claimed: ClaimedMessages): void {
  if (cancellation().keepsInbox) inbox.putBack(claimed)
  else inbox.drop(claimed)
}
