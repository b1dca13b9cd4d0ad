import type { Logger } from '../../../capabilities/logger.ts'
import { SearchIndexError, type SearchIndexHost } from '../../../capabilities/search-index.ts'
import { MemoryIndex } from './memory-index.ts'
import { createThreadIndexHost, type ThreadIndexOptions } from './thread-index.ts'

/**
 * The index of this machine: SQLite where this Node has it and the file can be ours, else one in memory that is made anew by each window,
 * with the logs themselves for what does not fit there.
 */
export function createSearchIndexHost({ logger, ...options }: ThreadIndexOptions & { readonly logger: Logger }): SearchIndexHost {
  const thread = createThreadIndexHost(options)
  return {
    isKeptUp: options.isKeptUp,
    async open() {
      try {
        return await thread.open()
      } catch (error) {
        if (!(error instanceof SearchIndexError)) throw error
        logger.warn('The index of sessions is kept in memory.', { code: error.code, reason: error.message })
        return new MemoryIndex()
      }
    },
  }
}
