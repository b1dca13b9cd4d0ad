import { ModelError, type ModelAdapter, type ModelInfo, type ModelRequest, type StreamChunk } from '../../core/model/contract.ts'

export const EDITOR_CHAT_ROUTE = 'editor-chat'
export const EDITOR_CHAT_MODEL = 'calls'

/** A call that waits to be made. */
export interface PlannedCall {
  readonly callId: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
}

const info: ModelInfo = {
  id: EDITOR_CHAT_MODEL,
  name: 'The editor’s chat',
  // Nobody reads the talk here, so it never grows too long.
  contextWindow: 1_000_000_000,
  maxOutputTokens: 1_000_000,
  input: ['text', 'image'],
  reasoningEfforts: [],
}

/** In the place of a model: the calls that the editor's chat makes, all that wait in one answer. It is nothing to choose, so no list has it. */
export function createCallsModel(take: (sessionId: string) => readonly PlannedCall[]): ModelAdapter {
  return {
    provider: { id: EDITOR_CHAT_ROUTE, name: info.name },
    listModels: () => Promise.resolve([]),
    resolveModel: () => Promise.resolve(info),
    async *stream(request): AsyncIterable<StreamChunk> {
      const calls = request.purpose === undefined || request.purpose === 'turn' ? take(request.sessionId ?? '') : []
      if (calls.length === 0 && !endsWithResult(request)) throw new ModelError({ code: 'UNKNOWN_MODEL', message: 'This session keeps what the editor’s chat did with Bosun’s tools, and no model answers in it. Choose a model, then send again.' })
      for (const [index, call] of calls.entries()) {
        yield { type: 'block-start', index, block: 'tool-call' }
        yield { type: 'tool-call-delta', index, id: call.callId, name: call.name, argumentsDelta: call.arguments }
        yield { type: 'block-end', index }
      }
      if (calls.length === 0) {
        yield { type: 'block-start', index: 0, block: 'text' }
        yield { type: 'text-delta', index: 0, delta: 'The editor’s chat has the result.' }
        yield { type: 'block-end', index: 0 }
      }
      yield { type: 'finish', reason: { kind: calls.length > 0 ? 'tool-calls' : 'stop' } }
    },
    check: () => Promise.resolve({ isOk: true, message: 'The editor’s chat needs no connection.' }),
  }
}

const endsWithResult = ({ messages }: ModelRequest): boolean => messages.at(-1)?.role === 'tool'
