import type {
  ConnectionReport,
  Failure,
  ModelAdapter,
  ModelInfo,
  ModelRequest,
  RetryPolicy,
  StreamChunk,
  Usage,
} from '../../extension/core/model/contract.ts'

/** One entry of a scripted answer: a part as it is, a wait, or a throw of the adapter. */
export type ScriptedPart =
  | StreamChunk
  /** The stream stands still until the promise settles; it ignores the signal then, as careless adapters do. */
  | { readonly type: 'wait'; readonly until: Promise<unknown> }
  /** The stream stands still until the request is cancelled and then throws, as a good adapter does. */
  | { readonly type: 'hang' }
  /** Called when the stream gets here. */
  | { readonly type: 'do'; readonly act: () => void }
  | { readonly type: 'throw'; readonly error: unknown }
export type ScriptedAnswer = readonly ScriptedPart[] | ((request: ModelRequest) => readonly ScriptedPart[])

export interface ScriptedAdapter extends ModelAdapter {
  /** What was asked, in order; requests are frozen, so these are the very objects. */
  readonly requests: readonly ModelRequest[]
  /** More answers at the end of the script. */
  play(...answers: readonly ScriptedAnswer[]): void
}

export interface ScriptedAdapterOptions {
  readonly provider?: string
  readonly retryPolicy?: RetryPolicy
  readonly model?: Partial<ModelInfo>
}

/**
 * A model that says what it is told to, in this process: one answer a request.
 *
 * Errors: a request after the last answer throws `Error`, which the loop reports as a failed request.
 */
export function createScriptedAdapter(answers: readonly ScriptedAnswer[] = [], options: ScriptedAdapterOptions = {}): ScriptedAdapter {
  const script = [...answers]
  const requests: ModelRequest[] = []
  const info = (id: string): ModelInfo => ({
    id,
    name: id,
    contextWindow: 100_000,
    maxOutputTokens: 8_000,
    input: ['text'],
    reasoningEfforts: [],
    ...options.model,
  })
  return {
    provider: { id: options.provider ?? 'scripted', name: 'Scripted', isScripted: true },
    ...(options.retryPolicy && { retryPolicy: options.retryPolicy }),
    requests,
    play: (...more) => void script.push(...more),
    listModels: async () => [info('m1')],
    resolveModel: async (model) => info(model),
    check: async (): Promise<ConnectionReport> => ({ isOk: true, message: 'A script always answers.' }),
    stream(request) {
      requests.push(request)
      const answer = script.shift()
      if (!answer) throw new Error(`The script has no answer for request ${requests.length}.`)
      return play(typeof answer === 'function' ? answer(request) : answer, request.signal)
    },
  }
}

async function* play(parts: readonly ScriptedPart[], signal: AbortSignal): AsyncGenerator<StreamChunk> {
  for (const part of parts) {
    switch (part.type) {
      case 'wait':
        await part.until
        break
      case 'hang':
        await new Promise((_resolve, reject) => {
          const stop = () => reject(new DOMException('The request was cancelled.', 'AbortError'))
          if (signal.aborted) stop()
          else signal.addEventListener('abort', stop, { once: true })
        })
        break
      case 'do':
        part.act()
        break
      case 'throw':
        throw part.error
      default:
        yield part
    }
  }
}

export const someUsage: Usage = { inputTokens: 10, outputTokens: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

/** A whole text block in one delta. */
export const textParts = (text: string, index = 0): readonly StreamChunk[] => [
  { type: 'block-start', index, block: 'text' },
  { type: 'text-delta', index, delta: text },
  { type: 'block-end', index },
]
export const reasoningParts = (text: string, index = 0): readonly StreamChunk[] => [
  { type: 'block-start', index, block: 'reasoning' },
  { type: 'reasoning-delta', index, delta: text },
  { type: 'block-end', index },
]
export interface ScriptedCall {
  /** Null: the model gives none. */
  readonly id: string | null
  readonly name: string
  /** Text is sent as it is. */
  readonly args: unknown
}
export const callParts = ({ id, name, args }: ScriptedCall, index = 0): readonly StreamChunk[] => [
  { type: 'block-start', index, block: 'tool-call' },
  {
    type: 'tool-call-delta',
    index,
    ...(id !== null && { id }),
    name,
    argumentsDelta: typeof args === 'string' ? args : JSON.stringify(args),
  },
  { type: 'block-end', index },
]

/** An answer that says `text` and stops. */
export const sayText = (text: string): readonly StreamChunk[] => [
  ...textParts(text),
  { type: 'usage', usage: someUsage },
  { type: 'finish', reason: { kind: 'stop' } },
]
/** An answer that calls tools. */
export const callTools = (...calls: readonly ScriptedCall[]): readonly StreamChunk[] => [
  ...calls.flatMap(callParts),
  { type: 'usage', usage: someUsage },
  { type: 'finish', reason: { kind: 'tool-calls' } },
]
/** An answer that fails before it says anything. */
export const failWith = (failure: Failure): readonly StreamChunk[] => [{ type: 'finish', reason: { kind: 'error', failure } }]
