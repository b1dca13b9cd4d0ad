import { getDocument, VerbosityLevel } from 'unpdf/pdfjs'
import type { PdfLimits, PdfText } from '../../capabilities/document-text.ts'

/** What a thread is given, and what it answers. */
export interface PdfTask extends PdfLimits {
  readonly bytes: Uint8Array
}
export type PdfAnswer = { readonly text: PdfText } | { readonly failure: 'encrypted' } | { readonly failure: 'damaged'; readonly reason: string }

/** Page after page, until one of the limits is met. Never rejects. */
export async function pdfText({ bytes, maxPages, maxChars }: PdfTask): Promise<PdfAnswer> {
  const task = getDocument({ data: bytes, useSystemFonts: true, disableFontFace: true, verbosity: VerbosityLevel.ERRORS })
  try {
    const document = await task.promise
    const pages: string[] = []
    let chars = 0
    for (let number = 1; number <= Math.min(document.numPages, maxPages) && chars < maxChars; number += 1) {
      const page = await document.getPage(number)
      const { items } = await page.getTextContent()
      const text = items
        .map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''))
        .join('')
        .replace(/[ \t]+$/gm, '')
        .trim()
      pages.push(text.slice(0, maxChars - chars).toWellFormed())
      chars += text.length
      page.cleanup()
    }
    return { text: { pages, totalPages: document.numPages } }
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: '', message: String(error) }
    return name === 'PasswordException' ? { failure: 'encrypted' } : { failure: 'damaged', reason: message.replace(/\.$/, '') }
  } finally {
    await task.destroy()
  }
}
