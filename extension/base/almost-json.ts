import type { Json } from './json.ts'

/** What a text that should be JSON says: its value, or where it cannot be read and why. */
export type AlmostJson =
  | { readonly ok: true; readonly value: Json; readonly isRepaired: boolean }
  /** `isCut`: it stops before its end. `problem` is the end of a sentence that begins with "it". */
  | { readonly ok: false; readonly problem: string; readonly isCut: boolean }

/** Deeper than any arguments of a tool, and shallow enough for every stack. */
const MAX_DEPTH = 200

/**
 * Read JSON as language models write it, and never add a value that is not there.
 *
 * Read beside strict JSON: a code fence around it, comments, a comma before a closing bracket, quotes of other kinds, keys
 * without quotes, Python's `True`, `False` and `None`, raw line breaks in strings, `\'`, closing brackets that are missing
 * at the end or are too many there. Everything else is refused with its place: a string, number or key that the end cut, a
 * text without quotes where a value should be, two readings of one text.
 * Units: places are characters from 1.
 */
export function readAlmostJson(text: string): AlmostJson {
  try {
    return { ok: true, value: JSON.parse(text) as Json, isRepaired: false }
  } catch {
    // Not strict JSON: read with patience below.
  }
  try {
    return { ok: true, value: new PatientReader(withoutFence(text)).read(), isRepaired: true }
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, problem: error.message, isCut: error.isCut }
    throw error
  }
}

class Unreadable extends Error {
  readonly isCut: boolean

  constructor(problem: string, isCut = false) {
    super(problem)
    this.isCut = isCut
  }
}

/** The text inside of a fence, at its place, so that the places in problems hold. */
function withoutFence(text: string): string {
  const fence = /^\s*```[a-z0-9]*[^\S\n]*\n/i.exec(text)?.[0]
  if (fence === undefined) return text
  return ' '.repeat(fence.length) + text.slice(fence.length).replace(/\n?\s*```\s*$/, '')
}

const literals: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true], ['false', false], ['null', null], ['True', true], ['False', false], ['None', null],
])
const closingQuotes: ReadonlyMap<string, string> = new Map([['"', '"'], ["'", "'"], ['“', '”'], ['‘', '’']])
const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'], ["'", "'"], ['\\', '\\'], ['/', '/'], ['b', '\b'], ['f', '\f'], ['n', '\n'], ['r', '\r'], ['t', '\t'],
])

class PatientReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): Json {
    const value = this.#value(0)
    this.#skip()
    while (this.#peek() === '}' || this.#peek() === ']') {
      this.#at++
      this.#skip()
    }
    if (this.#at < this.#text.length) throw new Unreadable(`goes on after its end, at ${this.#place()}`)
    return value
  }

