import { fitBytes } from '../../base/text.ts'
import { onOneLine } from '../shown-path.ts'

/** A line that matched, or one around it. */
export interface GrepLine {
  readonly path: string
  readonly lineNumber: number
  readonly line: string
  readonly isContext?: true
  /** 1-based, of the first match in the line. */
  readonly column?: number
}

/** UTF-8 bytes of a line on a page. */
export const MAX_LINE_BYTES = 2_000
const CUT_SUFFIX = '… (line cut)'

/** The line as a page shows it, cut between characters. */
export function shownLine(line: string): string {
  const { text, omittedBytes } = fitBytes(line, MAX_LINE_BYTES)
  return omittedBytes === 0 ? text : text + CUT_SUFFIX
}

/** Lines under their file, a blank line between files and three dots between places that do not touch. */
export function contentPage(lines: readonly GrepLine[]): string {
  const out: string[] = []
  const hasContext = lines.some(({ isContext }) => isContext)
  let last: GrepLine | undefined
  for (const each of lines) {
    if (each.path !== last?.path) out.push(...(last === undefined ? [] : ['']), onOneLine(each.path))
    else if (hasContext && each.lineNumber > last.lineNumber + 1) out.push('…')
    out.push(`Line ${each.lineNumber}${each.isContext ? '-' : ':'} ${shownLine(each.line)}`)
    last = each
  }
  return out.join('\n')
}

/** Files in their order with the number of matching lines. */
export function countByFile(lines: readonly GrepLine[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { path, isContext } of lines) if (!isContext) counts.set(path, (counts.get(path) ?? 0) + 1)
  return counts
}

/** The first `limit` matches with the context that belongs to them. */
export function firstMatches(lines: readonly GrepLine[], limit: number, contextLines: number): readonly GrepLine[] {
  let count = 0
  let end = 0
  let last: GrepLine | undefined
  for (const [index, each] of lines.entries()) {
    if (!each.isContext) {
      if (count === limit) break
      count += 1
      last = each
      end = index + 1
    } else if (last !== undefined && each.path === last.path && each.lineNumber > last.lineNumber && each.lineNumber <= last.lineNumber + contextLines) {
      end = index + 1
    }
  }
  return lines.slice(0, end)
}
