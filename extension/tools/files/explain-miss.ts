import { lineOf, linesOf } from './line-ends.ts'
import { numberedLines } from './snippet.ts'

const MAX_REGION_LINES = 30
const MARGIN_LINES = 2

/** What an edit looked for in vain. All texts have the line ends that the search had. */
export interface Miss {
  readonly path: string
  readonly text: string
  readonly wanted: string
  readonly replacement: string
  /** Names of the arguments, as the model gave them. */
  readonly names: { readonly wanted: string; readonly replacement: string }
}

/** Why `wanted` does not stand in `text`, with the nearest region and its line numbers, so that the next try can be right. */
export function explainMiss({ path, text, wanted, replacement, names }: Miss): string {
  const head = `${names.wanted} was not found in ${path}. Nothing was changed.`
  const lineCount = wanted.replace(/\n$/, '').split('\n').length
  const unnumbered = wanted.replace(/^ *\d+[:\t|] ?/gm, '')
  if (unnumbered !== wanted && text.includes(unnumbered)) return `${head} It has the line numbers that read shows in front of each line; leave them out.`
  const unescaped = wanted.replaceAll('\\n', '\n').replaceAll('\\t', '\t').replaceAll('\\"', '"')
  if (unescaped !== wanted && text.includes(unescaped)) return `${head} It has escape sequences such as \\n written out, where the file has the characters themselves.`
  const nearly = otherLineEnds(text, wanted, names.wanted) ?? nearlyTheSame(text, wanted, names.wanted)
  const made = madeBefore(text, { replacement, nearly })
  if (made?.isNearest === true) {
    const shown = region(text, made.line, replacement.replace(/\n$/, '').split('\n').length)
    return `${head} ${names.replacement} stands there already, at line ${made.line}: the edit may have been made before. The nearest region:\n${shown}`
  }
  const near = nearly ?? mostAlike(text, wanted)
  if (near === undefined) return `${head} No part of the file resembles it. Read the file again before the next edit.`
  const elsewhere = made === undefined ? '' : ` (${names.replacement} stands in the file already, at line ${made.line}.)`
  return `${head} ${near.difference}${elsewhere} The nearest region:\n${region(text, near.line, lineCount)}`
}

/** Characters without which a text may stand anywhere by chance. */
const TELLING_CHARS = 8

const isTelling = (text: string) => bare(text).length >= TELLING_CHARS

/** Where the replacement stands already. `isNearest`: nowhere else stands what is nearly the text that was looked for. */
function madeBefore(text: string, { replacement, nearly }: { readonly replacement: string; readonly nearly: Near | undefined }): { readonly line: number; readonly isNearest: boolean } | undefined {
  const at = isTelling(replacement) ? text.indexOf(replacement) : -1
  if (at < 0) {
    const line = nearly === undefined ? wholeLine(text, replacement) : undefined
    return line === undefined ? undefined : { line, isNearest: true }
  }
  const [first = 1, last = 1] = linesOf(text, [at, at + replacement.length])
  return { line: first, isNearest: nearly === undefined || (nearly.line >= first && nearly.line <= last) }
}

/** 1-based line that is this very text, and nothing else but white space. A bracket alone is no answer. */
function wholeLine(text: string, wanted: string): number | undefined {
  const sought = wanted.trim()
  const at = sought.includes('\n') || (sought.match(/[\p{L}\p{N}]/gu) ?? []).length < 2 ? -1 : text.split('\n').findIndex((line) => line.trim() === sought)
  return at < 0 ? undefined : at + 1
}

interface Near {
  /** 1-based first line. */
  readonly line: number
  readonly difference: string
}

/** One kind of difference. What is left when it is forgiven has as many lines as before. A pattern begins at the start of a run alone: from each of its places, a long run would be looked at again. */
interface Forgiven {
  readonly what: string
  readonly isPlural?: true
  readonly forgive: (text: string) => string
}

const INDENTATION = 'indentation'

const FORGIVEN: readonly Forgiven[] = [
  {
    what: 'typographic characters (quotes, dashes, ellipses, accents, special spaces)',
    isPlural: true,
    forgive: (text) =>
      text
        .normalize('NFC')
        .replace(/[\u2018\u2019\u201a\u2032]/g, "'")
        .replace(/[\u201c\u201d\u201e\u2033\u00ab\u00bb]/g, '"')
        .replace(/[\u2010-\u2015\u2212]/g, '-')
        .replace(/[\u00a0\u2002-\u200a\u202f\u3000]/g, ' ')
        .replaceAll('\u2026', '...'),
  },
  { what: 'white space at line ends', forgive: (text) => text.replace(/(?<![ \t])[ \t]+$/gm, '') },
  { what: INDENTATION, forgive: (text) => text.replace(/^[ \t]+/gm, '') },
  { what: 'white space inside lines', forgive: (text) => text.replace(/(?<=\S)[ \t]+(?=\S)/g, '') },
  { what: 'upper and lower case', forgive: (text) => text.toLowerCase() },
]

