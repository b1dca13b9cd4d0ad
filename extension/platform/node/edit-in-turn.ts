import { reversedEdits } from '../../base/encoding.ts'
import { FileError, staleVersion, type ChangeOutcome, type EditChange, type EditsChange, type FileSystem } from '../../capabilities/file-system.ts'

/**
 * Several edits as one, where each file can only be changed by itself: all are checked first, then made one after the other, and
 * taken back when one fails.
 *
 * Errors: those of the file that could not be changed; a file that could not be taken back is named in an `AggregateError`.
 */
export async function editInTurn(files: Pick<FileSystem, 'readText' | 'editText'>, { edits, label, signal }: EditsChange, maxBytes: number): Promise<readonly ChangeOutcome[]> {
  const made: { readonly edit: EditsChange['edits'][number]; readonly outcome: ChangeOutcome }[] = []
  // What cannot be read, or is another version, is found before anything has changed.
  for (const { target, expect } of edits) await check(files, { target, expect, label, ...(signal && { signal }) }, maxBytes)
  try {
    for (const edit of edits) made.push({ edit, outcome: await files.editText({ ...edit, label, ...(signal && { signal }) }) })
  } catch (error) {
    await takeBack(files, made, label, error)
    throw error
  }
  return made.map(({ outcome }) => outcome)
}

async function check(files: Pick<FileSystem, 'readText' | 'editText'>, edit: Omit<EditChange, 'replacements'>, maxBytes: number): Promise<void> {
  const { target, expect, signal } = edit
  const current = await files.readText(target, { maxBytes, ...(signal && { signal }) }).catch((error: unknown) => {
    if (error instanceof FileError && error.code === 'FS_NOT_FOUND') throw staleVersion(target.spelling, 'was deleted', error)
    throw error
  })
  if (current.version !== expect.version) throw staleVersion(target.spelling, 'changed')
}

async function takeBack(files: Pick<FileSystem, 'editText'>, made: readonly { readonly edit: Pick<EditChange, 'target' | 'replacements'>; readonly outcome: ChangeOutcome }[], label: string, cause: unknown): Promise<void> {
  const failures: unknown[] = []
  for (const { edit, outcome } of made.toReversed()) {
    const expect = { kind: 'version', version: outcome.version } as const
    await files.editText({ target: edit.target, replacements: reversedEdits(outcome.before ?? '', edit.replacements), expect, label }).catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw new AggregateError([cause, ...failures], `${label} failed, and not every file could be put back as it was.`)
}
