import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Execution } from '../../core/tools/definition.ts'

export type SaveNeeds = { readonly blobs: Pick<BlobStore, 'putSpill'>; readonly logger: Logger }

/** Where the whole of a result is that does not fit a page; `saveFailed` when it could not be kept. Neither: it fits, or a program gets it all. */
export type Saved = { readonly savedTo?: string; readonly saveFailed?: true }

/** Keep the whole text of an oversize result for a model to read on. Programs get the value itself, and no file. */
export async function saveResults(needs: SaveNeeds, exec: Execution, name: string, text: () => string): Promise<Saved> {
  if (exec.parent !== undefined || exec.agent === undefined) return {}
  try {
    return { savedTo: (await needs.blobs.putSpill(exec.agent.id, name, text())).path }
  } catch (error) {
    needs.logger.warn('A long search result could not be saved.', { tool: exec.name, error: String(error) })
    return { saveFailed: true }
  }
}

/** Says what a page leaves out and where it is. */
export const pageFooter = (shown: number, total: number, what: string, { savedTo, saveFailed }: Saved) =>
  `(${shown} of ${total} ${what}${savedTo !== undefined ? `; all of them: ${savedTo}` : saveFailed ? '; the whole list could not be saved, so narrow the search' : ''})`

/** Added when nothing was found in what git does not ignore. */
export const ignoredHint = (includesIgnored: boolean | undefined) =>
  includesIgnored === true ? '' : ' Ignored files were not searched; set include_ignored to search them too.'
