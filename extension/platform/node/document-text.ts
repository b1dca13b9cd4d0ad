import { documentAborted, documentDamaged, documentEncrypted, documentTimeout, type DocumentText } from '../../capabilities/document-text.ts'
import { inOwnThread } from './one-task-thread.ts'
import type { PdfAnswer } from './pdf-text.ts'

export interface DocumentTextOptions {
  /** The worker's program: `dist/pdf-text.js`, or `pdf-text-main.ts` where the sources run as they are. */
  readonly entry: string | URL
  /** Default: 30 s. */
  readonly timeoutMs?: number
  /** Memory that one document may take. Default: 1024 MB. */
  readonly maxGrowthMb?: number
}

const TIMEOUT_MS = 30_000
/** Of the thread that holds a document. */
const MAX_HEAP_MB = 512
/** A few thousand bytes can unpack to many GB. */
const MAX_GROWTH_MB = 1_024

/** Reads documents in threads that live for one document, one at a time, and end with their time or memory. */
export function createDocumentText({ entry, timeoutMs = TIMEOUT_MS, maxGrowthMb = MAX_GROWTH_MB }: DocumentTextOptions): DocumentText {
  const failures = { aborted: documentAborted, timeout: () => documentTimeout(timeoutMs), broken: documentDamaged }
  let last: Promise<unknown> = Promise.resolve()
  return {
    async pdf(bytes, limits, signal) {
      const work = last.then(() => inOwnThread<PdfAnswer>({ entry, task: { bytes, ...limits }, timeoutMs, maxHeapMb: MAX_HEAP_MB, maxGrowthMb, signal, failures }))
      last = work.catch(() => undefined)
      const answer = await work
      if ('text' in answer) return answer.text
      throw answer.failure === 'encrypted' ? documentEncrypted() : documentDamaged(answer.reason)
    },
  }
}
