import { orAbort } from '../../base/or-abort.ts'
import type { SessionEvent } from '../log/event.ts'
import type { ToolCallBlock, UserMessage } from '../log/message.ts'
import { ModelError } from '../model/contract.ts'
import type { CallConfiguration, Failure, ModelInfo, RetryPolicy } from '../model/contract.ts'
import type { RuntimeSnapshot } from '../prompt/runtime-context.ts'
import type { ClaimedMessages } from '../session/inbox.ts'
import { runToolBatch } from '../tools/scheduler.ts'
import { AnswerAssembly, callsOf } from './answer.ts'
import type { Answer } from './answer.ts'
import { ChunkLog } from './chunk-log.ts'
import type { AgentOptions } from './points.ts'
import { requestFrom } from './request.ts'
import { readAnswer } from './stream.ts'
import type { RequestDefaults, TurnContext } from './turn-context.ts'

/** What a step begins with. */
export interface StepEntry {
  readonly step: number
  readonly system: string
  readonly surroundings: RuntimeSnapshot
  /** What comes into the talk with this step. */
  readonly messages: readonly UserMessage[]
  /** What was taken out of the inbox for it. */
  readonly claimed: ClaimedMessages
  /** As chosen when the prompt was put together, so that prompt and request name the same model. */
  readonly selection: Selection
}

export interface Selection {
  readonly options: AgentOptions
  readonly defaults: RequestDefaults
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
    const surroundings = context.runtimeContext.next(entry.surroundings, context.loop.newId)
    for (const message of [...(surroundings ? [surroundings] : []), ...entry.messages]) {
      log.append({ type: 'user/message', surfaceOp: 'append', data: message })
    }
    const answer = await answerOf(context, entry)
    const calls = callsOf(answer.content)
    if (calls.length === 0) return { hasCalls: false, concludesTurn: false, isCut: answer.isCut }
    const { concludesTurn } = await runCalls(context, step, calls)
    context.barrier.begin()
    return { hasCalls: true, concludesTurn, isCut: answer.isCut }
  } finally {
    log.append({ type: 'step/end', data: { turn, step } })
  }
}

/** A cancelled turn does not use what it claimed: it waits again, or is dropped, as the cancel wants it. */
export function giveBack({ inbox, cancellation }: TurnContext, claimed: ClaimedMessages): void {
  if (cancellation().keepsInbox) inbox.putBack(claimed)
  else inbox.drop(claimed)
}

/** Ask until there is an answer; a listener of `agent/request-error` decides whether a failed request is sent again. */
async function answerOf(context: TurnContext, entry: StepEntry): Promise<Answer & { readonly isCut: boolean }> {
  for (;;) {
    const attempt = await ask(context, entry)
    if (attempt.kind === 'answered') return attempt.answer
    if (!(await mayRetry(context, entry.step, attempt))) throw new ModelError(attempt.failure)
  }
}

type Attempt =
  | { readonly kind: 'answered'; readonly answer: Answer & { readonly isCut: boolean } }
  | { readonly kind: 'failed'; readonly provider: string; readonly failure: Failure; readonly retryPolicy: RetryPolicy | undefined }

