import type { RequestHeader } from '../log/event.ts'
import type { Message } from '../log/message.ts'
import { AnswerAssembly } from '../loop/answer.ts'
import { delayFor, waited } from '../loop/retry.ts'
import { failureOfRoutes, type FailedRoute } from '../loop/route-failure.ts'
import { readAnswer } from '../loop/stream.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { CallConfiguration, Failure, ModelRegistry, ModelRequest, RetryPolicy, StreamChunk, Usage } from '../model/contract.ts'
import { estimateMessageTokens, estimateRequestTokens } from '../model/token-estimate.ts'
import type { Agent } from '../session/agent.ts'
import { compactionCancelled, summaryFailed } from './error.ts'
import { shortenedText } from './prune.ts'
import { instruction, partOfTalk, summarySoFar } from './words.ts'

export interface SummaryParts {
  readonly agent: Agent
  readonly models: Pick<ModelRegistry, 'prepareCall'>
  readonly clock: Clock
  readonly newId: () => string
  readonly loadAttachment: ModelRequest['loadAttachment']
  readonly signal: AbortSignal
  /** System prompt and tools as the talk's own requests have them. */
  readonly header: Pick<RequestHeader, 'system' | 'tools'>
  /** With `maxTokens` of the summary. */
  readonly config: CallConfiguration & { readonly maxTokens: number }
  /** Tokens the request may have. */
  readonly room: number
  /** Tokens of the provider for one of the estimate. */
  readonly scale: number
  /** Of one request. */
  readonly retries: number
  readonly retryPolicy: RetryPolicy
  /** Where to go on when the route of `config` is out for good. */
  readonly reroute: (failure: Failure, asked: readonly SummaryRoute['config'][]) => Promise<SummaryRoute | null>
}

/** What changes with the model that is asked. */
export type SummaryRoute = Pick<SummaryParts, 'config' | 'room' | 'retryPolicy'>

export interface Summary {
  readonly text: string
  readonly usage: Usage | undefined
  /** Requests that gave a part of it. */
  readonly pieces: number
  /** Of the model that gave it. */
  readonly config: SummaryParts['config']
}

/**
 * Have the model summarise `units`, each a message or an answer with its results.
 *
 * One request when it fits. Else in pieces: the oldest part that fits, then its summary with the next part, to the end. A unit that
 * fits no request is shown as shortened text. When the provider finds a request too long all the same, the next one is half as long.
 * When the route is out, it goes on from there with the next one.
 * Errors: `CompactionError` `summary`, `cancelled`.
 */
export async function summarise(first: SummaryParts, units: readonly (readonly Message[])[]): Promise<Summary> {
  let parts = first
  let room = parts.room
  const asked = [parts.config]
  const failed: FailedRoute[] = []
  let at = 0
  let text: string | null = null
  let usage: Usage | undefined
  let pieces = 0
  while (at < units.length) {
    const piece = pieceFrom(parts, { units, at, text, room })
    const answer = await answerTo(parts, piece.messages)
    usage = sumOf(usage, answer.usage)
    if (answer.kind === 'out') {
      const route = await parts.reroute(answer.failure, asked)
      if (parts.signal.aborted) throw compactionCancelled()
      const last = { route: parts.config, failure: answer.failure }
      if (route === null) throw summaryFailed(failureOfRoutes([...failed, last]).message)
      failed.push(last)
      parts = { ...parts, ...route }
      room = Math.min(room, route.room)
      asked.push(route.config)
      continue
    }
    if (answer.kind === 'too-long') {
      room = Math.floor(Math.min(room, piece.tokens) / 2)
      if (room < minRoom) throw summaryFailed(answer.failure.message)
      continue
    }
    text = answer.text
    at = piece.next
    pieces++
  }
  if (text === null) throw summaryFailed('there is nothing to summarize.')
  return { text, usage, pieces, config: parts.config }
}

/** Tokens below which halving a request leads nowhere. */
const minRoom = 256

interface Progress {
  readonly units: readonly (readonly Message[])[]
  readonly at: number
  /** Summary of all before `at`. */
  readonly text: string | null
  readonly room: number
}

/** The messages of the next request, which reaches up to unit `next`. */
function pieceFrom({ header, scale, newId, config }: SummaryParts, { units, at, text, room }: Progress) {
  const first = text === null ? [] : [summarySoFar(newId(), text)]
  const last = instruction(newId(), config.maxTokens)
  const { system, tools = [] } = header
  const fixed = estimateRequestTokens({ ...(system !== undefined && { system }), tools, messages: [...first, last] })
  const budget = room / scale - fixed
  const messages: Message[] = [...first]
  let tokens = 0
  let next = at
  for (; next < units.length; next++) {
    const unit = units[next]!
    const own = unit.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
    if (tokens + own > budget) break
    messages.push(...unit)
    tokens += own
  }
  if (next === at) {
    const shown = partOfTalk(newId(), asText(units[at]!, Math.max(minRoom, budget) * 4 - 200))
    messages.push(shown)
    tokens = estimateMessageTokens(shown)
    next++
  }
  return { messages: [...messages, last], next, tokens: (fixed + tokens) * scale }
}

