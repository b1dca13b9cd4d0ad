import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Failure, FinishReason, StreamChunk, Usage } from '../../core/model/contract.ts'

interface Options {
  /** What an error inside the stream means. */
  readonly failureFrom: (error: unknown) => Failure
}

/**
 * The library's parts as our chunks: blocks numbered in order of appearance, counts of tokens disjoint.
 *
 * An id that the library made up is left out, so that the same stream always gives the same record.
 * A stream without a finish reason gives no `finish`; the caller of the adapter makes of it what it is.
 */
export async function* chunksFrom(parts: AsyncIterable<LanguageModelV4StreamPart>, { failureFrom }: Options): AsyncGenerator<StreamChunk> {
  const open = new Map<string, number>()
  const sentIds = new Set<string>()
  let blockCount = 0
  let hasCalls = false
  let failure: Failure | undefined

  const start = (key: string): number => {
    const index = blockCount
    blockCount += 1
    open.set(key, index)
    return index
  }
  const end = (key: string): readonly StreamChunk[] => {
    const index = open.get(key)
    open.delete(key)
    return index === undefined ? [] : [{ type: 'block-end', index }]
  }

  for await (const part of parts) {
    switch (part.type) {
      case 'raw':
        for (const id of callIdsIn(part.rawValue)) sentIds.add(id)
        break
      case 'text-start':
      case 'reasoning-start':
        yield { type: 'block-start', index: start(part.id), block: part.type === 'text-start' ? 'text' : 'reasoning' }
        break
      case 'text-delta':
      case 'reasoning-delta': {
        const index = open.get(part.id)
        if (index !== undefined) yield { type: part.type, index, delta: part.delta }
        break
      }
      case 'text-end':
      case 'reasoning-end':
        yield* end(part.id)
        break
      case 'tool-input-start': {
        hasCalls = true
        const index = start(`call ${part.id}`)
        yield { type: 'block-start', index, block: 'tool-call' }
        yield { type: 'tool-call-delta', index, ...(sentIds.has(part.id) && { id: part.id }), name: part.toolName, argumentsDelta: '' }
        break
      }
      case 'tool-input-delta': {
        const index = open.get(`call ${part.id}`)
        if (index !== undefined) yield { type: 'tool-call-delta', index, argumentsDelta: part.delta }
        break
      }
      case 'tool-input-end':
        yield* end(`call ${part.id}`)
        break
      case 'error':
        // The first failure tells the cause; what the library says after it is a consequence.
        if (isMissingFinish(part.error)) return
        failure ??= failureFrom(part.error)
        yield { type: 'finish', reason: { kind: 'error', failure } }
        return
      case 'finish': {
        if (part.finishReason.unified === 'error') return
        const usage = usageFrom(part.usage)
        if (usage !== null) yield { type: 'usage', usage }
        yield { type: 'finish', reason: reasonFrom(part.finishReason, hasCalls) }
        return
      }
      default:
        // Sources, files and metadata have no place in our answer.
        break
    }
  }
}

function reasonFrom({ unified, raw }: { readonly unified: string; readonly raw: string | undefined }, hasCalls: boolean): FinishReason {
  switch (unified) {
    case 'length':
      return { kind: 'max-tokens' }
    case 'content-filter': {
      const message = 'The provider’s filter stopped the answer. Say it differently, or choose another model.'
      return { kind: 'error', failure: { code: 'INVALID_REQUEST', message } }
    }
    case 'other':
      if (raw !== undefined && /resource|error/.test(raw)) {
        const message = `The provider ended its answer early (${raw}). Retry, or choose another model.`
        return { kind: 'error', failure: { code: 'SERVER', message } }
      }
      return { kind: hasCalls ? 'tool-calls' : 'stop' }
    default:
      // Some servers say "stop" after a call.
      return { kind: hasCalls ? 'tool-calls' : 'stop' }
  }
}

function usageFrom({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | null {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return null
  const cacheRead = inputTokens.cacheRead ?? 0
  const cacheWrite = inputTokens.cacheWrite ?? 0
  const reasoning = outputTokens.reasoning ?? 0
  return {
    inputTokens: Math.max(0, (inputTokens.total ?? 0) - cacheRead - cacheWrite),
    // Some servers count the reasoning beside the answer, not inside of it.
    outputTokens: Math.max(0, (outputTokens.total ?? 0) - reasoning),
    cacheRead,
    cacheWrite,
    reasoning,
  }
}

function callIdsIn(raw: unknown): readonly string[] {
  const calls = (raw as { choices?: readonly { delta?: { tool_calls?: readonly { id?: unknown }[] | null } | null }[] } | null)?.choices?.[0]?.delta
    ?.tool_calls
  return Array.isArray(calls) ? calls.flatMap((call: { id?: unknown } | null) => (typeof call?.id === 'string' ? [call.id] : [])) : []
}

/** The library tells a stream without finish by this sentence alone. */
const isMissingFinish = (error: unknown) => error instanceof Error && /without a finish reason/.test(error.message)
