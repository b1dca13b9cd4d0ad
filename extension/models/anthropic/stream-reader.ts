import * as z from 'zod'
import type { FinishReason, StreamChunk, Usage } from '../../core/model/contract.ts'
import { Blocks } from '../wire/blocks.ts'
import { filtered } from '../wire/failures.ts'
import { MalformedEvent, type ReadContext, type WireReader } from '../wire/wire.ts'
import type { ThinkingState } from './messages.ts'

const text = z.string().nullish()
const count = z.number().nullish()
const index = z.number()
const usageSchema = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens_details: z.object({ thinking_tokens: count }).nullish(),
})
type WireUsage = z.infer<typeof usageSchema>

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ usage: usageSchema.nullish() }) }),
  z.object({
    type: z.literal('content_block_start'),
    index,
    content_block: z.object({ type: z.string(), text, thinking: text, signature: text, data: text, id: text, name: text, input: z.unknown().optional() }),
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index,
    delta: z.object({ type: z.string(), text, thinking: text, signature: text, partial_json: text }),
  }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({ type: z.literal('message_delta'), delta: z.object({ stop_reason: text }), usage: usageSchema.nullish() }),
  z.object({ type: z.literal('message_stop') }),
  z.object({ type: z.literal('error'), error: z.unknown().optional() }),
])
type Event = z.infer<typeof eventSchema>
type BlockStart = Extract<Event, { type: 'content_block_start' }>['content_block']
type BlockDelta = Extract<Event, { type: 'content_block_delta' }>['delta']

/** New kinds of events may come at any time, says the provider; they and `ping` are passed over. */
const kinds = new Set(eventSchema.options.map((option) => option.shape.type.value as string))
const eventOf = z.object({ type: z.string() })

/** Reads the events of a message. */
export function createMessageReader({ failureFrom }: ReadContext): WireReader {
  const blocks = new Blocks()
  /** What a block of thinking must be sent back with, by its index. */
  const thinking = new Map<number, ThinkingState>()
  let usage: WireUsage = {}
  let stopReason: string | null | undefined

  function start(at: number, block: BlockStart): readonly StreamChunk[] {
    const key = String(at)
    switch (block.type) {
      case 'text':
        return [blocks.start(key, 'text'), ...blocks.text(key, block.text ?? '')]
      case 'thinking':
        if (block.signature) thinking.set(at, { type: 'thinking', signature: block.signature })
        return [blocks.start(key, 'reasoning'), ...blocks.reasoning(key, block.thinking ?? '')]
      case 'redacted_thinking':
        thinking.set(at, { type: 'redacted_thinking', data: block.data ?? '' })
        return [blocks.start(key, 'reasoning')]
      case 'tool_use':
        return blocks.startCall(key, { id: block.id ?? undefined, name: block.name ?? '', text: wholeInput(block.input) })
      default:
        return []
    }
  }

  function extend(at: number, delta: BlockDelta): readonly StreamChunk[] {
    const key = String(at)
    switch (delta.type) {
      case 'text_delta':
        return blocks.text(key, delta.text ?? '')
      case 'thinking_delta':
        return blocks.reasoning(key, delta.thinking ?? '')
      case 'input_json_delta':
        return blocks.arguments(key, delta.partial_json ?? '')
      case 'signature_delta': {
        const known = thinking.get(at)
        const before = known?.type === 'thinking' ? known.signature : ''
        if (blocks.has(key)) thinking.set(at, { type: 'thinking', signature: before + (delta.signature ?? '') })
        return []
      }
      default:
        return []
    }
  }

  return {
    take(raw) {
      const kind = eventOf.safeParse(raw)
      if (!kind.success) throw new MalformedEvent('It is no event of a message.', { cause: kind.error })
      if (!kinds.has(kind.data.type)) return []
      const parsed = eventSchema.safeParse(raw)
      if (!parsed.success) throw new MalformedEvent(`It is no ${kind.data.type}.`, { cause: parsed.error })
      const event = parsed.data
      switch (event.type) {
        case 'message_start':
          usage = { ...usage, ...told(event.message.usage) }
          return []
        case 'content_block_start':
          return start(event.index, event.content_block)
        case 'content_block_delta':
          return extend(event.index, event.delta)
        case 'content_block_stop':
          return blocks.end(String(event.index), thinking.get(event.index))
        case 'message_delta':
          // The counts are those of the whole message, not of what is new.
          usage = { ...usage, ...told(event.usage) }
          stopReason = event.delta.stop_reason ?? stopReason
          return []
        case 'message_stop':
          return [...blocks.endAll(), { type: 'usage', usage: usageFrom(usage) }, ended(reasonFrom(stopReason, blocks.hasCalls))]
        case 'error':
          return [ended({ kind: 'error', failure: failureFrom(event.error) })]
      }
    },
    end: () => [],
  }
}

const ended = (reason: FinishReason): StreamChunk => ({ type: 'finish', reason })

/** A call may come whole with its start. */
function wholeInput(input: unknown): string {
  return typeof input === 'object' && input !== null && Object.keys(input).length > 0 ? JSON.stringify(input) : ''
}

/** Without the fields that are not told, so that they do not hide what was told before. */
function told(usage: WireUsage | null | undefined): WireUsage {
  return Object.fromEntries(Object.entries(usage ?? {}).filter(([, value]) => value !== null && value !== undefined))
}

function reasonFrom(stopReason: string | null | undefined, hasCalls: boolean): FinishReason {
  switch (stopReason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return { kind: 'max-tokens' }
    case 'refusal':
      return { kind: 'error', failure: filtered }
    default:
      return { kind: hasCalls ? 'tool-calls' : 'stop' }
  }
}

function usageFrom(usage: WireUsage): Usage {
  const reasoning = usage.output_tokens_details?.thinking_tokens ?? 0
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: Math.max(0, (usage.output_tokens ?? 0) - reasoning),
    cacheRead: usage.cache_read_input_tokens ?? 0,
    cacheWrite: usage.cache_creation_input_tokens ?? 0,
    reasoning,
  }
}
