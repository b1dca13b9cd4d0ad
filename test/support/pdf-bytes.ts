import { constants, deflateRawSync, deflateSync } from 'node:zlib'

/** A PDF with one line of text for each string, a page for each list. Made by hand, so that it shows what a reader needs. */
export function pdfBytes(pages: readonly (readonly string[])[], trailer = ''): Uint8Array {
  const objects: string[] = []
  const add = (content: string) => objects.push(content)
  add('<< /Type /Catalog /Pages 2 0 R >>')
  add(`<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_page, index) => `${4 + 2 * index} 0 R`).join(' ')}] >>`)
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>')
  for (const [index, lines] of pages.entries()) {
    const content = `BT /F1 12 Tf 50 700 Td ${lines.map((line) => `(${line.replaceAll(/[\\()]/g, '\\$&')}) Tj 0 -16 Td`).join(' ')} ET`
    add(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${5 + 2 * index} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`)
    add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`)
  }
  let text = '%PDF-1.4\n'
  const offsets = objects.map((content, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${content}\nendobj\n`
    return offset
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${text.length}\n%%EOF\n`
  return Buffer.from(text, 'latin1')
}

/** The same, behind a password that nobody told. */
export const lockedPdf = (pages: readonly (readonly string[])[]): Uint8Array =>
  pdfBytes(pages, `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> /P -44 >> /ID [<${'01'.repeat(16)}> <${'01'.repeat(16)}>]`)

/** A page whose content is so many blanks, packed twice. */
export function packedPdf(unpackedBytes: number): Uint8Array {
  const block = Buffer.alloc(64 * 1024 * 1024, ' ')
  // One block, packed and flushed at a border of bytes, can stand many times in a row.
  const one = deflateRawSync(block, { level: 9, finishFlush: constants.Z_FULL_FLUSH })
  const packed = Buffer.concat([Buffer.from([0x78, 0xda]), ...Array.from({ length: Math.ceil(unpackedBytes / block.length) }, () => one), Buffer.from([3, 0])])
  const twice = deflateSync(packed, { level: 9 })
  const head = '1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Count 1 /Kids [3 0 R] >>\nendobj\n3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>\nendobj\n'
  return Buffer.concat([
    Buffer.from(`%PDF-1.4\n${head}4 0 obj\n<< /Length ${twice.length} /Filter [/FlateDecode /FlateDecode] >>\nstream\n`),
    twice,
    Buffer.from('\nendstream\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n'),
  ])
}
