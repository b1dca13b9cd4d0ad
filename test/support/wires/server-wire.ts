import type { IncomingHttpHeaders } from 'node:http'
import type { WireApi } from '../../../extension/core/model/provider-config.ts'
import type { ChatRequest, ErrorAnswer, ScriptPart, ScriptToolCall, ScriptUsage, StreamAnswer } from '../model-script.ts'

/** How the model server speaks one protocol: the same script, in the shapes that the provider documents. */
export interface ServerWire {
  readonly api: WireApi
  /** Of the base URL. */
  readonly root: string
  /** Below the root, without what follows a question mark. */
  isChat(path: string): boolean
  readonly modelsPath: string
  keyOf(headers: IncomingHttpHeaders): string | undefined
  /** The request in the words of chat completions, as scripts know them. */
  read(body: string, path: string, index: number): ChatRequest
  frames(request: ChatRequest, answer: StreamAnswer): Iterable<Frame>
  modelList(ids: readonly string[]): unknown
  readonly failures: WireFailures
  readonly requestIdHeader: string
}

/** A piece of the answer's body, or what happens instead of one. */
export type Frame = string | { readonly waitMs: number } | { readonly cut: true }

/** Failures as the provider words them. */
export interface WireFailures {
  readonly wrongKey: ErrorAnswer
  readonly noMoney: ErrorAnswer
  readonly contextLength: ErrorAnswer
  readonly overloaded: ErrorAnswer
  unknownModel(model: string): ErrorAnswer
  rateLimit(retryAfterSeconds: number): ErrorAnswer
  /** An event in the middle of a stream. */
  readonly midStream: string
}

/** A script's answer with nothing left out. */
export interface FullAnswer {
  readonly parts: readonly ScriptPart[]
  readonly hasCalls: boolean
  /** Null: the stream ends without one. */
  readonly finish: string | null
  readonly usage: ScriptUsage | null
  readonly length: number
}

export function fullAnswer(request: ChatRequest, answer: StreamAnswer): FullAnswer {
  const parts = answer.parts ?? []
  const hasCalls = parts.some((part) => 'toolCalls' in part)
  return {
    parts,
    hasCalls,
    finish: answer.finish === undefined ? (hasCalls ? 'tool_calls' : 'stop') : answer.finish,
    usage: answer.usage === undefined ? guessUsage(request, answer) : answer.usage,
    length: Math.max(1, answer.chunkLength ?? 11),
  }
}

export const frameOf = (event: unknown, name?: string): string => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`

/** What a part means in every protocol; null for those that say something. */
export function plainFrame(part: ScriptPart): Frame | null {
  if ('raw' in part) return part.raw
  if ('waitMs' in part || 'cut' in part) return part
  return null
}

export function pieces(text: string, length: number): readonly string[] {
  const result: string[] = []
  for (let at = 0; at < text.length; at += length) result.push(text.slice(at, at + length))
  return result
}

export function argumentsOf(call: ScriptToolCall, request: ChatRequest, textOf: (message: ChatRequest['messages'][number] | undefined) => string): string {
  if (typeof call.arguments === 'string') return call.arguments
  const last = textOf(request.messages.at(-1))
  return JSON.stringify(call.arguments, (_key, value: unknown) =>
    typeof value === 'string'
      ? value.replace(/\{\{match:(.*?)\}\}/g, (_whole, pattern: string) => new RegExp(pattern).exec(last)?.[1] ?? '')
      : value,
  )
}

function guessUsage(request: ChatRequest, answer: StreamAnswer): ScriptUsage {
  return {
    promptTokens: Math.ceil(request.length / 4),
    completionTokens: Math.max(1, Math.ceil(JSON.stringify(answer.parts ?? []).length / 4)),
  }
}

export const jsonOf = (body: string): Readonly<Record<string, unknown>> => JSON.parse(body) as Record<string, unknown>

/** The list under a name of a request, or an empty one. */
export const listIn = <Entry>(json: Readonly<Record<string, unknown>>, name: string): readonly Entry[] => (Array.isArray(json[name]) ? (json[name] as readonly Entry[]) : [])
