/** Tells whether a path (relative, `/`-separated, of a file) matches. */
export type GlobMatcher = (path: string) => boolean

/**
 * Compile a glob as ripgrep and git read it: `*` and `?` stay within a name, `**` spans folders, `{a,b}` and `[a-z]` choose,
 * `\` takes the next character as it is. A glob without `/` matches a name at any depth, one with `/` from the root down.
 * Names that begin with a dot are nothing special.
 *
 * Shape:  `problem` says in plain words what is wrong with the glob.
 * Speed:  linear in path times glob; no glob can make it slow.
 */
export function compileGlob(glob: string): { readonly matches: GlobMatcher } | { readonly problem: string } {
  if (glob.startsWith('!')) return { problem: 'a glob cannot begin with "!" here; name what to include' }
  const expanded = expandBraces(glob)
  if ('problem' in expanded) return expanded
  const patterns: Pattern[] = []
  for (const one of expanded.globs) {
    const pattern = parsePattern(one)
    if ('problem' in pattern) return pattern
    patterns.push(pattern)
  }
  return {
    matches: (path) => {
      const names = path.split('/')
      return patterns.some((pattern) => matchesNames(pattern, names))
    },
  }
}

const maxAlternatives = 1000

interface Pattern {
  /** `null` stands for any number of folders. */
  readonly segments: readonly (NameMatcher | null)[]
}

type NameMatcher = (name: string) => boolean

/** One glob for each choice of its braces. */
function expandBraces(glob: string): { readonly globs: readonly string[] } | { readonly problem: string } {
  let globs = ['']
  const stack: { readonly before: readonly string[]; readonly done: string[] }[] = []
  const append = (text: string) => {
    globs = globs.map((one) => one + text)
  }
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at]!
    if (character === '\\') {
      if (at + 1 === glob.length) return { problem: 'it ends in a "\\" that escapes nothing' }
      append(glob.slice(at, ++at + 1))
    } else if (character === '[') {
      const end = classEnd(glob, at)
      if (end < 0) return { problem: 'a "[" has no closing "]"' }
      append(glob.slice(at, end + 1))
      at = end
    } else if (character === '{') {
      stack.push({ before: globs, done: [] })
      globs = ['']
    } else if (character === ',' && stack.length > 0) {
      stack.at(-1)!.done.push(...globs)
      globs = ['']
    } else if (character === '}') {
      const choice = stack.pop()
      if (!choice) return { problem: 'a "}" has no opening "{"' }
      const endings = [...choice.done, ...globs]
      if (choice.before.length * endings.length > maxAlternatives) return { problem: `its braces stand for more than ${maxAlternatives} globs` }
      globs = choice.before.flatMap((start) => endings.map((end) => start + end))
    } else append(character)
  }
  return stack.length > 0 ? { problem: 'a "{" has no closing "}"' } : { globs }
}

/** The index of the `]` that closes the class at `start`; a `]` right after the beginning belongs to the class. */
function classEnd(glob: string, start: number): number {
  const first = /[!^]/.test(glob[start + 1] ?? '') ? start + 2 : start + 1
  return glob.indexOf(']', first + 1)
}

function parsePattern(glob: string): Pattern | { readonly problem: string } {
  const names = splitNames(glob.replace(/^\.\//, ''))
  const isAnchored = names.length > 1
  if (isAnchored && names[0] === '') names.shift()
  const segments: (NameMatcher | null)[] = isAnchored ? [] : [null]
  for (const name of names) {
    const matcher = name === '**' ? null : compileName(name)
    if (matcher !== null && typeof matcher !== 'function') return matcher
    segments.push(matcher)
  }
  // `a/**` means what is below `a`, not `a` itself.
  if (segments.at(-1) === null) segments.push(() => true)
  return { segments }
}

/** At each `/` that does not stand in a class. */
function splitNames(glob: string): string[] {
  const names: string[] = []
  let start = 0
  for (let at = 0; at < glob.length; at++) {
    if (glob[at] === '\\') at++
    else if (glob[at] === '[') at = classEnd(glob, at)
    else if (glob[at] === '/') {
      names.push(glob.slice(start, at))
      start = at + 1
    }
  }
  return [...names, glob.slice(start)]
}

type Unit = 'star' | ((character: string) => boolean)

/** Only the last wildcard has to be tried again: whatever an earlier one could take, it can leave to a later one. */
function matchesNames({ segments }: Pattern, names: readonly string[]): boolean {
  return matchesWithStars(
    segments,
    names,
    (segment) => segment === null,
    (segment, name) => (segment as NameMatcher)(name),
  )
}

function compileName(glob: string): NameMatcher | { readonly problem: string } {
  // The common forms do without units.
  const simple = /^(\*?)([^*?[\\]*)(\*?)$/.exec(glob)
  if (simple) {
    const [, leads, text = '', trails] = simple
    if (leads && trails) return (name) => name.includes(text)
    if (leads) return (name) => name.endsWith(text)
    return trails ? (name) => name.startsWith(text) : (name) => name === text
  }
  const units: Unit[] = []
  for (let at = 0; at < glob.length; ) {
    const character = characterAt(glob, at)
    at += character.length
    if (character === '*') units.push('star')
    else if (character === '?') units.push(() => true)
    else if (character === '[') {
      const end = classEnd(glob, at - 1)
      const set = compileClass(glob.slice(at, end))
      if ('problem' in set) return set
      units.push(set.matches)
      at = end + 1
    } else {
      const literal = character === '\\' ? characterAt(glob, at) : character
      if (character === '\\') at += literal.length
      units.push((one) => one === literal)
    }
  }
  return (name) =>
    matchesWithStars(
      units,
      charactersOf(name),
      (unit) => unit === 'star',
      (unit, one) => unit !== 'star' && unit(one),
    )
}

const charactersOf = (text: string) => Array.from(text)
const characterAt = (text: string, at: number) => String.fromCodePoint(text.codePointAt(at)!)

function compileClass(text: string): { readonly matches: (character: string) => boolean } | { readonly problem: string } {
  const isNegated = /^[!^]/.test(text)
  const characters = charactersOf(isNegated ? text.slice(1) : text)
  const ranges: [number, number][] = []
  for (let at = 0; at < characters.length; at++) {
    const from = characters[at]!.codePointAt(0)!
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length
    const to = isRange ? characters[at + 2]!.codePointAt(0)! : from
    if (to < from) return { problem: `the range "${characters.slice(at, at + 3).join('')}" runs backwards` }
    ranges.push([from, to])
    if (isRange) at += 2
  }
  return {
    matches: (character) => {
      const point = character.codePointAt(0)!
      return ranges.some(([from, to]) => from <= point && point <= to) !== isNegated
    },
  }
}

function matchesWithStars<U, T>(units: readonly U[], items: readonly T[], isStar: (unit: U) => boolean, matches: (unit: U, item: T) => boolean): boolean {
  let unitAt = 0
  let starAt = -1
  let resumeAt = 0
  for (let at = 0; at < items.length; ) {
    const unit = units[unitAt]
    if (unit !== undefined && isStar(unit)) {
      starAt = unitAt++
      resumeAt = at
    } else if (unit !== undefined && matches(unit, items[at]!)) {
      unitAt++
      at++
    } else if (starAt >= 0) {
      unitAt = starAt + 1
      at = ++resumeAt
    } else return false
  }
  while (unitAt < units.length && isStar(units[unitAt]!)) unitAt++
  return unitAt === units.length
}
