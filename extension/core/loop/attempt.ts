import { orAbort } from '../../base/or-abort.ts'
import { ModelError } from '../model/contract.ts'
import type { CallConfiguration, Failure, ModelAdapter, ModelInfo, ModelRequest, RetryPolicy } from '../model/contract.ts'
import { AnswerAssembly } from './answer.ts'
import type { Answer } from './answer.ts'
import { ChunkLog } from './chunk-log.ts'
import type { AgentOptions } from './points.ts'
import { requestFrom } from './request.ts'
import { readAnswer } from './stream.ts'
import type { StreamOutcome } from './stream.ts'
import type { RequestDefaults, TurnContext } from './turn-context.ts'

/** What a request is made of beside the talk. */
export interface RequestEntry {
  readonly step: number
  readonly system: string
  /** As chosen when the prompt was put together, so that prompt and request name the same model. */
  readonly selection: Selection
}

export interface Selection {
  readonly options: AgentOptions
  readonly defaults: RequestDefaults
}

/** What came of one request. */
export type Attempt =
  | { readonly kind: 'answered'; readonly answer: Answer & { readonly isCut: boolean } }
  | { readonly kind: 'failed'; readonly provider: string; readonly failure: Failure; readonly retryPolicy: RetryPolicy | undefined }

/**
 * Send one request and take the answer into the log.
 *
 * Errors: the signal's reason on a cancel, after what was said so far is kept; what a middleware or the log throws.
 */
export async function ask(context: TurnContext, entry: RequestEntry): Promise<Attempt> {
  const config = await configurationOf(context, entry)
  const adapter = context.loop.models.get(config.provider)
  const failed = (failure: Failure): Attempt => ({ kind: 'failed', provider: config.provider, failure, retryPolicy: adapter?.retryPolicy })
  const info = await infoOf(context, adapter, config.model)
  if (info instanceof ModelError) return failed(info.failure)
  const request = await requestOf(context, { entry, config, info })
  const { outcome, ...received } = await receive(context, entry.step, request)
  switch (outcome.kind) {
    case 'failed':
      return failed(outcome.failure)
    case 'cancelled':
      commitPrefix(context, received)
      throw context.signal.reason
    case 'answered':
      return { kind: 'answered', answer: commitAnswer(context, received) }
  }
}

async function configurationOf(context: TurnContext, { step, selection }: RequestEntry): Promise<CallConfiguration> {
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

/** Facts about the model, or why it cannot be used. Undefined for a route that only a middleware serves. */
async function infoOf({ facts, signal }: TurnContext, adapter: ModelAdapter | undefined, model: string): Promise<ModelInfo | ModelError | undefined> {
  try {
    return await orAbort(facts.of(adapter, model), signal)
  } catch (error) {
    if (error instanceof ModelError) return error
    throw error
  }
}

/** The request, when the log holds what it is made of and is on the disk up to there. */
async function requestOf(
  context: TurnContext,
  { entry, config, info }: { readonly entry: RequestEntry; readonly config: CallConfiguration; readonly info: ModelInfo | undefined },
): Promise<ModelRequest> {
  const { loop, agent, log, signal } = context
  const header = context.history.record({
    config: withoutUnknownEffort(config, entry.selection, info),
    system: entry.system,
    tools: loop.tools.schemas(agent.scope),
    contextWindow: info?.contextWindow,
  })
  await context.barrier.reach(visibleLength(context))
  signal.throwIfAborted()
  return requestFrom({
    header,
    messages: log.session.messages(),
    sessionId: agent.id,
    signal,
    loadAttachment: (attachmentId) => loop.loadAttachment(agent.id, attachmentId),
  })
}

async function receive(context: TurnContext, step: number, request: ModelRequest): Promise<Received & { readonly outcome: StreamOutcome }> {
  const { loop, agent, log, turn, signal } = context
  const { config } = request
  const assembly = new AnswerAssembly()
  const chunks = new ChunkLog(loop.clock, (chunk) => log.append({ type: 'assistant/chunk', data: { turn, step, chunk } }).seq)
  let outcome: StreamOutcome
  let chunkSeqs: readonly number[]
  try {
    const stream = loop.models.prepareCall(config.provider, agent.scope).stream(request)
    outcome = await readAnswer({ stream, signal, assembly, chunks })
  } finally {
    // Also after a throw: what arrived before it is in the log.
    chunkSeqs = chunks.end()
  }
  return { outcome, config, step, assembly, chunkSeqs }
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
