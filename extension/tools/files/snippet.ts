import { clipped } from '../../base/text.ts'

const MAX_LINE_CHARS = 300

/** Lines of `text` with their numbers, as `read` shows them; long ones are cut. `text` has `\n` line ends, lines are 1-based. */
export function numberedLines(text: string, first: number, count: number): string {
  const out: string[] = []
  let start = 0
  for (let number = 1; number < first + count; number += 1) {
    const end = text.indexOf('\n', start)
    const line = text.slice(start, end < 0 ? undefined : end)
    // What follows the last line end is no line.
    if (end < 0 && line === '') break
    if (number >= first) out.push(`${number}: ${clipped(line, MAX_LINE_CHARS)}`)
    if (end < 0) break
    start = end + 1
  }
  return out.join('\n')
}
