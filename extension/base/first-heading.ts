/**
 * The words of the first Markdown heading of any level, without the signs that close it; null without one.
 *
 * Line by line, since one expression over a text of a model can be made to take minutes.
 */
export function firstHeading(text: string): string | null {
  for (const line of text.split('\n')) {
    const marks = /^#{1,6}(?=[ \t])/.exec(line)?.[0]
    if (marks === undefined) continue
    const words = withoutClosing(line.slice(marks.length).trim())
    if (words !== '') return words
  }
  return null
}

function withoutClosing(words: string): string {
  let end = words.length
  while (words[end - 1] === '#') end -= 1
  return words.slice(0, end).trimEnd()
}
