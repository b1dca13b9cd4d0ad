import { toLf } from '../../base/encoding.ts'
import type { Span } from '../../base/json-span.ts'
import { clipped } from '../../base/text.ts'
import { FileError, type TextReplacement } from '../../capabilities/file-system.ts'
import { explainMiss } from './explain-miss.ts'
import { lineEndAt, lineOf, linesOf, normaliseLineEnds, type NormalisedText } from './line-ends.ts'

export interface EditRequest {
  readonly path: string
  /** Exact, line ends as they stand. */
  readonly text: string
  readonly oldString: string
  readonly newString: string
  readonly replaceAll: boolean
  /** Which of several matches is meant: the one nearest to this line. */
  readonly nearLine?: number
  /** Where a match has to stand whole; anywhere when absent. Offsets into a text with `\n` line ends. */
  readonly within?: readonly Span[]
}

export interface EditPlan {
  /** Into the exact text, sorted, as small as they can be. */
  readonly replacements: readonly TextReplacement[]
  /** 1-based, of each match. */
  readonly lines: readonly number[]
}

const MAX_LISTED_MATCHES = 20
const MAX_LISTED_LINE = 120

/**
 * Find what an edit means, and what to change for it, without changing anything.
 *
 * Matching is literal on LF-normalised text, so a model need not know a file's line ends; nothing else is forgiven.
 * Errors: `FileError` `FS_EDIT_NOT_FOUND` with the nearest region, `FS_AMBIGUOUS_EDIT` with the line of each match.
 */
export function planEdit({ path, text, oldString, newString, replaceAll, nearLine, within }: EditRequest): EditPlan {
  const normalised = normaliseLineEnds(text)
  const [wanted, replacement] = [toLf(oldString), toLf(newString)]
  const found = within === undefined ? findAll(normalised.text, wanted) : within.flatMap(({ start, end }) => findAll(normalised.text.slice(start, end), wanted).map((at) => start + at))
  if (found.length === 0) throw new FileError('FS_EDIT_NOT_FOUND', explainMiss({ path, text: normalised.text, wanted, replacement, names: { wanted: 'old_string', replacement: 'new_string' } }))
  const matches = replaceAll || found.length === 1 ? found : [chooseOne(path, normalised.text, found, nearLine)]
  return {
    replacements: matches.map((start) => smallest(text, normalised, start, wanted, replacement)),
    lines: linesOf(normalised.text, matches),
  }
}

/** Offsets of the matches, none overlapping the one before. */
export function findAll(text: string, wanted: string): readonly number[] {
  const found: number[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push(at)
  return found
}

function chooseOne(path: string, text: string, found: readonly number[], nearLine: number | undefined): number {
  if (nearLine !== undefined) {
    const lines = linesOf(text, found)
    const byDistance = found.map((start, index) => ({ start, distance: Math.abs((lines[index] ?? 1) - nearLine) })).sort((a, b) => a.distance - b.distance)
    const [nearest, next] = byDistance
    if (nearest && nearest.distance !== next?.distance) return nearest.start
  }
  throw new FileError(
    'FS_AMBIGUOUS_EDIT',
    `old_string stands ${found.length} times in ${path}. Nothing was changed. Add lines around it, give near_line, or set replace_all.\n${listedMatches(text, found)}`,
  )
}

/** Where the matches are, each with its line, as far as they can be listed. */
export function listedMatches(text: string, found: readonly number[]): string {
  const list = found.slice(0, MAX_LISTED_MATCHES).map((start) => `  line ${lineOf(text, start)}: ${lineAround(text, start)}`)
  return [...list, ...(found.length > list.length ? [`  and ${found.length - list.length} more`] : [])].join('\n')
}

function lineAround(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', offset)
  const line = text.slice(start, end < 0 ? undefined : end).trim()
  return clipped(line, MAX_LISTED_LINE)
}

/**
 * Only what differs between the match and its replacement, so that all other bytes stay, folds and cursors too.
 */
function smallest(original: string, { text, originalOffset }: NormalisedText, start: number, wanted: string, replacement: string): TextReplacement {
  const prefix = commonPrefix(wanted, replacement)
  const suffix = commonSuffix(wanted.slice(prefix), replacement.slice(prefix))
  const [from, to] = [originalOffset(start + prefix), originalOffset(start + wanted.length - suffix)]
  const core = replacement.slice(prefix, replacement.length - suffix)
  const lineEnd = text === original ? '\n' : lineEndAt(original, originalOffset(start))
  return { start: from, end: to, newText: lineEnd === '\n' ? core : core.replaceAll('\n', lineEnd) }
}

function commonPrefix(a: string, b: string): number {
  const limit = Math.min(a.length, b.length)
  let length = 0
  while (length < limit && a[length] === b[length]) length += 1
  // Never between the halves of a surrogate pair.
  return length > 0 && isHighSurrogate(a.charCodeAt(length - 1)) ? length - 1 : length
}

function commonSuffix(a: string, b: string): number {
  const limit = Math.min(a.length, b.length)
  let length = 0
  while (length < limit && a[a.length - 1 - length] === b[b.length - 1 - length]) length += 1
  return length > 0 && isLowSurrogate(a.charCodeAt(a.length - length)) ? length - 1 : length
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff
