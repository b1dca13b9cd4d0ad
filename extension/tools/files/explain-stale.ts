import { toLf } from '../../base/encoding.ts'
import { structuredPatch } from 'diff'
import { FileError, type FileTarget, type FileVersion, type TextFile } from '../../capabilities/file-system.ts'
import type { Execution } from '../../core/tools/definition.ts'
import { MAX_CHANGED_BYTES, type FileToolNeeds } from './file-change.ts'
import { isNotebookPath, openNotebookText, shownText } from './shown-text.ts'

/** UTF-16 units of a change that is told with a failure. */
export const MAX_TOLD_CHARS = 6_000
/** Beyond this many different lines nobody would want to read them in a failure. */
const MAX_DIFFERENT_LINES = 300
const CONTEXT_LINES = 1

/**
 * A stale-version failure with what changed since the session read the file, so that the model need not read it again.
 *
 * Told whole, the change counts as seen from the model's next step on; cut, or with nothing to compare to, the file has to be read.
 * Errors: none of its own; what keeps the file from being read now leaves the failure as it is.
 * Source: capability specification 20.11.
 */
export async function explainStale(needs: Pick<FileToolNeeds, 'files' | 'observations' | 'notebooks'>, { failure, target, version, exec }: {
  readonly failure: FileError
  readonly target: FileTarget
  /** As the session has seen it. */
  readonly version: FileVersion
  readonly exec: Execution
}): Promise<FileError> {
  const seen = await needs.observations.textOf(exec.agent, version)
  const now = seen === undefined ? null : await textNow(needs, target, exec)
  if (seen === undefined || now === null || now.version === version) return failure
  const shown = (text: string) => toLf(shownText(target.path, text))
  const change = changeLines(shown(seen), shown(now.text))
  const what = `${target.spelling} ${now.isDirty ? `has unsaved changes in the ${now.isOpenNotebook ? 'notebook editor' : 'editor'}, made` : 'changed'} since it was last read.`
  if (change === null || change.length > MAX_TOLD_CHARS) {
    const start = change === null ? 'Most of it is different.' : `The change begins so:\n${change.slice(0, MAX_TOLD_CHARS).toWellFormed()}\n…`
    return stale(`${what} Nothing was done. ${start}\nRead it again, then repeat the change.`, failure)
  }
  needs.observations.disclose(exec.agent, target, now)
  if (change === '') return stale(`${what} ${isNotebookPath(target.path) ? 'Nothing that read shows of it is' : 'Only its encoding or line ends are'} different. Nothing was done; repeat the call if it is still right.`, failure)
  return stale(`${what} Nothing was done. What changed, old lines with -, new ones with +:\n${change}\nIt need not be read again: repeat the change in a next step, on the text as it is now.`, failure)
}

const stale = (message: string, cause: FileError) => new FileError('FS_STALE_VERSION', message, { cause })

type TextNow = Pick<TextFile, 'text' | 'version' | 'isDirty'> & { readonly isOpenNotebook?: true }

async function textNow({ files, notebooks }: Pick<FileToolNeeds, 'files' | 'notebooks'>, target: FileTarget, { signal }: Execution): Promise<TextNow | null> {
  try {
    const open = await openNotebookText(notebooks, target)
    return open ? { ...open, isOpenNotebook: true } : await files.readText(target, { maxBytes: MAX_CHANGED_BYTES, signal })
  } catch (error) {
    // It went, or became something else; the failure that is there says what to do.
    if (error instanceof FileError) return null
    throw error
  }
}

/** Regions as `diff -u` shows them, without its head; null where nearly everything differs. */
function changeLines(before: string, after: string): string | null {
  const patch = structuredPatch('', '', before, after, '', '', { context: CONTEXT_LINES, maxEditLength: MAX_DIFFERENT_LINES })
  if (patch === undefined) return null
  return patch.hunks.map(({ newStart, lines }) => [`@@ line ${newStart} @@`, ...lines].join('\n')).join('\n')
}
