import { TextLines, type TextPlace } from '../../base/text-places.ts'
import { ToolError } from '../../core/tools/definition.ts'

/** Which place of a file a call means, as its arguments say it. */
export interface AskedPlace {
  /** 1-based; undefined where only a name was given. */
  readonly line: number | undefined
  readonly character: number
  readonly symbol: string | undefined
  readonly nearLine: number | undefined
}

export interface FoundPlace {
  readonly position: TextPlace
  /** Of the symbol, or of the rest of the line. */
  readonly end: TextPlace
  /** What was meant instead of what was asked. */
  readonly note?: string
}

/** Places of an ambiguous name that are listed. */
const MAX_LISTED = 20
const MAX_SHOWN_LINE = 200

/**
 * The place that is meant, zero-based and held to the text: in the named line, or wherever the name stands.
 *
 * `declared` gives the places where a name is declared; it is asked only where the text leaves several.
 * Errors: `ToolError` `INVALID_ARGS` for a line that is not there, a name that is not, or one that stands in several places.
 */
export async function findPlace(text: string, asked: AskedPlace, declared: () => Promise<readonly TextPlace[]>): Promise<FoundPlace> {
  const lines = new TextLines(text)
  const { line, character, symbol, nearLine } = asked
  if (symbol !== undefined) {
    if (symbol === '') throw invalid('symbol is empty. Give the name that is meant, or leave it out.')
    const inLine = line === undefined || nearLine !== undefined ? undefined : offsetInLine(lines, line - 1, symbol)
    const offset = inLine ?? (await offsetInFile({ text, lines, symbol, line, nearLine, declared }))
    const position = lines.placeOf(offset)
    const isElsewhere = line !== undefined && position.line !== line - 1
    return { position, end: lines.placeOf(offset + symbol.length), ...(isElsewhere && { note: `${JSON.stringify(symbol)} stands in line ${position.line + 1}, so that was asked about.` }) }
  }
  const row = line === undefined ? undefined : lines.line(line - 1)
  if (line === undefined || row === undefined) throw invalid(`line is ${line ?? 'missing'}, and the file has ${lines.count} ${lines.count === 1 ? 'line' : 'lines'}. Read it again.`)
  const end = { line: line - 1, character: row.length }
  if (character - 1 <= row.length) return { position: { line: line - 1, character: character - 1 }, end }
  return { position: end, end, note: `Line ${line} has ${row.length} characters, so its end was asked about, not character ${character}.` }
}

function offsetInLine(lines: TextLines, line: number, symbol: string): number | undefined {
  const row = lines.line(line)
  if (row === undefined) return undefined
  const at = wholeWords(row, symbol)[0] ?? row.indexOf(symbol)
  return at < 0 ? undefined : lines.offsetOf({ line, character: at })
}

interface Search extends Pick<AskedPlace, 'line' | 'nearLine'> {
  readonly text: string
  readonly lines: TextLines
  readonly symbol: string
  readonly declared: () => Promise<readonly TextPlace[]>
}

async function offsetInFile({ text, lines, symbol, line, nearLine, declared }: Search): Promise<number> {
  const found = wholeWords(text, symbol)
  if (found.length === 0) throw invalid(`${JSON.stringify(symbol)} does not stand in the file${line === undefined ? '' : `, neither in line ${line}: ${shown(lines, line - 1)}`}`)
  const rows = [...new Set(found.map((offset) => lines.placeOf(offset).line))]
  if (nearLine !== undefined) return nearest(found, lines, nearLine)
  if (rows.length === 1) return found[0] ?? 0
  // Where it is declared only once, that is the one that every other place means as well.
  const places = (await declared()).map((place) => found.find((offset) => offset >= lines.offsetOf(place)))
  if (places.length === 1 && places[0] !== undefined) return places[0]
  const listed = rows.slice(0, MAX_LISTED).map((row) => `  ${row + 1}: ${shown(lines, row)}`)
  const more = rows.length - listed.length
  throw invalid(`${JSON.stringify(symbol)} stands in ${rows.length} lines. Give line, or near_line for the nearest:\n${listed.join('\n')}${more > 0 ? `\n  and ${more} more` : ''}`)
}

function nearest(offsets: readonly number[], lines: TextLines, line: number): number {
  const distance = (offset: number) => Math.abs(lines.placeOf(offset).line - (line - 1))
  return offsets.toSorted((one, other) => distance(one) - distance(other))[0] ?? 0
}

/** Offsets at which the name stands by itself, not as a part of a longer one. */
function wholeWords(text: string, symbol: string): readonly number[] {
  const [first = '', last = ''] = [symbol.at(0), symbol.at(-1)]
  const isWord = (char: string) => /[\p{L}\p{N}_$]/u.test(char)
  const found: number[] = []
  for (let at = text.indexOf(symbol); at >= 0; at = text.indexOf(symbol, at + symbol.length)) {
    const isPart = (isWord(first) && at > 0 && isWord(text.charAt(at - 1))) || (isWord(last) && isWord(text.charAt(at + symbol.length)))
    if (!isPart) found.push(at)
  }
  return found
}

const shown = (lines: TextLines, line: number) => (lines.line(line) ?? '').trim().slice(0, MAX_SHOWN_LINE)

const invalid = (message: string) => new ToolError('INVALID_ARGS', message)
