import type { FileTarget, FileVersion } from '../../capabilities/file-system.ts'
import type { Notebooks } from '../../capabilities/notebooks.ts'
import { cellsOfJson } from './notebook-json.ts'
import { notebookText } from './notebook-text.ts'

/** Whether a path is called as notebooks are. */
export const isNotebookPath = (path: string): boolean => /\.ipynb$/i.test(path)

/** The text of a file as `read` shows it: of a notebook its cells, whether `text` is its JSON or those cells already. */
export function shownText(path: string, text: string): string {
  const cells = isNotebookPath(path) ? cellsOfJson(text) : null
  return cells === null ? text : notebookText(cells).text
}

/** A notebook that is open in the editor, as `read` shows it; null for every other file. */
export async function openNotebookText(notebooks: Notebooks | undefined, target: FileTarget): Promise<{ readonly text: string; readonly version: FileVersion; readonly isDirty: boolean } | null> {
  const open = isNotebookPath(target.path) ? await notebooks?.find(target) : null
  return open ? { text: notebookText(open.cells).text, version: open.version, isDirty: open.isDirty } : null
}