  #value(depth: number): Json {
    if (depth > MAX_DEPTH) throw new Unreadable(`is nested more than ${MAX_DEPTH} deep`)
    this.#skip()
    const first = this.#peek()
    if (first === undefined) throw this.#cut('where a value should be')
    if (first === '{') return this.#object(depth)
    if (first === '[') return this.#array(depth)
    if (closingQuotes.has(first)) return this.#string(first)
    if (/[-\d]/.test(first)) return this.#number()
    return this.#literal()
  }

  #object(depth: number): Json {
    this.#at++
    const entries: [string, Json][] = []
    const ended = () => Object.fromEntries(entries)
    for (;;) {
      this.#skip()
      const next = this.#peek()
      if (next === undefined) {
        if (entries.length > 0) throw this.#cut('after a comma')
        throw this.#cut('inside of an object that holds nothing yet')
      }
      if (next === '}') {
        this.#at++
        return ended()
      }
      const key = this.#key()
      this.#skip()
      if (this.#peek() === undefined) throw this.#cut(`after the key ${JSON.stringify(key)}`)
      if (this.#peek() !== ':') throw new Unreadable(`has no colon after the key ${JSON.stringify(key)}, at ${this.#place()}`)
      this.#at++
      entries.push([key, this.#value(depth + 1)])
      if (this.#isEnded('}')) return ended()
    }
  }

  #array(depth: number): Json {
    this.#at++
    const items: Json[] = []
    for (;;) {
      this.#skip()
      if (this.#peek() === undefined) throw this.#cut('inside of a list')
      if (this.#peek() === ']') {
        this.#at++
        return items
      }
      items.push(this.#value(depth + 1))
      if (this.#isEnded(']')) return items
    }
  }

  /** After a member: a comma goes on, the bracket ends. A missing bracket at the very end loses nothing, because the member is whole. */
  #isEnded(bracket: '}' | ']'): boolean {
    this.#skip()
    const next = this.#peek()
    if (next === undefined) return true
    this.#at++
    if (next === bracket) return true
    if (next === ',') return false
    throw new Unreadable(`has ${JSON.stringify(next)} where a comma or ${bracket} should be, at ${this.#place(-1)}`)
  }

  #key(): string {
    const first = this.#peek() ?? ''
    if (closingQuotes.has(first)) return this.#string(first)
    const word = /^[\p{L}_$][\p{L}\p{N}_$-]*/u.exec(this.#text.slice(this.#at, this.#at + 200))?.[0]
    if (word === undefined) throw new Unreadable(`has ${JSON.stringify(first)} where a key should be, at ${this.#place()}`)
    this.#at += word.length
    return word
  }

  #string(quote: string): string {
    const opened = this.#place()
    const closing = closingQuotes.get(quote)
    const parts: string[] = []
    let from = ++this.#at
    for (;;) {
      const next = this.#peek()
      if (next === undefined) throw this.#cut(`inside of the string that begins at ${opened}`)
      if (next === closing) {
        parts.push(this.#text.slice(from, this.#at++))
        return parts.join('')
      }
      if (next !== '\\') {
        this.#at++
        continue
      }
      parts.push(this.#text.slice(from, this.#at), this.#escape(opened))
      from = this.#at
    }
  }

  #escape(opened: string): string {
    const letter = this.#text[this.#at + 1]
    if (letter === undefined) throw this.#cut(`inside of the string that begins at ${opened}`)
    if (letter === 'u') {
      const digits = this.#text.slice(this.#at + 2, this.#at + 6)
      if (/^[\da-f]{4}$/i.test(digits)) {
        this.#at += 6
        return String.fromCharCode(Number.parseInt(digits, 16))
      }
      if (digits.length < 4) throw this.#cut(`inside of the string that begins at ${opened}`)
    }
    const meant = escapes.get(letter)
    if (meant === undefined) {
      throw new Unreadable(`has \\${letter} at ${this.#place()}, which is no escape of JSON; a backslash itself is written \\\\`)
    }
    this.#at += 2
    return meant
  }

  #number(): number {
    const word = this.#word()
    // What the end touches may have had more digits.
    if (this.#at >= this.#text.length) throw this.#cut('inside of a number')
    if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(word)) throw new Unreadable(`has ${JSON.stringify(word)} where a value should be, at ${this.#place(-word.length)}`)
    return Number(word)
  }

  #literal(): Json {
    const word = this.#word()
    const value = literals.get(word)
    if (value !== undefined) return value
    if (this.#at >= this.#text.length && [...literals.keys()].some((known) => known.startsWith(word))) throw this.#cut(`inside of ${JSON.stringify(word)}`)
    const shown = word === '' ? (this.#peek() ?? '') : word
    throw new Unreadable(`has ${JSON.stringify(shown)} where a value should be, at ${this.#place(-word.length)}; a text needs double quotes`)
  }

  #word(): string {
    const from = this.#at
    while (this.#at < this.#text.length && /[^\s,:[\]{}"']/.test(this.#text[this.#at] ?? '')) this.#at++
    return this.#text.slice(from, this.#at)
  }

  /** White space and comments. */
  #skip(): void {
    for (;;) {
      const next = this.#text[this.#at]
      if (next !== undefined && /\s|\uFEFF/.test(next)) this.#at++
      else if (next === '/' && this.#text[this.#at + 1] === '/') this.#at = this.#after('\n')
      else if (next === '/' && this.#text[this.#at + 1] === '*') this.#at = this.#after('*/')
      else return
    }
  }

  #after(mark: string): number {
    const found = this.#text.indexOf(mark, this.#at + 2)
    if (found < 0 && mark === '*/') throw this.#cut('inside of a comment')
    return found < 0 ? this.#text.length : found + mark.length
  }

  #peek(): string | undefined {
    return this.#text[this.#at]
  }

  #place(shift = 0): string {
    return `character ${this.#at + shift + 1}`
  }

  #cut(where: string): Unreadable {
    return new Unreadable(`stops ${where}`, true)
  }
}
