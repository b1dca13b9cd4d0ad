import { Worker } from 'node:worker_threads'
import { documentAborted, documentDamaged, documentEncrypted, documentTimeout, type DocumentText, type PdfText } from '../../capabilities/document-text.ts'
import type { PdfAnswer, PdfTask } from './pdf-text.ts'

export interface DocumentTextOptions {
  /** The worker's program: `dist/pdf-text.js`, or `pdf-text-main.ts` where the sources run as they are. */
  readonly entry: string | URL
  /** Default: 30 s. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 30_000
/** Of the thread that holds a document. */
const MAX_HEAP_MB = 512

/** Reads documents in threads that live for one document, one at a time, and end with their time or memory. */
export function createDocumentText({ entry, timeoutMs = TIMEOUT_MS }: DocumentTextOptions): DocumentText {
  let last: Promise<unknown> = Promise.resolve()
  return {
    pdf(bytes, limits, signal) {
      const work = last.then(() => readInThread({ entry, timeoutMs, task: { bytes, ...limits }, signal }))
      last = work.catch(() => undefined)
      return work
    },
  }
}

async function readInThread({ entry, timeoutMs, task, signal }: Required<DocumentTextOptions> & { readonly task: PdfTask; readonly signal: AbortSignal }): Promise<PdfText> {
  if (signal.aborted) throw documentAborted()
  const { promise, resolve, reject } = Promise.withResolvers<PdfAnswer>()
  const thread = new Worker(entry, { workerData: task, execArgv: [], env: {}, stdout: true, stderr: true, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } })
  const stop = () => reject(documentAborted())
  const timer = setTimeout(() => reject(documentTimeout(timeoutMs)), timeoutMs)
  signal.addEventListener('abort', stop, { once: true })
  // The parts cross as plain data.
  thread.once('message', (answer) => resolve(answer as PdfAnswer))
  thread.once('error', (error) => reject(documentDamaged(error instanceof Error ? error.message : String(error))))
  thread.once('exit', () => reject(documentDamaged('its reader ended without an answer')))
  try {
    const answer = await promise
    if ('text' in answer) return answer.text
    throw answer.failure === 'encrypted' ? documentEncrypted() : documentDamaged(answer.reason)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    await thread.terminate()
  }
}
