import * as z from 'zod'
import type { Json } from '../../base/json.ts'
import type { FinishReason, StreamChunk, Usage } from '../../core/model/contract.ts'
import { Blocks } from '../wire/blocks.ts'
import { filtered } from '../wire/failures.ts'
import { MalformedEvent, type ReadContext, type WireReader } from '../wire/wire.ts'
import type { ItemState } from './input.ts'

const text = z.string().nullish()
const count = z.number().nullish()
const output_index = z.number()
const delta = z.string()

const itemSchema = z.object({
  type: z.string(),
  id: text,
  call_id: text,
  name: text,
  arguments: text,
  phase: text,
  encrypted_content: text,
  // Goes back as it came, field by field.
  summary: z.array(z.unknown()).nullish(),
  content: z.array(z.looseObject({ text, refusal: text })).nullish(),
})
type Item = z.infer<typeof itemSchema>

const responseSchema = z.object({
  error: z.unknown().optional(),
  incomplete_details: z.object({ reason: text }).nullish(),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      input_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }).nullish(),
      output_tokens_details: z.object({ reasoning_tokens: count }).nullish(),
    })
    .nullish(),
})
type Response = z.infer<typeof responseSchema>

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('response.output_item.added'), output_index, item: itemSchema }),
  z.object({ type: z.literal('response.output_item.done'), output_index, item: itemSchema }),
  z.object({ type: z.literal('response.output_text.delta'), output_index, delta }),
  z.object({ type: z.literal('response.refusal.delta'), output_index, delta }),
  z.object({ type: z.literal('response.reasoning_summary_part.added'), output_index, summary_index: z.number() }),
  z.object({ type: z.literal('response.reasoning_summary_text.delta'), output_index, delta }),
  z.object({ type: z.literal('response.reasoning_text.delta'), output_index, delta }),
  z.object({ type: z.literal('response.function_call_arguments.delta'), output_index, delta }),
  z.object({ type: z.literal('response.completed'), response: responseSchema }),
  z.object({ type: z.literal('response.incomplete'), response: responseSchema }),
  z.object({ type: z.literal('response.failed'), response: responseSchema }),
  z.looseObject({ type: z.literal('error') }),
])
const kinds = new Set(eventSchema.options.map((option) => option.shape.type.value as string))
const eventOf = z.object({ type: z.string() })

/** Reads the events of a response. Of many events that repeat what others said, and of kinds not known here, nothing is needed. */
export function createResponseReader({ failureFrom }: ReadContext): WireReader {
  const blocks = new Blocks()
  /** Items of which a part was streamed; the others come whole at their end. */
  const streamed = new Set<string>()

  function begin(key: string, item: Item): readonly StreamChunk[] {
    if (blocks.has(key)) return []
    if (item.type === 'reasoning') return [blocks.start(key, 'reasoning')]
    if (item.type === 'message') return [blocks.start(key, 'text')]
    if (item.type !== 'function_call') return []
    if (item.arguments) streamed.add(key)
    return blocks.startCall(key, { id: item.call_id ?? undefined, name: item.name ?? '', text: item.arguments ?? '' })
  }

  function extend(key: string, kind: 'text' | 'reasoning' | 'arguments', delta: string): readonly StreamChunk[] {
    streamed.add(key)
    return blocks[kind](key, delta)
  }

  function finish(key: string, item: Item): readonly StreamChunk[] {
    const whole = streamed.has(key) || blocks.has(key) ? [] : begin(key, item)
    if (!blocks.has(key)) return []
    const rest = streamed.has(key) ? [] : wholeOf(key, item)
    const isEmpty = item.type === 'message' && rest.length === 0 && !streamed.has(key)
    return [...whole, ...rest, ...blocks.end(key, isEmpty ? undefined : stateOf(item))]
  }

  function wholeOf(key: string, { type, summary, content, arguments: words }: Item): readonly StreamChunk[] {
    if (type === 'function_call') return blocks.arguments(key, words ?? '')
    if (type === 'reasoning') return blocks.reasoning(key, (summary ?? []).map(textIn).join('\n\n'))
    return blocks.text(key, (content ?? []).map(({ text, refusal }) => text ?? refusal ?? '').join(''))
  }

  const end = (reason: FinishReason): readonly StreamChunk[] => [{ type: 'finish', reason }]
  const counted = ({ usage }: Response): readonly StreamChunk[] => (usage ? [{ type: 'usage', usage: usageFrom(usage) }] : [])

  return {
    take(raw) {
      const kind = eventOf.safeParse(raw)
      if (!kind.success) throw new MalformedEvent('It is no event of a response.', { cause: kind.error })
      if (!kinds.has(kind.data.type)) return []
      const parsed = eventSchema.safeParse(raw)
      if (!parsed.success) throw new MalformedEvent(`It is no ${kind.data.type}.`, { cause: parsed.error })
      const event = parsed.data
      const key = 'output_index' in event ? String(event.output_index) : ''
      switch (event.type) {
        case 'response.output_item.added':
          return begin(key, event.item)
        case 'response.output_item.done':
          return finish(key, event.item)
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          return extend(key, 'text', event.delta)
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return extend(key, 'reasoning', event.delta)
        case 'response.reasoning_summary_part.added':
          return event.summary_index === 0 ? [] : blocks.reasoning(key, '\n\n')
        case 'response.function_call_arguments.delta':
          return extend(key, 'arguments', event.delta)
        case 'response.completed':
          return [...blocks.endAll(), ...counted(event.response), ...end({ kind: blocks.hasCalls ? 'tool-calls' : 'stop' })]
        case 'response.incomplete': {
          const response = event.response
          const isFiltered = response.incomplete_details?.reason === 'content_filter'
          return [...blocks.endAll(), ...counted(response), ...end(isFiltered ? { kind: 'error', failure: filtered } : { kind: 'max-tokens' })]
        }
        case 'response.failed':
          return end({ kind: 'error', failure: failureFrom(event.response.error) })
        case 'error':
          return end({ kind: 'error', failure: failureFrom('error' in event ? event['error'] : event) })
      }
    },
    end: () => [],
  }
}

const textIn = (part: unknown): string => z.object({ text: z.string() }).safeParse(part).data?.text ?? ''

/** What the item must be sent back with. Thought that came without its cipher cannot be. */
function stateOf({ type, id, phase, summary, encrypted_content }: Item): ItemState | undefined {
  if (!id) return undefined
  if (type === 'reasoning') return encrypted_content ? { type, id, summary: (summary ?? []) as readonly Json[], encrypted_content } : undefined
  if (type === 'message') return { type, id, ...(phase && { phase }) }
  return type === 'function_call' ? { type, id } : undefined
}

function usageFrom({ input_tokens, output_tokens, input_tokens_details, output_tokens_details }: NonNullable<Response['usage']>): Usage {
  const cacheRead = input_tokens_details?.cached_tokens ?? 0
  const cacheWrite = input_tokens_details?.cache_write_tokens ?? 0
  const reasoning = output_tokens_details?.reasoning_tokens ?? 0
  return {
    inputTokens: Math.max(0, (input_tokens ?? 0) - cacheRead - cacheWrite),
    outputTokens: Math.max(0, (output_tokens ?? 0) - reasoning),
    cacheRead,
    cacheWrite,
    reasoning,
  }
}
