/** How a phrase is looked for. `words`: whole words. `prefix`: its last word may go on, as while it is typed. `substring`: any part of the words. */
export type MatchMode = 'words' | 'prefix' | 'substring'

/** UTF-16 units of one word that count; what is longer is no word but data. */
const MAX_WORD_CHARS = 128
/** Scripts that put no blanks between words: there each character is a word. */
const unspaced = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]'
const word = new RegExp(`${unspaced}|(?:(?!${unspaced})[\\p{L}\\p{N}\\p{M}])+`, 'gu')
// The characters are what the pattern is about.
// oxlint-disable-next-line no-control-regex
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/**
 * The words of a text as search compares them: small letters without accents, one blank between two, none at the ends.
 *
 * Everything that searches folds by this one function, so that all of it finds the same.
 */
export function foldWords(text: string): string {
  if (isAscii(text)) {
    const folded = text.toLowerCase().replace(/[^a-z0-9]+/g, ' ').trim()
    return hasLongWord(folded) ? folded.replace(/([a-z0-9]{128})[a-z0-9]+/g, '$1') : folded
  }
  return (text.match(word) ?? []).map(foldWord).filter((folded) => folded !== '').join(' ')
}

function hasLongWord(folded: string): boolean {
  for (let from = 0; from < folded.length; ) {
    const end = folded.indexOf(' ', from)
    if ((end < 0 ? folded.length : end) - from > MAX_WORD_CHARS) return true
    if (end < 0) return false
    from = end + 1
  }
  return false
}

/** Number of times the folded `phrase` stands in a folded text; occurrences may share words. */
export function countPhrase(folded: string, phrase: string, mode: MatchMode): number {
  const [text, wanted] = framed(folded, phrase, mode)
  let count = 0
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) count += 1
  return count
}

/** The same text and phrase with blanks where a word has to begin or end. */
function framed(folded: string, phrase: string, mode: MatchMode): readonly [text: string, wanted: string] {
  if (mode === 'substring') return [folded, phrase]
  return [` ${folded} `, mode === 'prefix' ? ` ${phrase}` : ` ${phrase} `]
}

/**
 * At most `maxChars` of `text` around the first place where the folded `phrase` stands, on one line, with `…` where something was cut.
 * The beginning when it stands nowhere.
 *
 * Units:  code points.
 */
export function snippetAround(text: string, phrase: string, mode: MatchMode, maxChars: number): string {
  if (text.length <= maxChars) return oneLine(text).trim()
  const at = phrasePlace(text, phrase, mode)
  const before = Math.floor(maxChars / 3)
  // A code point has at most two units, and white space shrinks: enough is taken on either side.
  const from = Math.max(0, at - before * 4)
  const head = oneLine(text.slice(from, at))
  const tail = oneLine(text.slice(at, at + maxChars * 4))
  const headPoints = Array.from(head.trimStart())
  const isHeadCut = from > 0 || headPoints.length > before
  const kept = isHeadCut ? headPoints.slice(headPoints.length - Math.max(0, Math.min(headPoints.length, before - 1))) : headPoints
  const room = maxChars - kept.length - (isHeadCut ? 1 : 0)
  const tailPoints = Array.from(tail.trimEnd())
  const isTailCut = tailPoints.length > room || at + maxChars * 4 < text.length
  const end = isTailCut ? tailPoints.slice(0, Math.max(0, room - 1)) : tailPoints
  return `${isHeadCut ? '…' : ''}${kept.join('')}${end.join('')}${isTailCut ? '…' : ''}`
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ')

/** UTF-16 offset of the first occurrence; 0 without one. */
function phrasePlace(text: string, phrase: string, mode: MatchMode): number {
  if (phrase === '') return 0
  // Plain letters need no look at each word; where this finds nothing, a word was cut or an accent stands in the text.
  const plain = plainPlace(text, phrase, mode)
  if (plain !== null) return plain
  let folded = ''
  const starts: { readonly at: number; readonly offset: number }[] = []
  for (const { 0: found, index } of text.matchAll(word)) {
    const one = foldWord(found)
    if (one === '') continue
    if (folded !== '') folded += ' '
    starts.push({ at: folded.length, offset: index })
    folded += one
  }
  const [framedText, wanted] = framed(folded, phrase, mode)
  const place = framedText.indexOf(wanted)
  if (place < 0) return 0
  // In a frame the phrase begins one blank later, and the text one blank earlier.
  return starts.findLast(({ at }) => at <= place)?.offset ?? 0
}

/** The place of a phrase of plain letters; null where it is not found so, which says nothing. */
function plainPlace(text: string, phrase: string, mode: MatchMode): number | null {
  if (!/^[a-z0-9 ]+$/.test(phrase)) return null
  const pattern = new RegExp(phrase.split(' ').join('[^a-z0-9]+'), 'gi')
  for (const { 0: found, index } of text.matchAll(pattern)) {
    const begins = mode === 'substring' || !isWordChar(text[index - 1])
    const ends = mode !== 'words' || !isWordChar(text[index + found.length])
    if (begins && ends) return index
  }
  return null
}

const isWordChar = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}\p{M}]/u.test(char)

const foldWord = (found: string): string => (isAscii(found) ? found : found.normalize('NFKD').replace(/\p{M}+/gu, '')).toLowerCase().slice(0, MAX_WORD_CHARS)
