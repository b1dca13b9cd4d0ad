import { HarnessError } from '../base/harness-error.ts'

/** UTF-16 units of the longest address. */
export const MAX_URL_LENGTH = 2_048
/** Decoded bytes of one page. */
export const MAX_PAGE_BYTES = 5_000_000
/** Bytes of one PDF, which is nothing without its end. */
export const MAX_PDF_BYTES = 20_000_000
/** Within one origin. */
export const MAX_REDIRECTS = 5

export type WebErrorCode =
  | 'WEB_INVALID_URL'
  /** Credentials in the address, a private network, or a host that nobody may be sent to. */
  | 'WEB_BLOCKED_URL'
  | 'WEB_REDIRECT_BLOCKED'
  | 'WEB_FETCH_TOO_LARGE'
  | 'WEB_FETCH_TIMEOUT'
  /** Nobody answered, or the answer broke off. */
  | 'WEB_FETCH_FAILED'
  | 'WEB_UNSUPPORTED_CONTENT_TYPE'
  | 'WEB_ABORTED'
  | 'WEB_PROVIDER_UNAVAILABLE'
  | 'WEB_PROVIDER_AMBIGUOUS'
  | 'WEB_PROVIDER_CONFIGURED_UNAVAILABLE'
  | 'WEB_PROVIDER_CREDENTIAL_MISSING'
  | 'WEB_PROVIDER_ERROR'

/** The web did not give what was asked for. */
export class WebError extends HarnessError<WebErrorCode> {}

export const webAborted = () => new WebError('WEB_ABORTED', 'The request was stopped before its answer was there.')

/** Which addresses of private networks the person opened. */
export interface AddressRules {
  /** Hosts as an address names them, with or without a port: `localhost`, `127.0.0.1:3000`, `wiki.corp.example`. */
  readonly allowedPrivateHosts: readonly string[]
}

export interface PageRequest extends AddressRules {
  readonly url: string
  /** Decoded bytes that are read of it. */
  readonly maxBytes: number
  /** Of a PDF, which is refused when it has more. */
  readonly maxPdfBytes: number
  /** Redirects within one origin that are followed. */
  readonly maxRedirects: number
  /** From the first look-up to the last byte. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** What stands at an address; any status is an answer. */
export interface Page {
  /** After redirects. */
  readonly url: string
  readonly statusCode: number
  /** In small letters, without parameters; empty when the server names none. */
  readonly mediaType: string
  readonly isHtml: boolean
  readonly text: string
  /** There was more than `maxBytes`. */
  readonly isCut: boolean
  /** Bytes that its charset does not know became replacement characters. */
  readonly isDamaged: boolean
  /** A PDF as it came; its text is empty. */
  readonly pdf?: Uint8Array
}

export interface HtmlPage {
  readonly html: string
  readonly url: string
  /** The part of the page that is wanted first: an `id`; null: from the start. */
  readonly anchor: string | null
  /** Menus, sidebars and all, in the place of the article alone. */
  readonly isWhole: boolean
}

export interface ReadableText {
  /** Markdown; the words alone of a page that is too large for that; the HTML itself when it could not be read. */
  readonly text: string
  readonly form: 'article' | 'page' | 'plain' | 'raw'
  /** 1-based line at which the anchor stands; null when the page has none of that name. */
  readonly anchorLine: number | null
}

/** Pages of the web, without a way into private networks. */
export interface WebPages {
  /** The address in its normal form. Errors: `WebError` `WEB_INVALID_URL`, `WEB_BLOCKED_URL` for what shows without asking the network. */
  check(url: string, rules: AddressRules): string
  /**
   * Get a page: no cookies, no credentials; each address that a host has is judged, and only a judged one is connected to.
   * Errors: `WebError`.
   */
  load(request: PageRequest): Promise<Page>
  /** Off the host's thread, within a limit of time and memory. Errors: `WebError` `WEB_ABORTED`. */
  toText(page: HtmlPage, signal: AbortSignal): Promise<ReadableText>
}
