import { messageOf } from '../../base/message-of.ts'
import { JobError } from './service.ts'

const MAX_PATTERN_CHARS = 500
/** Bounds the work on one character of a line. */
const MAX_STATES = 1_000

/**
 * A regular expression that says whether a line holds a match, in time that grows with the line and no faster, whatever it is:
 * all ways to match are followed at once (Thompson's construction), so there is no backtracking to run away.
 *
 * What needs backtracking, references and look-around, is refused; classes and single characters are the language's own.
 */
export interface LinePattern {
  matches(line: string): boolean
}

type State =
  | { readonly kind: 'char'; readonly accepts: (character: string) => boolean; next: number }
  | { readonly kind: 'split'; next: number; other: number }
  | { readonly kind: 'check'; readonly holds: (before: string, after: string) => boolean; next: number }
  | { readonly kind: 'match' }

/** Errors: `JobError` `BAD_PATTERN`. `(?i)` at the start ignores case. */
export function compileLinePattern(source: string): LinePattern {
  if (source === '') throw bad(source, 'it is empty, and would match every line')
  if (source.length > MAX_PATTERN_CHARS) throw bad(source, `it is longer than ${MAX_PATTERN_CHARS} characters`)
  const ignoresCase = source.startsWith('(?i)')
  const text = ignoresCase ? source.slice(4) : source
  try {
    void new RegExp(text)
  } catch (error) {
    throw bad(source, messageOf(error))
  }
  const states = new PatternReader(source, text, ignoresCase).states()
  return new StateRun(states)
}

/** Follows every way through the states at once; a match may begin at each character. */
class StateRun implements LinePattern {
  readonly #states: readonly State[]
  /** At which position a state was reached last, so that it is followed once for each. */
  readonly #reachedAt: Int32Array
  readonly #open: number[] = []

  constructor(states: readonly State[]) {
    this.#states = states
    this.#reachedAt = new Int32Array(states.length)
  }

  matches(line: string): boolean {
    this.#reachedAt.fill(-1)
    let starts: number[] = []
    for (let at = 0; at <= line.length; at += 1) {
      const [before, after] = [line[at - 1] ?? '', line[at] ?? '']
      const next: number[] = []
      starts.push(0)
      for (const start of starts) if (this.#follow(start, at, { before, after, next })) return true
      starts = next
    }
    return false
  }

  /** Collects where the next character leads; true when a match ends here. */
  #follow(start: number, at: number, { before, after, next }: { readonly before: string; readonly after: string; readonly next: number[] }): boolean {
    const open = this.#open
    open.length = 0
    open.push(start)
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (this.#reachedAt[index] === at) continue
      this.#reachedAt[index] = at
      const state = this.#states[index]
      if (state === undefined || state.kind === 'match') return true
      if (state.kind === 'split') open.push(state.other, state.next)
      else if (state.kind === 'check') {
        if (state.holds(before, after)) open.push(state.next)
      } else if (after !== '' && state.accepts(after)) next.push(state.next)
    }
    return false
  }
}

type Node =
  | { readonly kind: 'char'; readonly accepts: (character: string) => boolean }
  | { readonly kind: 'check'; readonly holds: (before: string, after: string) => boolean }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number }

const isWord = (character: string) => /^\w$/.test(character)
const atBoundary = (before: string, after: string) => isWord(before) !== isWord(after)

class PatternReader {
  readonly #source: string
  readonly #text: string
  readonly #flags: string
  #at = 0
  readonly #states: State[] = []

  constructor(source: string, text: string, ignoresCase: boolean) {
    this.#source = source
    this.#text = text
    this.#flags = ignoresCase ? 'i' : ''
  }

  states(): readonly State[] {
    const node = this.#choice()
    this.#write(node)
    this.#add({ kind: 'match' })
    return this.#states
  }

