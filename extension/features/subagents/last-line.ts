import { clipped } from '../../base/text.ts'

/** UTF-16 units of the line that is shown of a child. */
const MAX_LINE = 200

/** The newest line with words in it; undefined when there is none. */
export function lastLineOf(text: string): string | undefined {
  const line = text.split(/\r?\n/).findLast((one) => one.trim() !== '')
  return line === undefined ? undefined : clipped(line.trim(), MAX_LINE)
}

/** The end of streamed text that the newest line may still grow from. */
export function grownTail(tail: string, delta: string): string {
  const whole = tail + delta
  const from = whole.trimEnd().lastIndexOf('\n') + 1
  return whole.slice(from).slice(-4 * MAX_LINE)
}
