import { Worker } from 'node:worker_threads'
import { webAborted, type HtmlPage, type ReadableText } from '../../capabilities/web-pages.ts'

export interface PageTextWorkerOptions {
  /** The worker's program: `dist/page-text.js`, or `page-text-main.ts` where the sources run as they are. */
  readonly entry: string | URL
  /** A page that takes longer stays as it is. Default: 10 s. */
  readonly timeoutMs?: number
  /** What a large page may take once its plain text is there. Default: 3 s. */
  readonly largePageMs?: number
}

export interface PageTextWorker {
  /** Errors: `WebError` `WEB_ABORTED`. */
  toText(page: HtmlPage, signal: AbortSignal): Promise<ReadableText>
}

const TIMEOUT_MS = 10_000
const LARGE_PAGE_MS = 3_000
/** Of the thread that holds a page; a page needs about 60 times its size. */
const MAX_HEAP_MB = 512

/**
 * Reads pages in threads that live for one page, one at a time: the host's thread never waits for a parser, and a page that
 * takes too long, or too much memory, ends with its thread. Such a page comes back as its plain text, or as its HTML.
 */
export function createPageTextWorker({ entry, timeoutMs = TIMEOUT_MS, largePageMs = LARGE_PAGE_MS }: PageTextWorkerOptions): PageTextWorker {
  let last: Promise<unknown> = Promise.resolve()
  return {
    toText(page, signal) {
      const work = last.then(() => readInThread({ entry, timeoutMs, largePageMs, page, signal }))
      last = work.catch(() => undefined)
      return work
    },
  }
}

async function readInThread({ entry, timeoutMs, largePageMs, page, signal }: Required<PageTextWorkerOptions> & { readonly page: HtmlPage; readonly signal: AbortSignal }): Promise<ReadableText> {
  if (signal.aborted) throw webAborted()
  const { promise, resolve, reject } = Promise.withResolvers<ReadableText>()
  let instead: ReadableText = { text: page.html, form: 'raw', anchorLine: null }
  const giveInstead = () => resolve(instead)
  const thread = new Worker(entry, { workerData: page, execArgv: [], env: {}, stdout: true, stderr: true, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } })
  const stop = () => reject(webAborted())
  let timer = setTimeout(giveInstead, timeoutMs)
  signal.addEventListener('abort', stop, { once: true })
  // The parts cross as plain data.
  thread.on('message', (text: ReadableText) => {
    if (text.form !== 'plain') return resolve(instead.form === 'plain' && text.form === 'raw' ? instead : text)
    instead = text
    clearTimeout(timer)
    timer = setTimeout(giveInstead, Math.min(largePageMs, timeoutMs))
  })
  thread.once('error', giveInstead)
  thread.once('exit', giveInstead)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    await thread.terminate()
  }
}
