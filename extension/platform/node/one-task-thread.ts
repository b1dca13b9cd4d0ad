import { Worker } from 'node:worker_threads'
import { messageOf } from '../../base/message-of.ts'

const MEGABYTE = 1_048_576
/** Between two looks at the memory. */
const WATCH_MS = 50

export interface ThreadTask {
  /** The program: a bundle, or a source where those run as they are. It posts one message, its answer. */
  readonly entry: string | URL
  /** Crosses as plain data. */
  readonly task: unknown
  readonly timeoutMs: number
  readonly maxHeapMb: number
  /** By how much the whole process may grow meanwhile: what a thread unpacks is outside its heap, and no limit of a thread knows it. */
  readonly maxGrowthMb: number
  readonly signal: AbortSignal
  readonly failures: { readonly aborted: () => Error; readonly timeout: () => Error; readonly broken: (reason: string) => Error }
}

/** Does one task in a thread that lives for it, without the environment, and ends with its time or memory. Errors: one of `failures`. */
export async function inOwnThread<T>({ entry, task, timeoutMs, maxHeapMb, maxGrowthMb, signal, failures }: ThreadTask): Promise<T> {
  if (signal.aborted) throw failures.aborted()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const thread = new Worker(entry, { workerData: task, execArgv: [], env: {}, stdout: true, stderr: true, resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } })
  const stop = () => reject(failures.aborted())
  const timer = setTimeout(() => reject(failures.timeout()), timeoutMs)
  const maxBytes = process.memoryUsage.rss() + maxGrowthMb * MEGABYTE
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() > maxBytes) reject(failures.broken(`it takes more than ${maxGrowthMb} MB of memory`))
  }, WATCH_MS)
  signal.addEventListener('abort', stop, { once: true })
  // The program's own type of answer, as plain data.
  thread.once('message', (answer) => resolve(answer as T))
  thread.once('error', (error) => reject(failures.broken(messageOf(error))))
  thread.once('exit', () => reject(failures.broken('its reader ended without an answer')))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    clearInterval(watch)
    signal.removeEventListener('abort', stop)
    await thread.terminate()
  }
}
