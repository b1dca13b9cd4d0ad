import { WebError } from '../../capabilities/web-pages.ts'

export interface PageType {
  /** In small letters; empty when the server names none. */
  readonly mediaType: string
  readonly charset: string | null
}

/** A `Content-Type` taken apart. */
export function pageTypeFrom(header: string | null): PageType {
  const [mediaType = '', ...parameters] = (header ?? '').split(';')
  const charset = parameters.map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(parameter)?.[1]).find((found) => found !== undefined && found !== '')
  return { mediaType: mediaType.trim().toLowerCase(), charset: charset?.toLowerCase() ?? null }
}

/** Text, pages, JSON and XML can be read; what has no type is looked at. */
export const isReadableType = (mediaType: string): boolean =>
  mediaType === '' || mediaType.startsWith('text/') || /^application\/(xhtml\+xml|json|xml|javascript|ecmascript|x-ndjson|yaml|toml|[\w.-]+\+(json|xml|yaml))$/.test(mediaType)

const isHtmlType = (mediaType: string): boolean => mediaType === 'text/html' || mediaType === 'application/xhtml+xml'

export interface DecodedPage {
  readonly text: string
  readonly isHtml: boolean
  readonly isDamaged: boolean
}

/**
 * The text of a page: a BOM decides, then the charset that the server declares, then what the page says of itself, else UTF-8.
 *
 * Errors: `WebError` `WEB_UNSUPPORTED_CONTENT_TYPE` for a declared charset that nobody knows, or bytes without a type that are no text.
 */
export function decodePage(bytes: Uint8Array, { mediaType, charset }: PageType, isCut: boolean): DecodedPage {
  const decoder = decoderFor(bytes, { mediaType, charset })
  // What was cut may end inside a character; as a stream, that half is held back.
  const text = new TextDecoder(decoder).decode(bytes, { stream: isCut })
  if (mediaType === '' && text.includes('\0')) {
    throw new WebError('WEB_UNSUPPORTED_CONTENT_TYPE', 'The server does not say what it sends, and it is no text. Download it with the shell if you need it.')
  }
  const isHtml = isHtmlType(mediaType) || (mediaType === '' && /^\s*(<!doctype html|<html)/i.test(text))
  return { text, isHtml, isDamaged: text.includes('\uFFFD') && !isValid(bytes, decoder, isCut) }
}

function decoderFor(bytes: Uint8Array, { mediaType, charset }: PageType): string {
  const mark = markOf(bytes)
  if (mark !== null) return mark
  if (charset !== null) {
    if (isKnown(charset)) return charset
    throw new WebError('WEB_UNSUPPORTED_CONTENT_TYPE', `The page is in the charset "${charset.slice(0, 40)}", which is not known here. Download it with the shell if you need it.`)
  }
  const own = ownCharset(bytes, mediaType)
  return own !== null && isKnown(own) ? own : 'utf-8'
}

function markOf([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : null
}

/** Bytes at the start of a page in which it may name its charset. Source: HTML standard 13.2.3.2. */
const MAX_DECLARATION_BYTES = 1_024

function ownCharset(bytes: Uint8Array, mediaType: string): string | null {
  if (!/html|xml|^$/.test(mediaType)) return null
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, MAX_DECLARATION_BYTES)).toString('latin1')
  const found = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1] ?? /<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1]
  // A page that could be read this far is not in two-byte units, whatever it says.
  return found === undefined ? null : /^utf-?16/i.test(found) ? 'utf-8' : found.toLowerCase()
}

function isKnown(charset: string): boolean {
  try {
    return new TextDecoder(charset).encoding !== ''
  } catch {
    // This is how the platform says that it does not know the name.
    return false
  }
}

function isValid(bytes: Uint8Array, charset: string, isCut: boolean): boolean {
  try {
    new TextDecoder(charset, { fatal: true }).decode(bytes, { stream: isCut })
    return true
  } catch {
    // This is how the platform says that a byte does not fit.
    return false
  }
}