async function ask(context: TurnContext, entry: StepEntry): Promise<Attempt> {
  const { loop, agent, log, signal } = context
  const config = await configurationOf(context, entry)
  const adapter = loop.models.get(config.provider)
  const failed = (failure: Failure): Attempt => ({ kind: 'failed', provider: config.provider, failure, retryPolicy: adapter?.retryPolicy })
  let info: ModelInfo | undefined
  try {
    info = await orAbort(context.facts.of(adapter, config.model), signal)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ModelError) return failed(error.failure)
    throw error
  }
  const header = context.history.record({
    config: withoutUnknownEffort(config, entry.selection, info),
    system: entry.system,
    tools: loop.tools.schemas(agent.scope),
    contextWindow: info?.contextWindow,
  })
  await context.barrier.reach(visibleLength(context))
  signal.throwIfAborted()
  const request = requestFrom({
    header,
    messages: log.session.messages(),
    sessionId: agent.id,
    signal,
    loadAttachment: (attachmentId) => loop.loadAttachment(agent.id, attachmentId),
  })
  const assembly = new AnswerAssembly()
  const chunks = new ChunkLog(loop.clock, (chunk) => log.append({ type: 'assistant/chunk', data: { turn: context.turn, step: entry.step, chunk } }).seq)
  let outcome
  let chunkSeqs: readonly number[]
  try {
    outcome = await readAnswer({ stream: loop.models.prepareCall(config.provider, agent.scope).stream(request), signal, assembly, chunks })
  } finally {
    chunkSeqs = chunks.end()
  }
  const parts = { config, step: entry.step, assembly, chunkSeqs }
  switch (outcome.kind) {
    case 'failed':
      return failed(outcome.failure)
    case 'cancelled':
      commitPrefix(context, parts)
      throw signal.reason
    case 'answered':
      return { kind: 'answered', answer: commitAnswer(context, parts) }
  }
}

async function configurationOf(context: TurnContext, { step, selection }: StepEntry): Promise<CallConfiguration> {
  const { loop, agent, turn, signal } = context
  const config = await loop.dispatch.waterfall('agent/request', agent.scope, [{ agent, turn, step, signal }], async () => selected(selection))
  signal.throwIfAborted()
  if (config.provider === '') throw new ModelError({ code: 'NO_ADAPTER', message: 'No model is chosen. Choose one, then continue.' })
  if (config.model === '') {
    throw new ModelError({ code: 'UNKNOWN_MODEL', message: `No model of ${config.provider} is chosen. Choose one, then continue.` })
  }
  return config
}

