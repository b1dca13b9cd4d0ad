export interface Fitted {
  readonly text: string
  /** UTF-8 bytes that were left out; 0 when nothing was cut. */
  readonly omittedBytes: number
}

/** UTF-8 bytes of `text`. A lone surrogate counts as the three bytes of its replacement character. */
export function utf8Length(text: string): number {
  let bytes = text.length
  // Most texts are plain, and a search finds that out far sooner than a walk over its units.
  const first = text.search(/[\u0080-\uffff]/)
  if (first === -1) return bytes
  for (let index = first; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    // Both halves of a pair give four bytes together: two for each unit.
    else if (isPairAt(text, index)) {
      bytes += 2
      index++
    } else bytes += 2
  }
  return bytes
}

/** A line to show of at most `maxLength` UTF-16 units, with `…` at its end where it was cut, never inside a character. */
export function clipped(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const kept = text.slice(0, Math.max(0, maxLength - 1))
  // Half a pair at the end goes with its other half.
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`
}

/**
 * The longest start of `text` that fits `maxBytes`, never cut inside a character.
 *
 * Units:  UTF-8 bytes.
 * Errors: `RangeError` for a cap that is negative or no number.
 */
export function fitBytes(text: string, maxBytes: number): Fitted {
  checkCap(maxBytes)
  if (text.length * 3 <= maxBytes) return { text, omittedBytes: 0 }
  const end = headEnd(text, maxBytes)
  return { text: text.slice(0, end), omittedBytes: end === text.length ? 0 : utf8Length(text.slice(end)) }
}

/** The longest end of `text` that fits `maxBytes`; otherwise as `fitBytes`. */
export function fitTailBytes(text: string, maxBytes: number): Fitted {
  checkCap(maxBytes)
  if (text.length * 3 <= maxBytes) return { text, omittedBytes: 0 }
  const start = tailStart(text, maxBytes)
  return { text: text.slice(start), omittedBytes: start === 0 ? 0 : utf8Length(text.slice(0, start)) }
}

/**
 * Both ends of `text`, when the whole does not fit `headBytes` and `tailBytes` together.
 *
 * Shape: `{ head, tail, omittedBytes }`; a text that fits is all in `head`.
 */
export function fitEnds(
  text: string,
  caps: { readonly headBytes: number; readonly tailBytes: number },
): { readonly head: string; readonly tail: string; readonly omittedBytes: number } {
  checkCap(caps.headBytes)
  checkCap(caps.tailBytes)
  const whole = fitBytes(text, caps.headBytes + caps.tailBytes)
  if (whole.omittedBytes === 0) return { head: text, tail: '', omittedBytes: 0 }
  const end = headEnd(text, caps.headBytes)
  const start = Math.max(end, tailStart(text, caps.tailBytes))
  return { head: text.slice(0, end), tail: text.slice(start), omittedBytes: utf8Length(text.slice(end, start)) }
}

function checkCap(maxBytes: number): void {
  if (!(maxBytes >= 0)) throw new RangeError(`A cap of ${maxBytes} bytes makes no sense: give 0 or more.`)
}

/** Number of UTF-16 units from the start that fit. */
function headEnd(text: string, maxBytes: number): number {
  let bytes = 0
  let index = 0
  while (index < text.length) {
    const isPair = isPairAt(text, index)
    bytes += isPair ? 4 : unitBytes(text.charCodeAt(index))
    if (bytes > maxBytes) return index
    index += isPair ? 2 : 1
  }
  return index
}

/** First UTF-16 unit from which the rest fits. */
function tailStart(text: string, maxBytes: number): number {
  let bytes = 0
  let index = text.length
  while (index > 0) {
    const isPair = index > 1 && isPairAt(text, index - 2)
    bytes += isPair ? 4 : unitBytes(text.charCodeAt(index - 1))
    if (bytes > maxBytes) return index
    index -= isPair ? 2 : 1
  }
  return 0
}

const unitBytes = (unit: number): number => (unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3)

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

function isPairAt(text: string, index: number): boolean {
  return isHighSurrogate(text.charCodeAt(index)) && index + 1 < text.length && isLowSurrogate(text.charCodeAt(index + 1))
}
