import { describe, expect, it } from 'vitest'
import { createDocumentText } from '../../../../extension/platform/node/document-text.ts'
import { lockedPdf, packedPdf, pdfBytes } from '../../../support/pdf-bytes.ts'

const entry = new URL('../../../../extension/platform/node/pdf-text-main.ts', import.meta.url)
const limits = { maxPages: 10, maxChars: 1_000 }
const textOf = (bytes: Uint8Array, more: Partial<typeof limits> = {}, signal = new AbortController().signal) => createDocumentText({ entry }).pdf(bytes, { ...limits, ...more }, signal)

describe('the text of a PDF', () => {
  it('comes page by page, in lines', async () => {
    expect(await textOf(pdfBytes([['One (first)', 'Two'], ['Three'], []]))).toEqual({ pages: ['One (first)\nTwo', 'Three', ''], totalPages: 3 })
  })
  it('ends at the limit of pages', async () => expect(await textOf(pdfBytes([['a'], ['b'], ['c']]), { maxPages: 2 })).toEqual({ pages: ['a', 'b'], totalPages: 3 }))
  it('ends at the limit of characters', async () => expect(await textOf(pdfBytes([['abc'], ['def'], ['ghi']]), { maxChars: 5 })).toEqual({ pages: ['abc', 'de'], totalPages: 3 }))
  it('behind a password is refused', async () => expect(textOf(lockedPdf([['secret']]))).rejects.toMatchObject({ code: 'DOCUMENT_ENCRYPTED' }))
  it.each([
    ['nothing', Buffer.from('')],
    ['a header alone', Buffer.from('%PDF-1.7\n')],
    ['noise after a header', Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(5_000, 0x5a)])],
  ])('of %s is refused as damaged', async (_name, bytes) => expect(textOf(bytes)).rejects.toMatchObject({ code: 'DOCUMENT_DAMAGED' }))
  it('whose end is damaged is found all the same', async () => {
    const whole = pdfBytes([['still here']])
    expect(await textOf(whole.slice(0, whole.length - 12))).toMatchObject({ pages: ['still here'] })
  })
  it('is stopped with the call', async () => {
    await expect(textOf(pdfBytes([['a']]), {}, AbortSignal.abort())).rejects.toMatchObject({ code: 'DOCUMENT_ABORTED' })
    const controller = new AbortController()
    const work = textOf(pdfBytes([['a']]), {}, controller.signal)
    controller.abort()
    await expect(work).rejects.toMatchObject({ code: 'DOCUMENT_ABORTED' })
  })
  it('is given up where a few bytes unpack to more memory than is given to it', async () => {
    const bytes = packedPdf(4_000_000_000)
    expect(bytes.length).toBeLessThan(50_000)
    await expect(createDocumentText({ entry, timeoutMs: 300_000, maxGrowthMb: 300 }).pdf(bytes, limits, new AbortController().signal)).rejects.toMatchObject({ code: 'DOCUMENT_DAMAGED', message: expect.stringContaining('more than 300 MB of memory') as string })
  })
  it('is given up after its time', async () => {
    await expect(createDocumentText({ entry, timeoutMs: 1 }).pdf(pdfBytes([['a']]), limits, new AbortController().signal)).rejects.toMatchObject({ code: 'DOCUMENT_TIMEOUT' })
  })
})