/** The choice for one agent over the settings. A model belongs to its provider: the settings' one is no choice for another. */
export function selected({ options, defaults }: Selection): CallConfiguration {
  const provider = options.provider ?? defaults.provider ?? ''
  const model = options.model ?? (provider === defaults.provider ? defaults.model : undefined) ?? ''
  const reasoningEffort = options.reasoningEffort ?? defaults.reasoningEffort
  const maxTokens = options.maxTokens ?? defaults.maxTokens
  return {
    provider,
    model,
    ...(reasoningEffort !== undefined && { reasoningEffort }),
    ...(defaults.temperature !== undefined && { temperature: defaults.temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
  }
}

/** An effort from the settings is a wish, left out for models that do not know it; one chosen for this agent goes through as it is. */
function withoutUnknownEffort(config: CallConfiguration, { options, defaults }: Selection, info: ModelInfo | undefined): CallConfiguration {
  const { reasoningEffort, ...rest } = config
  const isWish = options.reasoningEffort === undefined && reasoningEffort === defaults.reasoningEffort
  if (reasoningEffort === undefined || !isWish || !info || info.reasoningEfforts.includes(reasoningEffort)) return config
  return rest
}

/** Number of events up to the last one the request is made of. */
function visibleLength({ log: { session }, history }: TurnContext): number {
  const lastNode = session.surface().nodes.at(-1)?.seq ?? -1
  return Math.max(lastNode, history.lastSeq) + 1
}

interface Received {
  readonly config: CallConfiguration
  readonly step: number
  readonly assembly: AnswerAssembly
  readonly chunkSeqs: readonly number[]
}

function commitAnswer(context: TurnContext, received: Received): Answer & { readonly isCut: boolean } {
  const answer = received.assembly.whole()
  const content = context.callIds.unique(answer.content)
  appendAnswer(context, received, { ...answer, content })
  return { ...answer, content, isCut: received.assembly.finish?.kind === 'max-tokens' }
}

/** What a cancelled answer had said so far stays in the talk; its calls do not. */
function commitPrefix(context: TurnContext, received: Received): void {
  const prefix = received.assembly.prefix()
  if (prefix) appendAnswer(context, received, prefix, { interrupted: true })
}

function appendAnswer(context: TurnContext, { config, step, assembly, chunkSeqs }: Received, answer: Answer, flags: { readonly interrupted?: true } = {}): void {
  const { content, replayState } = answer
  context.log.append({
    type: 'assistant/message',
    surfaceOp: 'append',
    ...(chunkSeqs.length > 0 && { sourceEventSeqs: chunkSeqs }),
    data: {
      turn: context.turn,
      step,
      message: {
        id: context.loop.newId(),
        role: 'assistant',
        content,
        source: { kind: 'model', provider: config.provider, model: config.model, ...(replayState && { replayState }) },
      },
      ...(assembly.usage && { usage: assembly.usage }),
      ...flags,
    },
  })
}

async function mayRetry(context: TurnContext, step: number, attempt: Extract<Attempt, { readonly kind: 'failed' }>): Promise<boolean> {
  const { loop, agent, turn, signal } = context
  signal.throwIfAborted()
  const { provider, failure, retryPolicy } = attempt
  const place = { agent, turn, step, signal, provider, failure, ...(retryPolicy && { retryPolicy }) }
  const decision = await loop.dispatch.waterfall('agent/request-error', agent.scope, [place], async () => ({ kind: 'fail' as const }))
  // A cancel while somebody made up their mind counts for more than the answer.
  signal.throwIfAborted()
  return decision.kind === 'retry'
}

async function runCalls(context: TurnContext, step: number, calls: readonly ToolCallBlock[]): Promise<{ readonly concludesTurn: boolean }> {
  const { loop, agent, log, turn, signal, inbox } = context
  const from = log.session.length
  try {
    return await runToolBatch({
      tools: loop.tools,
      agent,
      turn,
      step,
      calls,
      signal,
      maxParallel: loop.maxParallelToolCalls,
      append: (draft) => log.append(draft),
      newMessageId: loop.newId,
      addContexts: (contexts) => {
        for (const message of contexts) inbox.insert('next-step', message)
      },
      onProgress: (callId, progress) => loop.dispatch.emit('agent/progress', agent.scope, [{ agent, callId, progress }]),
    })
  } catch (error) {
    closeOpenCalls(context, step, { calls, from })
    throw error
  }
}

/**
 * The machinery broke in the middle of a batch. The talk can only go on when each call has a result, so the open ones get
 * one that says what is known: as crash repair would, had the host died here.
 */
function closeOpenCalls(context: TurnContext, step: number, { calls, from }: { readonly calls: readonly ToolCallBlock[]; readonly from: number }): void {
  const { log, turn, loop } = context
  const events = log.session.events(from)
  const idsOf = (pick: (event: SessionEvent) => string | undefined) => new Set(events.map(pick))
  const started = idsOf((event) => (event.type === 'tool/call' ? event.data.callId : undefined))
  const answered = idsOf((event) => (event.type === 'tool/result' ? event.data.message.source.callId : undefined))
  try {
    for (const { id, name, arguments: args } of calls.filter((call) => !answered.has(call.id))) {
      const isStarted = started.has(id)
      if (!isStarted) log.append({ type: 'tool/call', data: { turn, step, callId: id, name, arguments: args } })
      const text = isStarted
        ? 'Error: The application failed while this call ran. It may have had its effect, in whole or in part. Look before you call it again.'
        : 'Error: The application failed before this call began. It had no effect.'
      log.append({
        type: 'tool/result',
        surfaceOp: 'append',
        data: {
          turn,
          step,
          message: {
            id: loop.newId(),
            role: 'tool',
            content: [{ type: 'tool-result', callId: id, isError: true, content: [{ type: 'text', text }] }],
            source: { kind: 'tool', callId: id },
          },
          error: { name: 'ToolError', code: isStarted ? 'TOOL_OUTCOME_UNKNOWN' : 'TOOL_NOT_STARTED' },
        },
      })
    }
  } catch (error) {
    // The log itself takes nothing more; loading it again repairs it. The first failure is the one to report.
    loop.logger.error('Open calls could not be closed.', { session: log.session.id, error: String(error) })
  }
}
