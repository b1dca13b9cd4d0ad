import type { FinishReason, StreamChunk } from './contract.ts'
import { answerTooLong, cancelled, emptyResponse, finishFrom, streamClosed } from './stream-failure.ts'

/** Characters of text, thought and arguments together. No model that works says as much in one answer. */
const MAX_ANSWER_LENGTH = 16_000_000

/**
 * One answer that always ends with exactly one `finish`, whatever the adapter does.
 *
 * A throw, before the first part or after it, an end without finish and an answer without content become the failure
 * they are; parts after the finish are dropped. When `signal` fires the answer ends at once, also when the adapter does not.
 */
export async function* normaliseStream(open: () => AsyncIterable<StreamChunk>, signal: AbortSignal): AsyncGenerator<StreamChunk> {
  if (signal.aborted) return yield finish({ kind: 'aborted', failure: cancelled })
  const race = createRace(signal)
  let iterator: AsyncIterator<StreamChunk> | undefined
  let hasContent = false
  let length = 0
  let isOpen = true
  try {
    iterator = open()[Symbol.asyncIterator]()
    while (true) {
      const { done, value } = await race.run(iterator.next())
      if (done === true) {
        isOpen = false
        return yield finish({ kind: 'error', failure: streamClosed })
      }
      hasContent ||= isContent(value)
      length += lengthOf(value)
      if (length > MAX_ANSWER_LENGTH) return yield finish({ kind: 'error', failure: answerTooLong })
      if (value.type !== 'finish') {
        yield value
        continue
      }
      const isEmpty = !hasContent && (value.reason.kind === 'stop' || value.reason.kind === 'tool-calls')
      return yield isEmpty ? finish({ kind: 'error', failure: emptyResponse }) : value
    }
  } catch (error) {
    yield finish(finishFrom(error, signal))
  } finally {
    race.end()
    // Not awaited: an adapter that hangs must not hold up the one who cancelled it.
    if (isOpen) void Promise.resolve(iterator?.return?.()).catch(() => undefined)
  }
}

/** Reasoning alone is no answer. */
function isContent(chunk: StreamChunk): boolean {
  if (chunk.type === 'text-delta') return chunk.delta.trim() !== ''
  return chunk.type === 'tool-call-delta'
}

function lengthOf(chunk: StreamChunk): number {
  if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') return chunk.delta.length
  return chunk.type === 'tool-call-delta' ? chunk.argumentsDelta.length : 0
}

const finish = (reason: FinishReason): StreamChunk => ({ type: 'finish', reason })

/** Waits for one promise at a time, or for the signal. One listener for the whole stream, so nothing piles up on a long one. */
function createRace(signal: AbortSignal) {
  let giveUp: ((error: unknown) => void) | undefined
  const onAbort = () => giveUp?.(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    run: <T>(work: Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        giveUp = reject
        if (signal.aborted) reject(signal.reason as Error)
        work.then(resolve, reject)
      }),
    end: () => signal.removeEventListener('abort', onAbort),
  }
}
