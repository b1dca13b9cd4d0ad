import { isErrorOf } from '../../base/harness-error.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { SessionEvent } from '../log/event.ts'
import type { ModelAdapter, ModelPrice, ModelRegistry, ModelRequest, StreamChunk, Usage } from '../model/contract.ts'
import { SessionError, type Session, type Sessions } from '../session/session.ts'
import { firstChange, prefixOf, type SentPrefix } from './cache-miss.ts'
import type { CacheMiss } from './events.ts'
import { amountOf, inputOf, ratesAt, tokensOf } from './rates.ts'

export interface MeterParts {
  readonly sessions: Pick<Sessions, 'live'>
  readonly models: Pick<ModelRegistry, 'get'>
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  readonly logger: Logger
}

/** What went before, of one session. */
interface Sent {
  readonly prefix: SentPrefix
  /** Tokens the provider may have kept of it. */
  readonly input: number
  readonly at: number
}

/** Below this many lost tokens, and this share of what could be found again, nobody is told. */
const MISS_TOKENS = 1024
const MISS_SHARE = 0.2
/** A server may say more of a model after it listed what it has. */
const PRICE_STALE_MS = 60_000

/**
 * Writes `cost/estimated` for each request that used something, whoever sent it: a turn, a title, a summary; also one that failed or
 * was stopped half way.
 *
 * The cost of a step does not grow with the talk: prefixes are compared only when a provider reports that it found little of one.
 */
export function createMeter({ sessions, models, clock, logger }: MeterParts) {
  const sent = new WeakMap<Session, Sent>()
  /** Routes that were seen to keep prefixes. */
  const caching = new Set<string>()
  const prices = new WeakMap<ModelAdapter, Map<string, { readonly price: ModelPrice | undefined; readonly at: number }>>()

  async function priceOf(config: { readonly provider: string; readonly model: string }): Promise<ModelPrice | undefined> {
    const adapter = models.get(config.provider)
    if (!adapter) return undefined
    const known = prices.get(adapter) ?? new Map<string, { readonly price: ModelPrice | undefined; readonly at: number }>()
    prices.set(adapter, known)
    const last = known.get(config.model)
    if (last && clock.monotonicMs() - last.at < PRICE_STALE_MS) return last.price
    // A model that cannot be resolved costs what nobody knows; the request itself says what is wrong.
    const price = await adapter.resolveModel(config.model).then((info) => info.price, () => undefined)
    known.set(config.model, { price, at: clock.monotonicMs() })
    return price
  }

  async function* watch(request: ModelRequest, next: () => Promise<AsyncIterable<StreamChunk>>): AsyncGenerator<StreamChunk> {
    const session = request.sessionId === undefined ? undefined : sessions.live(request.sessionId)
    if (!session) return yield* await next()
    const sentAt = clock.now()
    const price = await priceOf(request.config)
    let counted: Usage | undefined
    let length = 0
    let isSettled = false
    const settle = () => {
      if (isSettled) return
      isSettled = true
      const usage = counted !== undefined && tokensOf(counted) > 0 ? counted : length > 0 ? estimateOf(projectedTokens(session), length) : undefined
      if (usage === undefined) return
      record({ session, request, usage, isEstimate: usage !== counted || usage.isEstimate === true, price, sentAt })
    }
    try {
      for await (const part of await next()) {
        if (part.type === 'usage') counted = part.usage
        else if (part.type === 'finish') settle()
        else length += lengthOf(part)
        yield part
      }
    } finally {
      settle()
    }
  }

  function record({ session, request, usage, isEstimate, price, sentAt }: {
    readonly session: Session
    readonly request: ModelRequest
    readonly usage: Usage
    readonly isEstimate: boolean
    readonly price: ModelPrice | undefined
    readonly sentAt: number
  }): void {
    const { purpose = 'turn', config } = request
    const { provider, model } = config
    const rates = price && ratesAt(price, { inputTokens: inputOf(usage), time: sentAt })
    const cacheMiss = purpose === 'turn' ? missOf({ session, request, usage, isEstimate, price, sentAt }) : undefined
    try {
      session.append({
        type: 'cost/estimated',
        ignorable: true,
        data: { purpose, provider, model, usage, ...(isEstimate && { isEstimate }), ...(rates && { rates, amount: amountOf(usage, rates) }), ...(cacheMiss && { cacheMiss }) },
      })
    } catch (error) {
      // A stream that nobody waited for ends when its session may be closed or somebody else's.
      if (!isErrorOf(SessionError, error)) throw error
      logger.debug('What a request cost could not be noted.', { session: session.id, error: error.message })
    }
  }

  function missOf({ session, request, usage, isEstimate, price, sentAt }: Parameters<typeof record>[0]): CacheMiss | undefined {
    const route = `${request.config.provider}/${request.config.model}`
    const before = sent.get(session) ?? sentBeforeFrom(session)
    const prefix = prefixOf(request)
    sent.set(session, { prefix, input: isEstimate ? 0 : inputOf(usage), at: sentAt })
    if (usage.cacheRead > 0 || usage.cacheWrite > 0) caching.add(route)
    const keeps = caching.has(route) || (price !== undefined && price.cacheRead < price.input)
    if (isEstimate || !before || !keeps) return undefined
    const lostTokens = before.input - usage.cacheRead
    if (lostTokens < MISS_TOKENS || lostTokens < before.input * MISS_SHARE) return undefined
    return { lostTokens, sinceMs: Math.max(0, sentAt - before.at), reason: firstChange(before.prefix, prefix) }
  }

  return { watch, priceOf: (provider: string, model: string) => priceOf({ provider, model }) }
}

/** After a restart: the header before the newest one, and the last answer that was counted. Read once for each session. */
function sentBeforeFrom(session: Session): Sent | undefined {
  const events = session.milestones()
  const answer = events.findLast((event) => event.type === 'assistant/message' && event.data.usage !== undefined && event.surfaceOp === 'append') as SessionEvent<'assistant/message'> | undefined
  const header = answer && (events.findLast((event) => event.type === 'request/header' && event.seq < answer.seq) as SessionEvent<'request/header'> | undefined)
  const usage = answer?.data.usage
  if (!header || !usage) return undefined
  return { prefix: header.data.header, input: inputOf(usage), at: answer.time }
}

function projectedTokens(session: Session): number {
  const pressure = session.projections().values['contextPressure']
  // The unit of this key gives a number here; without it nothing is known.
  return (pressure as { readonly projectedTokens: number } | undefined)?.projectedTokens ?? 0
}

const estimateOf = (inputTokens: number, length: number): Usage => ({ inputTokens, outputTokens: Math.ceil(length / 4), cacheRead: 0, cacheWrite: 0, reasoning: 0 })

function lengthOf(part: StreamChunk): number {
  if (part.type === 'text-delta' || part.type === 'reasoning-delta') return part.delta.length
  return part.type === 'tool-call-delta' ? part.argumentsDelta.length : 0
}
