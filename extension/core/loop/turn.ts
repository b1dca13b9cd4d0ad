import { orAbort } from '../../base/or-abort.ts'
import type { PauseCause, TurnEndReason } from '../log/event.ts'
import { estimateRequestTokens } from '../model/token-estimate.ts'
import { failureFrom } from './failure.ts'
import { selected } from './attempt.ts'
import { resumeStep } from './resumed-step.ts'
import { giveBack, runStep } from './step.ts'
import type { StepEntry, StepOutcome } from './step.ts'
import type { TurnContext } from './turn-context.ts'

/**
 * One turn: from the claim of what waits, or the step that waited for the person, to the model's natural stop.
 *
 * Every turn that starts ends in the log, whatever happens in between.
 * Errors: only when `turn/start` or `turn/end` cannot be written.
 * Source: runtime specification 10.2.
 */
export async function runTurn(context: TurnContext): Promise<TurnEndReason> {
  const { log, turn, unfinished } = context
  if (unfinished === null) log.append({ type: 'turn/start', data: { turn } })
  context.onStarted()
  const place = { step: unfinished?.step ?? 0 }
  const reason = await reasonOf(context, place)
  context.onEnding()
  log.append({ type: 'turn/end', data: { turn, reason } })
  return reason
}

async function reasonOf(context: TurnContext, place: { step: number }): Promise<TurnEndReason> {
  const { loop, agent, turn, signal } = context
  try {
    const reason = await runSteps(context, place)
    return signal.aborted ? { kind: 'aborted', reason: context.cancellation().cause } : reason
  } catch (error) {
    if (signal.aborted) return { kind: 'aborted', reason: context.cancellation().cause }
    const failure = failureFrom(error)
    loop.dispatch.emit('agent/error', agent.scope, [{ agent, turn, step: place.step, error: failure }])
    return { kind: 'error', failure }
  }
}

async function runSteps(context: TurnContext, place: { step: number }): Promise<TurnEndReason> {
  const { signal } = context
  const ownMs = () => context.loop.clock.monotonicMs() - context.untimedMs()
  const startedMs = ownMs()
  let isCut = false
  /** Whether the model has something new to answer to without any message. */
  let hasNews = context.isContinuation && context.log.session.messages().at(-1)?.role !== 'assistant'
  const ended = (): TurnEndReason => (isCut ? { kind: 'max-tokens' } : { kind: 'completed' })
  if (context.unfinished !== null) {
    const outcome = await resumeStep(context, context.unfinished)
    signal.throwIfAborted()
    if (outcome === null) return { kind: 'interrupted' }
    hasNews = true
    if (!(await goesOn(context, outcome))) return ended()
  }
  for (;;) {
    const paused = await pauseAt(context, { step: place.step, ranMs: ownMs() - startedMs })
    if (paused) return paused
    place.step++
    const entry = await enter(context, place.step)
    if (entry === 'rejected') return { kind: 'blocked' }
    if (entry.messages.length === 0 && !hasNews) return ended()
    const outcome = await runStep(context, entry)
    signal.throwIfAborted()
    isCut ||= outcome.isCut
    hasNews = outcome.hasCalls
    if (!(await goesOn(context, outcome))) return ended()
  }
}

/** At a cap the person decides: nothing more is claimed, and Continue starts the next turn. */
async function pauseAt(context: TurnContext, { step, ranMs }: { readonly step: number; readonly ranMs: number }): Promise<TurnEndReason | undefined> {
  const { loop, log, turn, signal } = context
  const cause = stepCap(loop.maxStepsPerTurn(), step) ?? timeCap(loop.maxMinutesPerTurn(), ranMs) ?? (await budgetStop(context, step))
  signal.throwIfAborted()
  if (cause === undefined) return undefined
  log.append({ type: 'turn/paused', ignorable: true, data: { turn, step, ...cause } })
  return { kind: 'paused', ...cause }
}

const stepCap = (limit: number, step: number): PauseCause | undefined => (limit === 0 || step < limit ? undefined : { cap: 'steps', limit })

const timeCap = (limit: number, ranMs: number): PauseCause | undefined => (limit === 0 || ranMs < limit * 60_000 ? undefined : { cap: 'minutes', limit })

/** Nothing without budgets. What would come in without a step costs nothing, so a turn with nothing to say is let through. */
async function budgetStop({ loop, agent, turn, signal, ...context }: TurnContext, step: number): Promise<PauseCause | undefined> {
  const budgets = loop.budgets()
  if (!budgets) return undefined
  const { provider, model } = selected({ options: context.options(), defaults: loop.defaults() })
  const toolTokens = () => estimateRequestTokens({ tools: loop.tools.schemas(agent.scope), messages: [] })
  return (await orAbort(budgets.check({ agent, turn, step, provider, model, toolTokens }), signal)) ?? undefined
}

/** Claim what waits, put the prompt together and let the listeners of `agent/pre-step` judge what comes in. */
async function enter(context: TurnContext, step: number): Promise<StepEntry | 'rejected'> {
  const { loop, agent, turn, signal, inbox } = context
  const claimed = inbox.claim(turn, step === 1)
  try {
    const selection = { options: context.options(), defaults: loop.defaults() }
    const config = selected(selection)
    const { provider, model } = config
    const cwd = agent.session.header.cwd ?? ''
    const prompt = await orAbort(loop.systemPrompt.assemble({ agent, scope: agent.scope, provider, model, cwd, step }), signal)
    const place = { agent, turn, step, signal, messages: claimed.all, config }
    const decision = await loop.dispatch.waterfall('agent/pre-step', agent.scope, [place], async () => ({
      kind: 'enter' as const,
      messages: claimed.all,
    }))
    signal.throwIfAborted()
    if (decision.kind === 'reject') return 'rejected'
    // Listeners are others' code. What is no decision fails here, while the claimed words can still be put back.
    if (decision.kind !== 'enter' || !Array.isArray(decision.messages)) throw new TypeError('A listener of agent/pre-step answers with neither enter and its messages nor reject.')
    const surroundings = { text: prompt.runtimeContext, sections: prompt.runtimeSections }
    return { step, system: prompt.system, surroundings, messages: decision.messages, claimed, selection }
  } catch (error) {
    if (signal.aborted) giveBack(context, claimed)
    // The words of the person did not reach the talk; they wait on, to be sent again or edited.
    else inbox.putBack(claimed)
    throw error
  }
}

/** After a step: the model has results to answer to, something new waits, or a listener of `agent/turn-stopping` steers. */
async function goesOn({ loop, agent, turn, signal, inbox }: TurnContext, { hasCalls, concludesTurn }: StepOutcome): Promise<boolean> {
  if (hasCalls && !concludesTurn) return true
  if (inbox.lists.nextStep.length > 0) return true
  if (concludesTurn) return false
  await loop.dispatch.serial('agent/turn-stopping', agent.scope, [{ agent, turn, signal }])
  signal.throwIfAborted()
  return inbox.lists.nextStep.length > 0
}
