import * as z from 'zod'
import type { FinishReason, StreamChunk, Usage } from '../../core/model/contract.ts'
import { Blocks } from '../wire/blocks.ts'
import { filtered } from '../wire/failures.ts'
import { MalformedEvent, type ReadContext, type WireReader } from '../wire/wire.ts'

const count = z.number().nullish().catch(undefined)
const text = z.string().nullish()

/** What servers add to the protocol is let through, what they leave out is allowed for. */
const chunkSchema = z.object({
  error: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: text,
            refusal: text,
            reasoning_content: text,
            reasoning: text,
            tool_calls: z
              .array(
                z.object({
                  index: z.number().nullish(),
                  id: text,
                  function: z.object({ name: text, arguments: z.unknown().optional() }).nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
        finish_reason: text,
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_cache_hit_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }).nullish(),
      completion_tokens_details: z.object({ reasoning_tokens: count }).nullish(),
    })
    .nullish(),
})
type Chunk = z.infer<typeof chunkSchema>
type Delta = NonNullable<NonNullable<NonNullable<Chunk['choices']>[number]>['delta']>
type CallDelta = NonNullable<Delta['tool_calls']>[number]

/** Reads the chunks of a chat completion. The usage comes after the finish reason, so both are told at the end. */
export function createChatReader({ failureFrom }: ReadContext): WireReader {
  const blocks = new Blocks()
  let spoken: 'text' | 'reasoning' | undefined
  let lastCall = -1
  let finish: string | undefined
  let usage: Chunk['usage']

  function speak(kind: 'text' | 'reasoning', delta: string | null | undefined): readonly StreamChunk[] {
    if (delta === undefined || delta === null || delta === '') return []
    const turn = spoken === kind ? [] : [...(spoken === undefined ? [] : blocks.end(spoken)), blocks.start(kind, kind)]
    spoken = kind
    return [...turn, ...(kind === 'text' ? blocks.text(kind, delta) : blocks.reasoning(kind, delta))]
  }

  function call({ index, id, function: part }: CallDelta): readonly StreamChunk[] {
    // Some servers count no calls: an id then begins one.
    const at = index ?? (id === undefined || id === null ? Math.max(0, lastCall) : lastCall + 1)
    const key = `call ${at}`
    const words = part?.arguments
    const delta = typeof words === 'string' ? words : words === undefined || words === null ? '' : JSON.stringify(words)
    const isKnown = blocks.has(key)
    lastCall = Math.max(lastCall, at)
    if (isKnown) return blocks.arguments(key, delta)
    return blocks.startCall(key, { id: id ?? undefined, name: part?.name ?? '', text: delta })
  }

  return {
    take(event) {
      const parsed = chunkSchema.safeParse(event)
      if (!parsed.success) throw new MalformedEvent('It is no chunk of a chat completion.', { cause: parsed.error })
      const chunk = parsed.data
      if (chunk.error !== undefined && chunk.error !== null) return [ended({ kind: 'error', failure: failureFrom(chunk.error) })]
      usage = chunk.usage ?? usage
      const choice = chunk.choices?.[0]
      // What comes after the finish is no part of the answer.
      if (choice === undefined || finish !== undefined) return []
      finish = choice.finish_reason ?? undefined
      const { reasoning_content, reasoning, content, refusal, tool_calls } = choice.delta ?? {}
      return [...speak('reasoning', reasoning_content ?? reasoning), ...speak('text', content ?? refusal), ...(tool_calls ?? []).flatMap(call)]
    },
    end() {
      if (finish === undefined) return []
      const counted = usageFrom(usage)
      return [...blocks.endAll(), ...(counted === null ? [] : [{ type: 'usage' as const, usage: counted }]), ended(reasonFrom(finish, blocks.hasCalls))]
    },
  }
}

const ended = (reason: FinishReason): StreamChunk => ({ type: 'finish', reason })

function reasonFrom(finish: string, hasCalls: boolean): FinishReason {
  if (finish === 'length') return { kind: 'max-tokens' }
  if (finish === 'content_filter') return { kind: 'error', failure: filtered }
  if (/resource|error/.test(finish)) {
    const message = `The provider ended its answer early (${finish}). Retry, or choose another model.`
    return { kind: 'error', failure: { code: 'SERVER', message } }
  }
  // Some servers say "stop" after a call.
  return { kind: hasCalls ? 'tool-calls' : 'stop' }
}


function usageFrom(usage: Chunk['usage']): Usage | null {
  if (usage === undefined || usage === null) return null
  const cacheRead = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0
  const cacheWrite = usage.prompt_tokens_details?.cache_write_tokens ?? 0
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0
  return {
    inputTokens: Math.max(0, (usage.prompt_tokens ?? 0) - cacheRead - cacheWrite),
    // Some servers count the reasoning beside the answer, not inside of it.
    outputTokens: Math.max(0, (usage.completion_tokens ?? 0) - reasoning),
    cacheRead,
    cacheWrite,
    reasoning,
  }
}
