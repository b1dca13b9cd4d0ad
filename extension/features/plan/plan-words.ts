import { structuredPatch } from 'diff'
import type { PlanComment } from './service.ts'

/** Lines added and removed up to which the smallest patch is looked for; that costs their square, and a plan written anew is one change. */
const MAX_EDITS = 400

/** What the person changed in a plan, as a patch without its head; empty when they changed nothing. */
export function changesOf(before: string, after: string): string {
  if (before.trim() === after.trim()) return ''
  const patch = structuredPatch('plan', 'plan', withEnd(before), withEnd(after), '', '', { context: 2, maxEditLength: MAX_EDITS })
  if (patch === undefined) return rewritten(withEnd(before), withEnd(after))
  return patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines.filter((line) => !line.startsWith('\\'))].join('\n')).join('\n')
}

/** One patch from the first line that differs to the last. */
function rewritten(before: string, after: string): string {
  const [old, now] = [before.split('\n').slice(0, -1), after.split('\n').slice(0, -1)]
  const shorter = Math.min(old.length, now.length)
  let head = 0
  while (head < shorter && old[head] === now[head]) head += 1
  let tail = 0
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1
  const gone = old.slice(head, old.length - tail)
  const come = now.slice(head, now.length - tail)
  return [`@@ -${head + 1},${gone.length} +${head + 1},${come.length} @@`, ...gone.map((line) => `-${line}`), ...come.map((line) => `+${line}`)].join('\n')
}

const withEnd = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)

/** Comments with the heading and the line they stand at, in the order of the lines; empty without any. */
export function commentsOf(plan: string, comments: readonly PlanComment[]): string {
  const lines = plan.split(/\r?\n/)
  return comments
    .map((comment) => ({ comment, line: lineOf(lines, comment) }))
    .toSorted((left, right) => left.line - right.line)
    .map(({ comment: { text, quote }, line }) => {
      const heading = headingOver(lines, line)
      return `- ${heading === null ? '' : `${heading}, `}line ${line}${quote.trim() === '' ? '' : ` (“${quote.trim()}”)`}: ${text.trim()}`
    })
    .join('\n')
}

/** Where a commented line is by now: the nearest one that reads the same, else where it was. 1-based. */
export function lineOf(lines: readonly string[], { line, quote }: Pick<PlanComment, 'line' | 'quote'>): number {
  const places = lines.flatMap((text, index) => (text.trim() === quote.trim() ? [index + 1] : []))
  const [nearest] = places.toSorted((left, right) => Math.abs(left - line) - Math.abs(right - line))
  return nearest ?? Math.min(line, Math.max(1, lines.length))
}

function headingOver(lines: readonly string[], line: number): string | null {
  const heading = lines.slice(0, line).findLast((text) => /^#{1,6}\s+\S/.test(text))
  return heading?.replace(/^#{1,6}\s+/, '').trim() ?? null
}

/** What the model reads of a plan that was not approved: the person's words as they are, then what they wrote to its lines and changed in it. */
export const feedbackWords = ({ words, comments, changes }: { readonly words: string; readonly comments: string; readonly changes: string }): string =>
  [words, ...(comments === '' ? [] : [`Comments on the plan:\n${comments}`]), ...(changes === '' ? [] : [`The person changed the plan:\n${changes}`])].filter((part) => part.trim() !== '').join('\n\n')
