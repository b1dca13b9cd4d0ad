/** UTF-16 units of HTML from which on a page may take too long to become Markdown, so that its plain text is made first. */
export const LARGE_PAGE_CHARS = 400_000

/** Their content is nothing for a reader. */
const SILENT = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'head', 'object', 'canvas', 'select', 'textarea'])
/** They go on in their line. */
const INLINE = new Set(['a', 'abbr', 'b', 'bdi', 'bdo', 'cite', 'code', 'data', 'dfn', 'em', 'font', 'i', 'img', 'ins', 'kbd', 'label', 'mark', 'q', 's', 'samp', 'small', 'span', 'strong', 'sub', 'sup', 'time', 'u', 'var', 'wbr', 'del', 'input', 'button'])
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', mdash: '—', ndash: '–', hellip: '…', copy: '©' }

/**
 * The words of a page in its order, blocks on lines of their own, without links, titles of sections or tables.
 *
 * Speed: one pass, linear however broken the page is.
 */
export function plainText(html: string): string {
  const parts: string[] = []
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    const end = open < 0 ? html.length : open
    if (end > at) parts.push(html.slice(at, end).replace(/\s+/g, ' '))
    if (open < 0) break
    const isComment = html.startsWith('<!--', open)
    const close = isComment ? html.indexOf('-->', open + 4) : html.indexOf('>', open)
    const name = /^<(\/?)([a-z][a-z0-9]*)/i.exec(html.slice(open, open + 20))
    if (name === null && !isComment && !/^<[!?]/.test(html.slice(open, open + 2))) {
      parts.push('<')
      at = open + 1
      continue
    }
    // What never ends is no text.
    if (close < 0) break
    at = close + (isComment ? 3 : 1)
    if (name === null) continue
    const [, isEnd, tag = ''] = name
    const element = tag.toLowerCase()
    if (SILENT.has(element)) {
      if (isEnd !== '') continue
      const ending = new RegExp(`</${element}[\\s>]`, 'gi')
      ending.lastIndex = at
      const found = ending.exec(html)
      if (found === null) break
      at = found.index
    } else if (element === 'li' && isEnd === '') parts.push('\n- ')
    else if (element === 'td' || element === 'th') parts.push(' ')
    else if (!INLINE.has(element)) parts.push('\n')
  }
  return decoded(parts.join('')).replace(/ +/g, ' ').replace(/ ?\n[ \n]*/g, '\n').trim()
}

const decoded = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole: string, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole
    const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point).toWellFormed() : whole
  })
