import { isJsonObject, type Json } from '../../base/json.ts'
import type { FileDiff } from '../../protocol/cards.ts'
import { asBoolean, asList, asNumber, asString } from '../card-facts.ts'

/** What a card shows of a changed file. */
export interface ShownChange {
  readonly operation: 'create' | 'update'
  readonly diffs: readonly FileDiff[]
  readonly note?: string
}

/** From the durable facts of `write` and `edit`; undefined when they are foreign, broken or older. */
export function changeFrom(path: string, meta: Json | undefined): ShownChange | undefined {
  if (!isJsonObject(meta)) return undefined
  const operation = asString(meta['operation'])
  const diffs = asList(meta['hunks'], (hunk) => diffFrom(path, hunk))
  if ((operation !== 'create' && operation !== 'update') || diffs === undefined) return undefined
  const omitted = asNumber(meta['omittedHunks'])
  const newProblems = asString(meta['newProblems'])
  const notes = [
    ...(asBoolean(meta['wasReformatted']) === true ? ['The editor’s save actions changed the text further.'] : []),
    ...(asBoolean(meta['isUnsaved']) === true ? ['Not saved: the file had unsaved changes of yours.'] : []),
    ...(newProblems === undefined ? [] : [newProblems]),
    ...(omitted === undefined ? [] : [`${omitted} more changed regions are not shown here.`]),
  ]
  return { operation, diffs, ...(notes.length > 0 && { note: notes.join(' ') }) }
}

/** One changed region as it stands in the durable facts; undefined when it is broken. */
export function diffFrom(path: string, hunk: Json): FileDiff | undefined {
  if (!isJsonObject(hunk)) return undefined
  const [oldText, newText, oldStart, newStart] = [asString(hunk['oldText']), asString(hunk['newText']), asNumber(hunk['oldStart']), asNumber(hunk['newStart'])]
  if (oldText === undefined || newText === undefined || oldStart === undefined || newStart === undefined) return undefined
  // A region without old lines is a pure insertion.
  return { path, oldText: oldText === '' ? null : oldText, newText, oldStart, newStart }
}
