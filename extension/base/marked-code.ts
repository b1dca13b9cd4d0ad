/** Words with one piece of code in them, as `Run \`npm test\`` has. */
export interface MarkedCode {
  readonly before: string
  readonly code: string
  readonly after: string
}

/** Take the code between the first and the last backtick, so that code may hold backticks itself; null without any. */
export function markedCode(text: string): MarkedCode | null {
  const [first, last] = [text.indexOf('`'), text.lastIndexOf('`')]
  return first === last ? null : { before: text.slice(0, first), code: text.slice(first + 1, last), after: text.slice(last + 1) }
}

/** The same words for places that draw no code. */
export function withoutMarks(text: string): string {
  const marked = markedCode(text)
  return marked === null ? text : `${marked.before}${marked.code}${marked.after}`
}
