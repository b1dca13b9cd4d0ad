import { numberedLines } from './snippet.ts'

const MAX_REGION_LINES = 30
const MARGIN_LINES = 2

/**
 * Why `wanted` does not stand in `text`, with the nearest region and its line numbers, so that the next try can be right.
 *
 * All texts have `\n` line ends.
 */
export function explainMiss({ path, text, wanted, replacement }: { readonly path: string; readonly text: string; readonly wanted: string; readonly replacement: string }): string {
  const head = `old_string was not found in ${path}. Nothing was changed.`
  const lineCount = wanted.replace(/\n$/, '').split('\n').length
  if (replacement !== '' && replacement.trim() !== '' && text.includes(replacement)) {
    const line = text.slice(0, text.indexOf(replacement)).split('\n').length
    return `${head} new_string stands there already, at line ${line}: the edit may have been made before.`
  }
  const unnumbered = wanted.replace(/^ *\d+[:\t|] ?/gm, '')
  if (unnumbered !== wanted && text.includes(unnumbered)) return `${head} It has the line numbers that read shows in front of each line; leave them out.`
  const unescaped = wanted.replaceAll('\\n', '\n').replaceAll('\\t', '\t').replaceAll('\\"', '"')
  if (unescaped !== wanted && text.includes(unescaped)) return `${head} It has escape sequences such as \\n written out, where the file has the characters themselves.`
  const near = nearlyTheSame(text, wanted) ?? mostAlike(text, wanted)
  if (near === undefined) return `${head} No part of the file resembles it. Read the file again before the next edit.`
  return `${head} ${near.difference} The nearest region:\n${region(text, near.line, lineCount)}`
}

interface Near {
  /** 1-based first line. */
  readonly line: number
  readonly difference: string
}

/** What is forgiven, one thing more at each step, to name the difference; each step keeps the number of lines. */
const FORGIVING: readonly { readonly difference: string; readonly forgive: (text: string) => string }[] = [
  { difference: 'Only white space at line ends differs.', forgive: (text) => text.replace(/[ \t]+$/gm, '') },
  { difference: 'Only the indentation differs (spaces, tabs or their number).', forgive: (text) => text.replace(/^[ \t]+/gm, '') },
  { difference: 'Only white space inside lines differs.', forgive: (text) => text.replace(/[^\S\n]+/g, '') },
  {
    difference: 'Only typographic characters differ (quotation marks, dashes, ellipses or accents).',
    forgive: (text) =>
      text
        .normalize('NFC')
        .replace(/[\u2018\u2019\u201a\u2032]/g, "'")
        .replace(/[\u201c\u201d\u201e\u2033\u00ab\u00bb]/g, '"')
        .replace(/[\u2010-\u2015\u2212]/g, '-')
        .replaceAll('\u2026', '...'),
  },
  { difference: 'Only upper and lower case differs.', forgive: (text) => text.toLowerCase() },
]

function nearlyTheSame(text: string, wanted: string): Near | undefined {
  let [forgivenText, forgivenWanted] = [text, wanted]
  for (const { difference, forgive } of FORGIVING) {
    forgivenText = forgive(forgivenText)
    forgivenWanted = forgive(forgivenWanted)
    if (forgivenWanted.trim() === '') return undefined
    const at = forgivenText.indexOf(forgivenWanted)
    if (at >= 0) return { line: forgivenText.slice(0, at).split('\n').length, difference }
  }
  return undefined
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
