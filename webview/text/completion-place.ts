import type { CompletionKind } from '../../extension/protocol/messages.ts'

/** Where something is being named: from the `@` or `/` at `start` to `end`, both UTF-16 offsets. */
export interface CompletionPlace {
  readonly kind: CompletionKind
  readonly start: number
  readonly end: number
  /** What was typed after the sign, without quotes. */
  readonly query: string
}

/** UTF-16 units; whoever types more means something else. */
const MAX_QUERY = 200

/**
 * What the caret stands in: a `/` at the very start of the message, or an `@` at the start of a word.
 *
 * Source: ux 3. `@"…` may hold blanks; an address such as ada@example.com is none.
 */
export function completionAt(text: string, caret: number): CompletionPlace | null {
  const before = text.slice(0, caret)
  const command = /^\/([\w-]*)$/.exec(before)
  if (command !== null) return { kind: '/', start: 0, end: endOfWord(text, caret), query: command[1] ?? '' }
  const reference = /(?:^|[\s([{<,;'])@(?:"([^"\n]*)|([^\s"@]*))$/.exec(before)
  if (reference === null) return null
  const [, quoted, plain = ''] = reference
  const query = quoted ?? plain
  if (query.length > MAX_QUERY) return null
  const start = caret - query.length - (quoted === undefined ? 1 : 2)
  return { kind: '@', start, end: quoted === undefined ? endOfWord(text, caret) : endOfQuote(text, caret), query }
}

const endOfWord = (text: string, from: number): number => from + (/^[^\s"')\]},;]*/.exec(text.slice(from))?.[0].length ?? 0)

/** Past the closing quote on the same line, or just where the caret is. */
const endOfQuote = (text: string, from: number): number => from + (/^[^"\n]*"/.exec(text.slice(from))?.[0].length ?? 0)