/** The place that is the same but for kinds of difference that are easily overlooked, with those that it takes. */
function nearlyTheSame(text: string, wanted: string, name: string): Near | undefined {
  for (const kinds of [...FORGIVEN.map((kind) => [kind]), FORGIVEN]) {
    const found = placeOf(text, wanted, kinds)
    if (found === undefined) continue
    const needed = kinds.filter((kind) => kinds.length === 1 || placeOf(text, wanted, kinds.filter((other) => other !== kind)) === undefined)
    const [only] = needed
    if (needed.length === 1 && only?.what === INDENTATION) return { line: found, difference: indentationBetween(text, wanted, { line: found, name }) }
    const words = needed.map(({ what }) => what)
    const difference = words.length === 1 ? `Only ${words.join('')} ${only?.isPlural === true ? 'differ' : 'differs'}.` : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''} differ.`
    return { line: found, difference: `${difference.charAt(0).toUpperCase()}${difference.slice(1)}` }
  }
  return undefined
}

/** 1-based line of the first place that is the same once `kinds` are forgiven. */
function placeOf(text: string, wanted: string, kinds: readonly Forgiven[]): number | undefined {
  const forgive = (whole: string) => kinds.reduce((rest, kind) => kind.forgive(rest), whole)
  const sought = forgive(wanted)
  if (sought.trim() === '') return undefined
  const forgiven = forgive(text)
  const at = forgiven.indexOf(sought)
  return at < 0 ? undefined : lineOf(forgiven, at)
}

/** What is meant by "the indentation differs" at a place: the characters where those are another kind, else their number. */
function indentationBetween(text: string, wanted: string, { line, name }: { readonly line: number; readonly name: string }): string {
  const sought = wanted.split('\n')
  const there = text.split('\n').slice(line - 1, line - 1 + sought.length)
  const [inFile, inWanted] = [there, sought].map((lines) => lines.map((each) => /^[ \t]*/.exec(each)?.[0] ?? '').join(''))
  const kind = (indents: string | undefined) => (indents === undefined || indents === '' ? null : /^ +$/.test(indents) ? 'spaces' : /^\t+$/.test(indents) ? 'tabs' : 'tabs and spaces')
  const [fileKind, wantedKind] = [kind(inFile), kind(inWanted)]
  if (fileKind === null || wantedKind === null || fileKind === wantedKind) return 'Only the indentation differs.'
  return `Only the indentation differs: the file has ${fileKind} there, ${name} has ${wantedKind}.`
}

/** The place that is the same but for its line ends. */
function otherLineEnds(text: string, wanted: string, name: string): Near | undefined {
  const oneKind = (whole: string) => whole.replace(/\r\n?/g, '\n')
  const [plain, sought] = [oneKind(text), oneKind(wanted)]
  const at = plain === text && sought === wanted ? -1 : plain.indexOf(sought)
  if (at < 0) return undefined
  // A CR alone is a line end here, but none of the lines that are counted.
  const breaksBefore = lineOf(plain, at) - 1
  const breaks = [...text.matchAll(/\r\n?|\n/g)]
  const start = breaksBefore === 0 ? 0 : (breaks[breaksBefore - 1]?.index ?? 0) + (breaks[breaksBefore - 1]?.[0].length ?? 0)
  const kinds = [...new Set(breaks.slice(breaksBefore, breaksBefore + lineOf(sought, sought.length) + 1).map(([end]) => (end === '\n' ? 'LF' : end === '\r' ? 'CR alone' : 'CRLF')))]
  return { line: lineOf(text, start), difference: `Only line ends differ: the lines there end in ${kinds.join(' and ') || 'nothing'}, those of ${name} do not.` }
}

/** The place where the most lines of `wanted` stand in their order, or failing that the line that shares most with its longest line. */
function mostAlike(text: string, wanted: string): Near | undefined {
  const [lines, sought] = [text.split('\n').map(bare), wanted.split('\n').map(bare)]
  const start = mostVoted(lines, sought)
  if (start === undefined) return likestLine(lines, sought)
  const differing = sought.findIndex((line, index) => line !== lines[start + index])
  const line = Math.max(0, start) + 1
  return { line, difference: `It differs from line ${start + Math.max(0, differing) + 1} on.` }
}

const bare = (line: string) => line.replace(/\s+/g, '')

/** 0-based line at which `sought` would start, by how many of its lines stand at their place from there; the first of equals. */
function mostVoted(lines: readonly string[], sought: readonly string[]): number | undefined {
  const places = new Map<string, number[]>()
  for (const [index, line] of sought.entries()) if (line.length > 2) places.set(line, [...(places.get(line) ?? []), index])
  const votes = new Map<number, number>()
  for (const [index, line] of lines.entries()) {
    for (const place of places.get(line) ?? []) votes.set(index - place, (votes.get(index - place) ?? 0) + 1)
  }
  let best: { readonly start: number; readonly count: number } | undefined
  for (const [start, count] of votes) if (best === undefined || count > best.count || (count === best.count && start < best.start)) best = { start, count }
  return best?.start
}

function likestLine(lines: readonly string[], sought: readonly string[]): Near | undefined {
  const [index, longest] = [...sought.entries()].sort(([, a], [, b]) => b.length - a.length)[0] ?? [0, '']
  const pairs = pairsOf(longest)
  if (pairs.size < 3) return undefined
  let best: { readonly line: number; readonly share: number } | undefined
  for (const [at, line] of lines.entries()) {
    // Lengths far apart cannot share much, and need no look.
    if (line.length * 2 < longest.length || line.length > longest.length * 3) continue
    const other = pairsOf(line)
    let common = 0
    for (const pair of pairs) if (other.has(pair)) common += 1
    const share = (2 * common) / (pairs.size + other.size)
    if (share > (best?.share ?? 0.5)) best = { line: at, share }
  }
  return best && { line: Math.max(0, best.line - index) + 1, difference: `Line ${best.line + 1} is the most alike.` }
}

function pairsOf(line: string): ReadonlySet<string> {
  const pairs = new Set<string>()
  for (let at = 0; at + 2 <= line.length; at += 1) pairs.add(line.slice(at, at + 2))
  return pairs
}

function region(text: string, line: number, lineCount: number): string {
  const first = Math.max(1, line - MARGIN_LINES)
  return numberedLines(text, first, Math.min(MAX_REGION_LINES, line - first + lineCount + MARGIN_LINES))
}
