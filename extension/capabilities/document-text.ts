import { HarnessError } from '../base/harness-error.ts'

/** The text of documents that are no text files. For whoever has their bytes, from the disk or from the web. */
export interface DocumentText {
  /**
   * The text of a PDF, off the host's thread, within limits of time and memory. Pictures of text stay pictures.
   *
   * Errors: `DocumentError`.
   */
  pdf(bytes: Uint8Array, limits: PdfLimits, signal: AbortSignal): Promise<PdfText>
}

export interface PdfLimits {
  readonly maxPages: number
  /** UTF-16 units of all pages together. */
  readonly maxChars: number
}

export interface PdfText {
  /** The text of each page from the first, as far as the limits go; lines end in `\n`. A page may have none. */
  readonly pages: readonly string[]
  readonly totalPages: number
}

/** The pages one below the other, each under a heading with its number. */
export const pdfAsLines = ({ pages, totalPages }: PdfText): string =>
  pages.map((page, index) => `# page ${index + 1} of ${totalPages}\n${page === '' ? '(no text on this page)' : page}\n`).join('')

export type DocumentErrorCode = 'DOCUMENT_ENCRYPTED' | 'DOCUMENT_DAMAGED' | 'DOCUMENT_TIMEOUT' | 'DOCUMENT_ABORTED'

export class DocumentError extends HarnessError<DocumentErrorCode> {}

export const documentEncrypted = () => new DocumentError('DOCUMENT_ENCRYPTED', 'The PDF is locked with a password. Ask the person for a copy without one.')
/** `reason` is a clause in plain words. */
export const documentDamaged = (reason: string) => new DocumentError('DOCUMENT_DAMAGED', `The PDF cannot be read: ${reason}. Look for another copy, or use a program that mends it.`)
export const documentTimeout = (timeoutMs: number) => new DocumentError('DOCUMENT_TIMEOUT', `The text of the PDF was not found within ${timeoutMs} ms. Use a program such as pdftotext on a part of it.`)
export const documentAborted = () => new DocumentError('DOCUMENT_ABORTED', 'Reading the document was stopped.')

/** Bytes that begin as a PDF does; a little may stand before. Source: ISO 32000-1, annex H.3.4.1. */
export const isPdf = (bytes: Uint8Array): boolean => new TextDecoder('latin1').decode(bytes.subarray(0, 1_024)).includes('%PDF-')
