import type { Failure, StreamChunk } from '../model/contract.ts'
import type { AnswerAssembly } from './answer.ts'
import type { ChunkLog } from './chunk-log.ts'

export type StreamOutcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'cancelled' }

/**
 * Read one streamed answer to its end, into the log and the assembly.
 *
 * A cancel ends it at once, also when the adapter does not listen; the stream is closed behind it.
 * Errors: what a middleware of the stream throws (adapters end with a `finish` part instead), and what the log throws.
 */
export async function readAnswer(parts: {
  readonly stream: AsyncIterable<StreamChunk>
  readonly signal: AbortSignal
  readonly assembly: AnswerAssembly
  readonly chunks: ChunkLog
}): Promise<StreamOutcome> {
  const { stream, signal, assembly, chunks } = parts
  const iterator = stream[Symbol.asyncIterator]()
  const next = createInterruptible(iterator, signal)
  try {
    while (!assembly.finish) {
      const step = await next()
      if (signal.aborted || step === 'interrupted') return { kind: 'cancelled' }
      if (step.done) return { kind: 'failed', failure: closedEarly }
      chunks.add(step.value)
      assembly.add(step.value)
    }
    return outcomeOf(assembly)
  } catch (error) {
    if (signal.aborted) return { kind: 'cancelled' }
    throw error
  } finally {
    // Whatever the stream still has to clean up is its own affair; nobody waits for it and its failure changes nothing.
    iterator.return?.().catch(() => {})
  }
}

/** `next()` of the iterator, or `interrupted` as soon as the signal fires. */
function createInterruptible(iterator: AsyncIterator<StreamChunk>, signal: AbortSignal) {
  let interrupt = () => {}
  signal.addEventListener('abort', () => interrupt(), { once: true })
  return () =>
    new Promise<IteratorResult<StreamChunk> | 'interrupted'>((resolve, reject) => {
      if (signal.aborted) {
        resolve('interrupted')
        return
      }
      interrupt = () => resolve('interrupted')
      iterator.next().then(resolve, reject)
    })
}

function outcomeOf(assembly: AnswerAssembly): StreamOutcome {
  const finish = assembly.finish
  if (finish?.kind === 'error' || finish?.kind === 'aborted') return { kind: 'failed', failure: finish.failure }
  if (finish?.kind !== 'max-tokens' && assembly.whole().content.length === 0) return { kind: 'failed', failure: emptyAnswer }
  return { kind: 'answered' }
}

const closedEarly: Failure = {
  code: 'STREAM_CLOSED',
  message: 'The model’s answer broke off before its end. Nothing of it was used; try again.',
}
const emptyAnswer: Failure = { code: 'EMPTY_RESPONSE', message: 'The model answered with nothing. Try again.' }
