/** What is left of a program without its types, or why that cannot be said: with the line and column in the program. */
export type Stripped = { readonly source: string } | { readonly problem: string }

/** A program is the body of an async function; the parser must know. */
const OPENING = '(async () => {'
const CLOSING = '\n})'

/** Of a text, whether it has JSX, TypeScript, Flow. Throws for one that does not parse. */
type Parse = (code: string, ...dialects: readonly [isJsx: boolean, isTypeScript: boolean, isFlow: boolean]) => { readonly tokens: readonly { readonly start: number; readonly end: number; readonly isType: boolean }[] }

/**
 * Take the types out of a program, so that lines stay where they are.
 *
 * Only what can be erased: an enum or a namespace is refused, since it would have to be turned into other code.
 * Loaded with the first program; a program in plain JavaScript comes out as it went in.
 * Source: runtime specification 8; `sucrase` 3.35.1 does it.
 */
export async function stripTypes(source: string): Promise<Stripped> {
  const { transform } = await import('sucrase')
  // The package has no types for its parser.
  // @ts-expect-error TS7016
  const { parse } = (await import('sucrase/dist/parser/index.js')) as { parse: Parse }
  const wrapped = OPENING + source + CLOSING
  try {
    const { tokens } = parse(wrapped, false, true, false)
    const words = tokens.map(({ start, end }) => wrapped.slice(start, end))
    for (const [index, { start, isType }] of tokens.entries()) {
      const kind = words[index]!
      const isDeclared = words[index - 1] === 'declare' || (words[index - 1] === 'const' && words[index - 2] === 'declare')
      const isEnum = kind === 'enum' && !isType && words[index + 2] === '{'
      const isNamespace = (kind === 'namespace' || kind === 'module') && isType && ['{', '.'].includes(words[index + 2] ?? '')
      if ((isEnum || isNamespace) && !isDeclared) return { problem: `${placeOf(wrapped, start)}: TypeScript's ${kind} is more than a type. Write ${isEnum ? 'an object' : 'plain functions and constants'} in its place` }
    }
    const { code } = transform(wrapped, { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true })
    return { source: code.slice(OPENING.length, -CLOSING.length) }
  } catch (error) {
    // Its messages end with the place, and its errors carry the place where it gave up.
    const [, message, line, column] = /^(.*?) \((\d+):(\d+)\)$/s.exec((error as Error).message) ?? [undefined, String(error), '1', '1']
    return { problem: `line ${line}, column ${line === '1' ? Math.max(1, Number(column) - OPENING.length) : column}: SyntaxError: ${message}` }
  }
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n')
  const column = before.at(-1)!.length + 1
  return `line ${before.length}, column ${before.length === 1 ? column - OPENING.length : column}`
}
