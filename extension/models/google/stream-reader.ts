import * as z from 'zod'
import type { Failure, FinishReason, StreamChunk, Usage } from '../../core/model/contract.ts'
import { Blocks } from '../wire/blocks.ts'
import { filtered } from '../wire/failures.ts'
import { MalformedEvent, type ReadContext, type WireReader } from '../wire/wire.ts'
import type { PartState } from './contents.ts'

const count = z.number().nullish()
const text = z.string().nullish()

const partSchema = z.object({
  text,
  thought: z.boolean().nullish(),
  thoughtSignature: text,
  functionCall: z.object({ id: text, name: z.string(), args: z.record(z.string(), z.unknown()).nullish() }).nullish(),
})
type Part = z.infer<typeof partSchema>

const chunkSchema = z.object({
  error: z.unknown().optional(),
  candidates: z.array(z.object({ content: z.object({ parts: z.array(partSchema).nullish() }).nullish(), finishReason: text })).nullish(),
  promptFeedback: z.object({ blockReason: text }).nullish(),
  usageMetadata: z
    .object({ promptTokenCount: count, toolUsePromptTokenCount: count, cachedContentTokenCount: count, candidatesTokenCount: count, thoughtsTokenCount: count })
    .nullish(),
})
type WireUsage = NonNullable<z.infer<typeof chunkSchema>['usageMetadata']>

/**
 * Reads the chunks of a generated content.
 *
 * A signature belongs to the part it comes with. Text comes in pieces, so the piece that brings it ends its block; one that comes
 * on no text of its own, after a call or a thought, makes an empty block that carries it back.
 */
export function createContentReader({ failureFrom }: ReadContext): WireReader {
  const blocks = new Blocks()
  let count = 0
  let spoken: { readonly kind: 'text' | 'reasoning'; readonly key: string } | null = null
  let finish: string | undefined
  let usage: WireUsage | undefined

  function hush(state?: PartState): readonly StreamChunk[] {
    const chunks = spoken === null ? [] : blocks.end(spoken.key, state && { ...state })
    spoken = null
    return chunks
  }

  function speak(kind: 'text' | 'reasoning', words: string, signature: string | undefined): readonly StreamChunk[] {
    if (words === '' && signature === undefined) return []
    const chunks: StreamChunk[] = []
    if (spoken?.kind !== kind) {
      chunks.push(...hush())
      spoken = { kind, key: `part ${count++}` }
      chunks.push(blocks.start(spoken.key, kind))
    }
    chunks.push(...(kind === 'text' ? blocks.text(spoken.key, words) : blocks.reasoning(spoken.key, words)))
    return signature === undefined ? chunks : [...chunks, ...hush({ thoughtSignature: signature })]
  }

  function read({ text, thought, thoughtSignature, functionCall }: Part): readonly StreamChunk[] {
    const signature = thoughtSignature ?? undefined
    if (!functionCall) return typeof text === 'string' ? speak(thought === true ? 'reasoning' : 'text', text, signature) : []
    const key = `part ${count++}`
    const id = functionCall.id ?? undefined
    const state = { ...(signature !== undefined && { thoughtSignature: signature }), ...(id !== undefined && { id }) }
    return [
      ...hush(),
      ...blocks.startCall(key, { id, name: functionCall.name, text: JSON.stringify(functionCall.args ?? {}) }),
      ...blocks.end(key, Object.keys(state).length > 0 ? state : undefined),
    ]
  }

  return {
    take(event) {
      const parsed = chunkSchema.safeParse(event)
      if (!parsed.success) throw new MalformedEvent('It is no chunk of a generated content.', { cause: parsed.error })
      const { error, candidates, promptFeedback, usageMetadata } = parsed.data
      if (error !== undefined && error !== null) return [ended({ kind: 'error', failure: failureFrom(error) })]
      if (promptFeedback?.blockReason) return [ended({ kind: 'error', failure: filtered })]
      usage = usageMetadata ?? usage
      const candidate = candidates?.[0]
      // What comes after the finish is no part of the answer.
      if (candidate === undefined || finish !== undefined) return []
      finish = candidate.finishReason ?? undefined
      return (candidate.content?.parts ?? []).flatMap(read)
    },
    end() {
      if (finish === undefined) return []
      return [...hush(), ...blocks.endAll(), ...(usage === undefined ? [] : [{ type: 'usage' as const, usage: usageFrom(usage) }]), ended(reasonFrom(finish, blocks.hasCalls))]
    },
  }
}

const ended = (reason: FinishReason): StreamChunk => ({ type: 'finish', reason })

function reasonFrom(finish: string, hasCalls: boolean): FinishReason {
  if (finish === 'MAX_TOKENS') return { kind: 'max-tokens' }
  if (/SAFETY|RECITATION|BLOCKLIST|PROHIBITED|SPII|LANGUAGE/.test(finish)) return { kind: 'error', failure: filtered }
  if (/MALFORMED|UNEXPECTED_TOOL|TOO_MANY_TOOL|MISSING_THOUGHT/.test(finish)) return { kind: 'error', failure: early('MALFORMED_RESPONSE', finish) }
  if (finish === 'OTHER') return { kind: 'error', failure: early('SERVER', finish) }
  return { kind: hasCalls ? 'tool-calls' : 'stop' }
}

const early = (code: 'MALFORMED_RESPONSE' | 'SERVER', finish: string): Failure => ({
  code,
  message: `The provider ended its answer early (${finish}). Retry, or choose another model.`,
})

function usageFrom(usage: WireUsage): Usage {
  const cacheRead = usage.cachedContentTokenCount ?? 0
  return {
    inputTokens: Math.max(0, (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0) - cacheRead),
    outputTokens: usage.candidatesTokenCount ?? 0,
    cacheRead,
    cacheWrite: 0,
    reasoning: usage.thoughtsTokenCount ?? 0,
  }
}
