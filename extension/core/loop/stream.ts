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
  readonly chunks: Pick<ChunkLog, 'add'>
}): Promise<StreamOutcome> {
  const { stream, signal, assembly, chunks } = parts
  const iterator = stream[Symbol.asyncIterator]()
  const race = createRace(signal)
  try {
    while (!assembly.finish) {
      const step = await race.run(iterator.next())
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
    race.end()
    // Whatever the stream still has to clean up is its own affair; nobody waits for it and its failure changes nothing.
    iterator.return?.().catch(() => {})
  }
}

/** Waits for one piece of work at a time, or for the signal. One listener for the whole stream, gone with it: a turn has many streams. */
function createRace(signal: AbortSignal) {
  let interrupt = () => {}
  const onAbort = () => interrupt()
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    run: <T>(work: Promise<T>) =>
      new Promise<T | 'interrupted'>((resolve, reject) => {
        interrupt = () => resolve('interrupted')
        if (signal.aborted) interrupt()
        work.then(resolve, reject)
      }),
    end: () => signal.removeEventListener('abort', onAbort),
  }
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
