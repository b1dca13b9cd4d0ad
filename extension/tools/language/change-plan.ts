import { applyEdits, countLineEnds, eolFrom, toLf } from '../../base/encoding.ts'
import { TextLines } from '../../base/text-places.ts'
import type { FileSystem, FileTarget, FileVersion, TextReplacement } from '../../capabilities/file-system.ts'
import { LanguageError, type LanguageEdit } from '../../capabilities/languages.ts'
import type { PlannedChange } from '../../core/tools/definition.ts'
import { MAX_CHANGED_BYTES } from '../files/file-change.ts'
import { changesBetween } from '../../core/tools/hunks.ts'
import { relativeTo } from '../shown-path.ts'

/** Files of one change. */
export const MAX_CHANGED_FILES = 500
/** Places of one change, over all of its files. */
export const MAX_CHANGED_PLACES = 20_000

/** What one file would become, built on exactly that version of it. */
export interface FilePlan {
  readonly target: FileTarget
  /** For people and models: relative to the workspace. */
  readonly path: string
  readonly version: FileVersion
  readonly replacements: readonly TextReplacement[]
  readonly before: string
  readonly after: string
}

/**
 * The exact changes to the texts as they stand now, also where they are not saved. Files that would stay as they are are left out.
 *
 * Errors: `LanguageError` `LSP_UNSUPPORTED_OPERATION` for what is more than text, `LSP_TOO_MANY_CHANGES`, `LSP_MALFORMED_RESPONSE`
 *         for edits that overlap; `FileError` for a file that cannot be read. Nothing is changed in any case.
 */
export async function planFiles(edit: LanguageEdit, { files, root, signal }: { readonly files: Pick<FileSystem, 'resolve' | 'readText'>; readonly root: string; readonly signal: AbortSignal }): Promise<readonly FilePlan[]> {
  refuseOthers(edit)
  const places = edit.files.reduce((sum, { edits }) => sum + edits.length, 0)
  if (edit.files.length > MAX_CHANGED_FILES || places > MAX_CHANGED_PLACES)
    throw new LanguageError('LSP_TOO_MANY_CHANGES', `It would change ${places} places in ${edit.files.length} files; at most ${MAX_CHANGED_PLACES} places in ${MAX_CHANGED_FILES} files are changed at once. Nothing was changed.`)
  const plans = new Map<string, FilePlan>()
  const shown = (target: FileTarget) => relativeTo(root, target.path) ?? target.path
  for (const { path, edits } of edit.files) {
    const target = await files.resolve(path, root, signal)
    if (plans.has(target.key)) throw new LanguageError('LSP_MALFORMED_RESPONSE', `The language service changes ${shown(target)} under two names, so its places cannot be told apart. Nothing was changed.`)
    const { text, version } = await files.readText(target, { maxBytes: MAX_CHANGED_BYTES, signal })
    const replacements = replacementsIn(text, edits, shown(target))
    const after = applyEdits(text, replacements)
    if (after !== text) plans.set(target.key, { target, path: shown(target), version, replacements, before: text, after })
  }
  return [...plans.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

/** What the person is shown before it is made. */
export function plannedChange({ target, path, before, after }: FilePlan): PlannedChange {
  const [old, now] = [toLf(before), toLf(after)]
  return { target: target.path, path, before: old, after: now, hunks: changesBetween(old, now).hunks }
}

function refuseOthers({ others }: LanguageEdit): void {
  if (others.length === 0) return
  throw new LanguageError('LSP_UNSUPPORTED_OPERATION', `It would also ${others.join(', ')}. Only changes of text are made here, because they can be undone in one step. Nothing was changed; do it with other tools.`)
}

function replacementsIn(text: string, edits: LanguageEdit['files'][number]['edits'], path: string): readonly TextReplacement[] {
  const lines = new TextLines(text)
  const isCrlf = eolFrom(countLineEnds(text)) === 'crlf'
  // Equal places keep the order in which the service wants to put texts there.
  const sorted = edits
    .map(({ range, newText }) => ({ start: lines.offsetOf(range.start), end: lines.offsetOf(range.end), newText: isCrlf ? toLf(newText).replaceAll('\n', '\r\n') : newText }))
    .toSorted((one, other) => one.start - other.start || one.end - other.end)
  for (const [index, { start, end }] of sorted.entries()) {
    if (end < start || start < (sorted[index - 1]?.end ?? 0)) throw new LanguageError('LSP_MALFORMED_RESPONSE', `The language service gave changes of ${path} that overlap. Nothing was changed.`)
  }
  return sorted
}
