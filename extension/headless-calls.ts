import { ModelError } from './core/model/contract.ts'
import type { ModelAdapter, ModelInfo, StreamChunk } from './core/model/contract.ts'

export const CALLS_PROVIDER = 'headless-calls'

export interface PlannedCall {
  readonly name: string
  /** As a model would write them: JSON text, or text that is not. */
  readonly arguments: string
}

const info: ModelInfo = {
  id: 'list',
  name: 'A list of calls',
  contextWindow: 1_000_000,
  maxOutputTokens: 1_000_000,
  input: ['text', 'image'],
  reasoningEfforts: [],
}

/** A "model" that makes the calls of a list, one a step, so that they pass the real loop and the whole pipeline. */
export function createCallsAdapter(calls: readonly PlannedCall[]): ModelAdapter {
  return {
    provider: { id: CALLS_PROVIDER, name: info.name, isScripted: true },
    listModels: () => Promise.resolve([info]),
    resolveModel: (model) =>
      model === info.id
        ? Promise.resolve(info)
        : Promise.reject(new ModelError({ code: 'UNKNOWN_MODEL', message: `The list of calls is the only model here: "${info.id}".` })),
    async *stream({ messages }): AsyncIterable<StreamChunk> {
      const index = messages.filter((message) => message.role === 'assistant').length
      const call = calls[index]
      if (call) {
        yield { type: 'block-start', index: 0, block: 'tool-call' }
        yield { type: 'tool-call-delta', index: 0, id: callIdOf(index), name: call.name, argumentsDelta: call.arguments }
      } else {
        yield { type: 'block-start', index: 0, block: 'text' }
        yield { type: 'text-delta', index: 0, delta: 'Done.' }
      }
      yield { type: 'block-end', index: 0 }
      yield { type: 'finish', reason: { kind: call ? 'tool-calls' : 'stop' } }
    },
    check: () => Promise.resolve({ isOk: true, message: 'A list of calls needs no connection.' }),
  }
}

export const callIdOf = (index: number): string => `call-${index + 1}`