  #choice(): Node {
    const parts = [this.#sequence()]
    while (this.#text[this.#at] === '|') {
      this.#at += 1
      parts.push(this.#sequence())
    }
    return parts.length === 1 ? parts[0]! : { kind: 'choice', parts }
  }

  #sequence(): Node {
    const parts: Node[] = []
    while (this.#at < this.#text.length && !'|)'.includes(this.#text[this.#at]!)) parts.push(this.#repeated(this.#atom()))
    return { kind: 'sequence', parts }
  }

  #repeated(part: Node): Node {
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#text.slice(this.#at))
    if (found === null) return part
    this.#at += found[0].length
    const [text, low, comma, high] = found
    if (text.startsWith('*')) return { kind: 'repeat', part, min: 0, max: Infinity }
    if (text.startsWith('+')) return { kind: 'repeat', part, min: 1, max: Infinity }
    if (text.startsWith('?')) return { kind: 'repeat', part, min: 0, max: 1 }
    const max = comma === '' ? Number(low) : high === '' ? Infinity : Number(high)
    if (Number(low) > MAX_STATES || (max !== Infinity && max > MAX_STATES)) throw bad(this.#source, 'it repeats a part too often')
    return { kind: 'repeat', part, min: Number(low), max }
  }

  #atom(): Node {
    const rest = this.#text.slice(this.#at)
    const first = rest[0]!
    if (first === '(') return this.#group(rest)
    if (first === '^') return this.#took(1, { kind: 'check', holds: (before) => before === '' })
    if (first === '$') return this.#took(1, { kind: 'check', holds: (_before, after) => after === '' })
    if (rest.startsWith('\\b')) return this.#took(2, { kind: 'check', holds: atBoundary })
    if (rest.startsWith('\\B')) return this.#took(2, { kind: 'check', holds: (before, after) => !atBoundary(before, after) })
    if (/^\\[1-9k]/.test(rest)) throw bad(this.#source, 'it refers back to a group')
    const token = /^(?:\[(?:\\.|[^\]\\])*\]|\\x[\da-f]{2}|\\u[\da-f]{4}|\\c[a-z]|\\.|.)/is.exec(rest)![0]
    // One character at a time, so it cannot run away; most of them are looked up.
    const expression = new RegExp(`^(?:${token})$`, this.#flags)
    const ascii = Array.from({ length: 128 }, (_none, code) => expression.test(String.fromCharCode(code)))
    return this.#took(token.length, { kind: 'char', accepts: (character) => ascii[character.charCodeAt(0)] ?? expression.test(character) })
  }

  #group(rest: string): Node {
    const opening = /^\((?:\?(?::|<[a-z_]\w*>))?/i.exec(rest)![0]
    if (opening === '(' && rest[1] === '?') throw bad(this.#source, 'it looks ahead or behind, or sets a flag inside')
    this.#at += opening.length
    const inside = this.#choice()
    this.#at += 1
    return inside
  }

  #took(length: number, node: Node): Node {
    this.#at += length
    return node
  }

  #add(state: State): number {
    if (this.#states.length >= MAX_STATES) throw bad(this.#source, 'it is too large; repeat less, or look for a shorter text')
    return this.#states.push(state) - 1
  }

  /** Each node is written so that it goes on with the state after its last one. */
  #write(node: Node): void {
    switch (node.kind) {
      case 'char':
        this.#add({ ...node, next: this.#states.length + 1 })
        return
      case 'check':
        this.#add({ ...node, next: this.#states.length + 1 })
        return
      case 'sequence':
        for (const part of node.parts) this.#write(part)
        return
      case 'choice':
        this.#writeChoice(node.parts)
        return
      case 'repeat':
        this.#writeRepeat(node)
    }
  }

  #writeChoice([first, ...others]: readonly Node[]): void {
    if (first === undefined) return
    if (others.length === 0) return this.#write(first)
    const split = this.#split()
    this.#write(first)
    const jump = this.#split()
    this.#states[split] = { kind: 'split', next: split + 1, other: this.#states.length }
    this.#writeChoice(others)
    this.#states[jump] = { kind: 'split', next: this.#states.length, other: this.#states.length }
  }

  #writeRepeat({ part, min, max }: Extract<Node, { kind: 'repeat' }>): void {
    for (let count = 0; count < min; count += 1) this.#write(part)
    if (max === Infinity) {
      const split = this.#split()
      this.#write(part)
      this.#add({ kind: 'split', next: split, other: split })
      this.#states[split] = { kind: 'split', next: split + 1, other: this.#states.length }
      return
    }
    const splits: number[] = []
    for (let count = min; count < max; count += 1) {
      splits.push(this.#split())
      this.#write(part)
    }
    for (const split of splits) this.#states[split] = { kind: 'split', next: split + 1, other: this.#states.length }
  }

  /** Where it leads is filled in once that is known. */
  #split(): number {
    return this.#add({ kind: 'split', next: 0, other: 0 })
  }
}

const bad = (pattern: string, why: string) =>
  new JobError('BAD_PATTERN', `The pattern /${pattern.slice(0, 80)}/ cannot be used: ${why}. Give a plain regular expression without references and look-around.`)
