import type { TextMatch } from '../../capabilities/search.ts'

/** Cuts a stream of bytes at each `separator`; a piece is copied once, however many chunks it came in. */
class Cutter {
  readonly #separator: number
  #parts: Uint8Array[] = []

  constructor(separator: number) {
    this.#separator = separator
  }

  /** The pieces that are complete, still joined by separators; null while there is none. */
  push(chunk: Uint8Array): Buffer | null {
    const end = chunk.lastIndexOf(this.#separator)
    if (end < 0) {
      // A copy: the caller may use the memory again.
      this.#parts.push(new Uint8Array(chunk))
      return null
    }
    const whole = Buffer.concat([...this.#parts, chunk.subarray(0, end)])
    this.#parts = end + 1 < chunk.length ? [new Uint8Array(chunk.subarray(end + 1))] : []
    return whole
  }
}

/** Cuts what `rg --files --null` prints into names; names that are not valid UTF-8 are only counted. */
export class NameReader {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  readonly #cutter = new Cutter(0)
  skipped = 0

  push(chunk: Uint8Array): readonly string[] {
    const whole = this.#cutter.push(chunk)
    return whole === null ? [] : (this.#decode(whole)?.split('\0') ?? this.#oneByOne(whole))
  }

  #oneByOne(bytes: Uint8Array): readonly string[] {
    const names: string[] = []
    for (let start = 0; start <= bytes.length; ) {
      const found = bytes.indexOf(0, start)
      const end = found < 0 ? bytes.length : found
      const name = this.#decode(bytes.subarray(start, end))
      if (name === null) this.skipped++
      else names.push(name)
      start = end + 1
    }
    return names
  }

  #decode(bytes: Uint8Array): string | null {
    try {
      return this.#decoder.decode(bytes)
    } catch {
      // The decoder's only way to say that the bytes are not UTF-8.
      return null
    }
  }
}

/** Cuts a stream of bytes into lines, without their line end. */
export class LineReader {
  readonly #cutter = new Cutter(10)

  push(chunk: Uint8Array): readonly string[] {
    return this.#cutter.push(chunk)?.toString().split('\n') ?? []
  }
}

/** Text that is valid UTF-8 stands as `text`, other bytes in Base64. Source: ripgrep's `--json` format, "arbitrary data". */
type ArbitraryData = { readonly text: string } | { readonly bytes: string }

interface LineRecord {
  readonly type: 'match' | 'context'
  readonly data: {
    readonly path: ArbitraryData
    readonly lines: ArbitraryData
    readonly line_number: number | null
    readonly submatches?: readonly { readonly start: number }[]
  }
}

/** Collects the matches that `rg --json` prints, by file. */
export class MatchCollector {
  readonly #accepts: (path: string) => boolean
  readonly #byPath = new Map<string, TextMatch[] | null>()
  readonly #skippedNames = new Set<string>()
  malformedRecords = 0

  constructor(accepts: (path: string) => boolean) {
    this.#accepts = accepts
  }

  get skippedNames(): number {
    return this.#skippedNames.size
  }

  push(line: string): void {
    // Most records are matches; the others only frame them.
    if (line.startsWith(matchStart) && this.#pushQuickly(line)) return
    if (!line.startsWith('{"type":"match"') && !line.startsWith('{"type":"context"')) return
    const record = parseRecord(line)
    if (!record) {
      this.malformedRecords++
      return
    }
    const { type, data } = record
    if (!('text' in data.path)) {
      this.#skippedNames.add(data.path.bytes)
      return
    }
    this.#add(data.path.text, data.line_number ?? 1, linesOf(data.lines), type === 'context' ? null : (data.submatches?.[0]?.start ?? null), type === 'context')
  }

  /**
   * Takes the usual record apart without parsing it, which would mostly build positions that nobody asks for.
   * The separators cannot stand inside a JSON string, where quotes are escaped. False for any other record.
   */
  #pushQuickly(line: string): boolean {
    const pathEnd = line.indexOf('"},"lines":{"text":"', matchStart.length)
    const textStart = pathEnd + 20
    const textEnd = pathEnd < 0 ? -1 : line.indexOf('"},"line_number":', textStart)
    const number = textEnd < 0 ? Number.NaN : Number.parseInt(line.slice(textEnd + 17, textEnd + 27), 10)
    const startAt = textEnd < 0 ? -1 : line.indexOf('},"start":', textEnd)
    const start = startAt < 0 ? Number.NaN : Number.parseInt(line.slice(startAt + 10, startAt + 20), 10)
    if (!(number > 0)) return false
    const rawPath = line.slice(matchStart.length, pathEnd)
    const rawText = line.slice(textStart, textEnd)
    const path = rawPath.includes('\\') ? unescapeText(rawPath) : rawPath
    const isPlain = rawText.indexOf('\\') === rawText.length - 2 && rawText.endsWith('\\n')
    const text = isPlain ? null : unescapeText(rawText)
    if (path === null || (!isPlain && text === null)) return false
    this.#add(path, number, text === null ? [rawText.slice(0, -2)] : linesOf({ text }), Number.isNaN(start) ? null : start)
    return true
  }

  /** `start`: bytes before the first match; null for context, and in the odd record without one. */
  #add(path: string, first: number, lines: readonly (string | null)[], start: number | null, isContext = false): void {
    const matches = this.#matchesOf(path)
    if (!matches) return
    for (const [index, line] of lines.entries()) {
      const column = index > 0 || start === null || line === null ? null : columnOf(line, start)
      matches.push({ path, lineNumber: first + index, line, isContext, ...(column !== null && { column }) })
    }
  }

  /** Sorted by path, then line. */
  matches(): readonly TextMatch[] {
    return [...this.#byPath]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, matches]) => matches ?? [])
  }

  #matchesOf(path: string): TextMatch[] | null {
    const known = this.#byPath.get(path)
    if (known !== undefined) return known
    const fresh = this.#accepts(path) ? [] : null
    this.#byPath.set(path, fresh)
    return fresh
  }
}

/** Most lines hold one byte a character, as far as the match begins. */
function columnOf(line: string, startByte: number): number {
  const before = line.slice(0, startByte)
  // oxlint-disable-next-line no-control-regex
  return /^[\0-\x7f]*$/.test(before) ? Math.min(startByte, line.length) + 1 : Buffer.from(line).subarray(0, startByte).toString().length + 1
}

const matchStart = '{"type":"match","data":{"path":{"text":"'

function unescapeText(raw: string): string | null {
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    // Left to the parser of whole records, which counts what it cannot understand.
    return null
  }
}

function parseRecord(line: string): LineRecord | null {
  try {
    const { type, data } = JSON.parse(line) as Partial<LineRecord>
    return (type === 'match' || type === 'context') && data?.path && data.lines ? { type, data } : null
  } catch {
    // Counted by the caller: one odd record does not fail a search.
    return null
  }
}

/** A multi-line match is several lines; one that is not valid UTF-8 is null. */
function linesOf(data: ArbitraryData): readonly (string | null)[] {
  if ('text' in data) return withoutLastEnd(data.text.split('\n')).map(withoutCarriageReturn)
  const lines = withoutLastEnd(Buffer.from(data.bytes, 'base64').toString('latin1').split('\n'))
  return lines.map((line) => {
    const bytes = Buffer.from(line, 'latin1')
    const text = bytes.toString()
    return Buffer.from(text).equals(bytes) ? withoutCarriageReturn(text) : null
  })
}

const withoutLastEnd = (lines: readonly string[]) => (lines.at(-1) === '' ? lines.slice(0, -1) : lines)
const withoutCarriageReturn = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line)
