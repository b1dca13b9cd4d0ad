import { applyEdits, toLf } from '../../base/encoding.ts'
import { staleVersion, type ChangeOutcome, type FileTarget, type FileVersion, type TextFile } from '../../capabilities/file-system.ts'
import type { OpenNotebook } from '../../capabilities/notebooks.ts'
import type { BodyExecution } from '../../core/tools/definition.ts'
import { keepBeforeImage, type FileToolNeeds } from './file-change.ts'
import { cellsOfJson, sourceReplacement } from './notebook-json.ts'
import { cellEdits, notebookText } from './notebook-text.ts'
import { explainStale } from './explain-stale.ts'
import { planEdit, type EditPlan, type EditRequest } from './plan-edit.ts'

/** A change of sources of cells, as a change of the text that `read` shows of the notebook. */
export interface NotebookChange {
  readonly plan: EditPlan
  readonly beforeImage: string | null
  readonly outcome: ChangeOutcome
}

type Request = Omit<EditRequest, 'text' | 'within'>

/** In the editor, cells and what is not saved of them included. Errors: as `planEdit`, `FileError` `FS_STALE_VERSION`. */
export async function editOpenNotebook(needs: FileToolNeeds, { notebook, target, version, request, label, exec }: {
  readonly notebook: OpenNotebook
  readonly target: FileTarget
  readonly version: FileVersion
  readonly request: Request
  readonly label: string
  readonly exec: BodyExecution
}): Promise<NotebookChange> {
  if (notebook.version !== version) throw await explainStale(needs, { failure: staleVersion(request.path, notebook.isDirty ? 'has unsaved changes in the notebook editor, made' : 'changed'), target, version, exec })
  const shown = notebookText(notebook.cells)
  const plan = planEdit({ ...request, text: shown.text, within: shown.sources })
  const beforeImage = await keepBeforeImage(needs, target, exec)
  const { cells, isUnsaved, version: next } = await notebook.editCells({ cells: cellEdits(shown, plan.replacements), label, signal: exec.signal })
  return { plan, beforeImage, outcome: outcomeOf({ before: shown.text, after: notebookText(cells).text, version: next, isUnsaved }) }
}

/**
 * On the notebook's JSON, of which nothing else changes.
 *
 * Shape:  null when the file is no notebook that is known, or when no cell but only its JSON holds the text; it is edited as text then.
 * Errors: as `planEdit` and `FileSystem.editText`.
 */
export async function editStoredNotebook(needs: FileToolNeeds, { file, target, request, label, exec }: {
  readonly file: TextFile
  readonly target: FileTarget
  readonly request: Request
  readonly label: string
  readonly exec: BodyExecution
}): Promise<NotebookChange | null> {
  const cells = cellsOfJson(file.text)
  if (cells === null) return null
  const shown = notebookText(cells)
  const isInJsonAlone = !cells.some(({ source }) => toLf(source).includes(toLf(request.oldString))) && toLf(file.text).includes(toLf(request.oldString))
  if (isInJsonAlone) return null
  const plan = planEdit({ ...request, text: shown.text, within: shown.sources })
  const replacements = cellEdits(shown, plan.replacements).map(({ index, source, replacements: own }) => {
    const next = applyEdits(source, own)
    return sourceReplacement(file.text, index, cells[index]?.source.includes('\r\n') ? next.replaceAll('\n', '\r\n') : next)
  })
  const beforeImage = await keepBeforeImage(needs, target, exec)
  const outcome = await needs.files.editText({ target, replacements, expect: { kind: 'version', version: file.version }, label, signal: exec.signal })
  const after = cellsOfJson(outcome.after)
  return { plan, beforeImage, outcome: { ...outcome, before: shown.text, after: after === null ? outcome.after : notebookText(after).text } }
}

function outcomeOf({ before, after, version, isUnsaved }: { readonly before: string; readonly after: string; readonly version: FileVersion; readonly isUnsaved: boolean }): ChangeOutcome {
  return { version, before, after, form: { encoding: 'utf8', hasBom: false, eol: 'lf' }, wasReformatted: false, isUnsaved }
}
