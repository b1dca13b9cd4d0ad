// The index of sessions, in a thread of its own: SQLite answers at once or blocks, and the host's thread never waits for it.
import { parentPort } from 'node:worker_threads'
import { indexFailed, SearchIndexError } from '../../../capabilities/search-index.ts'
import type { IndexReply, IndexRequest } from './index-thread.ts'
import { SqliteIndex } from './sqlite-index.ts'

let index: SqliteIndex | null = null
let last: Promise<void> = Promise.resolve()

parentPort?.on('message', (request: IndexRequest) => {
  last = last.then(() => answer(request))
})

async function answer(request: IndexRequest): Promise<void> {
  parentPort?.postMessage(await replyTo(request), [])
}

async function replyTo(request: IndexRequest): Promise<IndexReply> {
  const { number } = request
  try {
    return { number, value: await valueOf(request) }
  } catch (error) {
    const { code, message } = error instanceof SearchIndexError ? error : indexFailed(String(error))
    return { number, failure: { code, message } }
  }
}

async function valueOf(request: IndexRequest): Promise<unknown> {
  if (request.ask === 'open') {
    index = await SqliteIndex.open({ folder: request.folder })
    return null
  }
  if (index === null) throw indexFailed('It is not open.')
  switch (request.ask) {
    case 'claim':
      return await index.claim()
    case 'sessions':
      return await index.sessions()
    case 'write':
      return await index.write(request.changes)
    case 'search':
      return await index.search(request.query)
    case 'close':
      await index.close()
      index = null
      return null
  }
}
