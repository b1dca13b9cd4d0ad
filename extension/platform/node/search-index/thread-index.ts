import { Worker } from 'node:worker_threads'
import { messageOf } from '../../../base/message-of.ts'
import { indexFailed, SearchIndexError, type IndexChange, type IndexedSession, type IndexPage, type IndexQuery, type SearchIndex, type SearchIndexHost } from '../../../capabilities/search-index.ts'
import type { IndexReply, IndexRequest } from './index-thread.ts'

export interface ThreadIndexOptions {
  /** The thread's program: `dist/search-index.js`, or `index-main.ts` where the sources run as they are. */
  readonly entry: string | URL
  readonly folder: string
  readonly isKeptUp: boolean
}

/** Of the thread, without what SQLite itself takes. */
const MAX_HEAP_MB = 512

/** The index in SQLite, in a thread that begins with the first use. Where this Node has no SQLite, opening it fails with `INDEX_FAILED`. */
export const createThreadIndexHost = ({ entry, folder, isKeptUp }: ThreadIndexOptions): SearchIndexHost => ({
  isKeptUp,
  async open() {
    const index = new ThreadIndex(entry)
    try {
      await index.begin(folder)
      return index
    } catch (error) {
      await index.end()
      throw error
    }
  },
})

type Ask = IndexRequest extends infer Request ? (Request extends { readonly number: number } ? Omit<Request, 'number'> : never) : never

class ThreadIndex implements SearchIndex {
  readonly engine = 'sqlite'
  readonly #thread: Worker
  readonly #waiting = new Map<number, { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }>()
  #asked = 0
  #end: Error | null = null

  constructor(entry: string | URL) {
    this.#thread = new Worker(entry, { execArgv: [], env: {}, stdout: true, stderr: true, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } })
    // It waits for questions and must not keep the host from ending.
    this.#thread.unref()
    this.#thread.on('message', (reply: IndexReply) => this.#take(reply))
    this.#thread.once('error', (error) => this.#fail(indexFailed(`Its thread ended: ${messageOf(error)}.`, error)))
    this.#thread.once('exit', () => this.#fail(indexFailed('Its thread ended.')))
  }

  async begin(folder: string): Promise<void> {
    await this.#ask({ ask: 'open', folder })
  }

  async end(): Promise<void> {
    await this.#thread.terminate()
  }

  async claim(): Promise<'owner' | 'reader'> {
    return (await this.#ask({ ask: 'claim' })) as 'owner' | 'reader'
  }

  async sessions(): Promise<readonly IndexedSession[]> {
    return (await this.#ask({ ask: 'sessions' })) as readonly IndexedSession[]
  }

  async write(changes: readonly IndexChange[]): Promise<void> {
    await this.#ask({ ask: 'write', changes })
  }

  async search(query: IndexQuery): Promise<IndexPage> {
    return (await this.#ask({ ask: 'search', query })) as IndexPage
  }

  async close(): Promise<void> {
    if (this.#end === null) await this.#ask({ ask: 'close' })
    await this.end()
  }

  /** The answer is the thread's own, as plain data. */
  #ask(ask: Ask): Promise<unknown> {
    if (this.#end !== null) return Promise.reject(this.#end)
    const number = ++this.#asked
    this.#thread.ref()
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject })
      this.#thread.postMessage({ number, ...ask } satisfies IndexRequest, [])
    })
  }

  #take(reply: IndexReply): void {
    const waiting = this.#waiting.get(reply.number)
    this.#waiting.delete(reply.number)
    if (this.#waiting.size === 0) this.#thread.unref()
    if ('failure' in reply) waiting?.reject(new SearchIndexError(reply.failure.code, reply.failure.message))
    else waiting?.resolve(reply.value)
  }

  #fail(error: Error): void {
    this.#end ??= error
    for (const { reject } of this.#waiting.values()) reject(this.#end)
    this.#waiting.clear()
  }
}
