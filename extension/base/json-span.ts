/** A place in a text: UTF-16 offsets, end exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Where the value at `path` stands in a JSON text, so that it can be changed without touching a character around it.
 *
 * Shape:  undefined when there is no such value. Of equal keys the last counts, as it does for `JSON.parse`.
 * Source: the text has to be one that `JSON.parse` takes; others give a place of no meaning.
 */
export function jsonSpan(json: string, path: readonly (string | number)[]): Span | undefined {
  let at = { start: skipSpace(json, 0), end: 0 }
  at = { ...at, end: endOfValue(json, at.start) }
  for (const step of path) {
    const next = typeof step === 'number' ? elementSpans(json, at)[step] : memberSpan(json, at, step)
    if (next === undefined) return undefined
    at = next
  }
  return at
}

/** The elements of the array that stands at `at`; none where no array stands. */
export function elementSpans(json: string, { start }: Span): readonly Span[] {
  if (json[start] !== '[') return []
  const spans: Span[] = []
  for (let from = skipSpace(json, start + 1); json[from] !== ']' && from < json.length; ) {
    const end = endOfValue(json, from)
    spans.push({ start: from, end })
    from = afterComma(json, end)
  }
  return spans
}

function memberSpan(json: string, { start }: Span, key: string): Span | undefined {
  if (json[start] !== '{') return undefined
  let found: Span | undefined
  for (let from = skipSpace(json, start + 1); json[from] !== '}' && from < json.length; ) {
    const keyEnd = endOfString(json, from)
    const valueStart = skipSpace(json, skipSpace(json, keyEnd) + 1)
    const end = endOfValue(json, valueStart)
    if (JSON.parse(json.slice(from, keyEnd)) === key) found = { start: valueStart, end }
    from = afterComma(json, end)
  }
  return found
}

function skipSpace(json: string, from: number): number {
  let at = from
  while (json[at] === ' ' || json[at] === '\n' || json[at] === '\r' || json[at] === '\t') at += 1
  return at
}

function afterComma(json: string, end: number): number {
  const at = skipSpace(json, end)
  return json[at] === ',' ? skipSpace(json, at + 1) : at
}

function endOfString(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}

/** Brackets are counted, strings passed over whole; what is in them does not matter. */
function endOfValue(json: string, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; ) {
    const character = json[at]
    if (character === '"') at = endOfString(json, at)
    else {
      if (character === '{' || character === '[') depth += 1
      else if (character === '}' || character === ']') depth -= 1
      else if (depth === 0) {
        while (at < json.length && !/[\s,\]}]/.test(json[at] ?? '')) at += 1
        return at
      }
      at += 1
    }
    if (depth === 0) return at
  }
  return json.length
}
