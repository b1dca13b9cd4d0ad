import { pause } from '../../base/pause.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { ModelError, type ModelAdapter, type ModelInfo, type ModelRequest, type StreamChunk } from '../../core/model/contract.ts'
import { nextBeat, type Beat } from './script.ts'
import { tourFacts } from './tour-facts.ts'

export interface TourParts {
  readonly clock: Clock
  /** Milliseconds between two words, so that the tour can be read while it runs. */
  readonly wordDelayMs?: number
}

const tourModel: ModelInfo = {
  id: 'guided-tour',
  name: 'Guided tour (a script)',
  contextWindow: 1_000_000,
  maxOutputTokens: 8_192,
  input: ['text'],
  reasoningEfforts: [],
}

/**
 * The tour that is there without any key: it plays every part of Bosun on whatever workspace is open.
 *
 * It holds no state: what comes next follows from the messages of the request, so a tour goes on after a reload.
 */
export function createScriptedTour({ clock, wordDelayMs = 12 }: TourParts): ModelAdapter {
  return {
    provider: { id: 'scripted-tour', name: 'Guided tour', isScripted: true, isLocal: true },
    listModels: () => Promise.resolve([tourModel]),
    resolveModel(model) {
      if (model === tourModel.id) return Promise.resolve(tourModel)
      const message = `The guided tour is a script with one model, "${tourModel.id}". Choose it, or another provider for ${model}.`
      return Promise.reject(new ModelError({ code: 'UNKNOWN_MODEL', message }))
    },
    stream: (request) => play(beatFor(request), request.signal, { clock, wordDelayMs }),
    check: () => Promise.resolve({ isOk: true, message: 'The guided tour is a script on this machine; it needs no connection.' }),
  }
}

function beatFor(request: ModelRequest): Beat {
  if (request.purpose === 'title') return { text: 'Guided tour', calls: [] }
  if (request.purpose === 'compaction') return { text: 'A guided tour by a written script; nothing in it needs to be remembered.', calls: [] }
  return nextBeat(tourFacts(request))
}

async function* play({ thought, text, calls }: Beat, signal: AbortSignal, { clock, wordDelayMs }: Required<TourParts>): AsyncGenerator<StreamChunk> {
  let index = 0
  for (const [block, words] of [
    ['reasoning', thought],
    ['text', text],
  ] as const) {
    if (words === undefined) continue
    yield { type: 'block-start', index, block }
    for (const delta of words.match(/\S+\s*|\s+/g) ?? []) {
      if (wordDelayMs > 0) await tourPause(clock, wordDelayMs, signal)
      yield { type: `${block}-delta`, index, delta }
    }
    yield { type: 'block-end', index }
    index += 1
  }
  for (const { id, name, args } of calls) {
    yield { type: 'block-start', index, block: 'tool-call' }
    yield { type: 'tool-call-delta', index, id, name, argumentsDelta: JSON.stringify(args) }
    yield { type: 'block-end', index }
    index += 1
  }
  yield { type: 'usage', usage: { inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 } }
  yield { type: 'finish', reason: { kind: calls.length > 0 ? 'tool-calls' : 'stop' } }
}

const tourPause = (clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> =>
  pause(clock, delayMs, signal).catch(() => {
    throw new ModelError({ code: 'ABORTED', message: 'The tour was stopped.' })
  })