/** A unit in words, cut to about `maxLength` characters. */
function asText(unit: readonly Message[], maxLength: number): string {
  const lines = unit.flatMap((message) =>
    message.content.map((block) => {
      switch (block.type) {
        case 'text':
          return `${message.role}: ${block.text}`
        case 'reasoning':
          return ''
        case 'image':
          return `${message.role}: [image]`
        case 'tool-call':
          return `${message.role} calls ${block.name}: ${block.arguments}`
        case 'tool-result':
          return `result: ${block.content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n')}`
      }
    }),
  )
  const each = Math.floor(maxLength / lines.length)
  return cut(lines.filter((line) => line !== '').map((line) => cut(line, Math.max(400, each))).join('\n'), maxLength)
}

const cut = (text: string, trigger: number): string => shortenedText(text, { trigger, head: Math.floor(trigger * 0.7), tail: trigger }) ?? text

type SummaryAnswer =
  | { readonly kind: 'text'; readonly text: string; readonly usage: Usage | undefined }
  | { readonly kind: 'too-long'; readonly failure: Failure; readonly usage: Usage | undefined }
  | { readonly kind: 'out'; readonly failure: Failure; readonly usage: Usage | undefined }

/** Ask until there is text, as often as the retries allow. */
async function answerTo(parts: SummaryParts, messages: readonly Message[]): Promise<SummaryAnswer> {
  const { clock, signal, retries, retryPolicy } = parts
  let usage: Usage | undefined
  for (let retry = 1; ; retry++) {
    const outcome = await askOnce(parts, messages)
    usage = sumOf(usage, outcome.usage)
    if (outcome.failure === null) return { kind: 'text', text: outcome.text, usage }
    const { failure } = outcome
    if (failure.code === 'CONTEXT_WINDOW_EXCEEDED') return { kind: 'too-long', failure, usage }
    const delayMs = outcome.isUseless ? 0 : delayFor(retryPolicy, { failure, retry, chance: 0.5 })
    if (retry > retries || delayMs === null) return { kind: 'out', failure, usage }
    if (delayMs > 0 && !(await waited(clock, delayMs, signal))) throw compactionCancelled()
  }
}

interface Outcome {
  readonly text: string
  readonly failure: Failure | null
  /** An answer came and holds no text. */
  readonly isUseless: boolean
  readonly usage: Usage | undefined
}

/** No language packs more into a token; whoever goes on beyond it does not heed the cap. */
const maxCharactersPerToken = 16
const endlessSummary = (maxTokens: number): Failure => ({ code: 'MALFORMED_RESPONSE', message: `the model went on far beyond the ${maxTokens} tokens that a summary may have.` })

async function askOnce({ agent, models, signal, header, config, loadAttachment }: SummaryParts, messages: readonly Message[]): Promise<Outcome> {
  const endless = new AbortController()
  const any = AbortSignal.any([signal, endless.signal])
  let length = 0
  const count = (chunk: StreamChunk): void => {
    if (chunk.type === 'text-delta') length += chunk.delta.length
    if (length > config.maxTokens * maxCharactersPerToken) endless.abort()
  }
  const request: ModelRequest = Object.freeze({
    ...(header.system !== undefined && { system: header.system }),
    tools: header.tools ?? [],
    messages: Object.freeze(messages),
    config: Object.freeze(config),
    sessionId: agent.id,
    purpose: 'compaction',
    signal: any,
    loadAttachment,
  })
  const assembly = new AnswerAssembly()
  const stream = models.prepareCall(config.provider, agent.scope).stream(request)
  // Nothing of it is shown while it comes; the summary is in the log when it is whole.
  const outcome = await readAnswer({ stream, signal: any, assembly, chunks: { add: count } })
  const { usage } = assembly
  if (endless.signal.aborted && !signal.aborted) return { text: '', failure: endlessSummary(config.maxTokens), isUseless: true, usage }
  if (outcome.kind === 'cancelled' || signal.aborted) throw compactionCancelled()
  if (outcome.kind === 'failed') return { text: '', failure: outcome.failure, isUseless: outcome.failure.code === 'EMPTY_RESPONSE', usage }
  const text = assembly.whole().content.map((block) => (block.type === 'text' ? block.text : '')).join('\n').replaceAll(/<\/?compacted-summary>/g, '').trim()
  if (text !== '') return { text, failure: null, isUseless: false, usage }
  return { text, failure: { code: 'EMPTY_RESPONSE', message: 'the model answered without any text.' }, isUseless: true, usage }
}

function sumOf(left: Usage | undefined, right: Usage | undefined): Usage | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cacheRead: left.cacheRead + right.cacheRead,
    cacheWrite: left.cacheWrite + right.cacheWrite,
    reasoning: left.reasoning + right.reasoning,
  }
}
