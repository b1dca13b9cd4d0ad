import { Marked, type Token, type Tokens, type TokensList } from 'marked'

/** One block of a message at its top level. `key` stays while text is added after it. */
export type MarkdownBlock =
  | { readonly kind: 'code'; readonly key: string; readonly language: string; readonly text: string; readonly isClosed: boolean }
  | { readonly kind: 'html'; readonly key: string; readonly source: string; readonly html: string }

export interface MarkdownReader {
  /** The blocks of `text`. Cheap when `text` only grew since the last call: what stood is kept, the end alone is read again. */
  read(text: string): readonly MarkdownBlock[]
}

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    // Raw HTML of a model is text, not page.
    html: ({ text }) => escapeHtml(text),
    // Nothing is fetched for a message: an image is its link.
    image: ({ href, text }) => (/^data:image\//i.test(href) ? `<img src="${escapeHtml(href)}" alt="${escapeHtml(text)}">` : `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`),
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    table(token) {
      const cells = (row: readonly Tokens.TableCell[], tag: string) =>
        row.map((cell) => `<${tag}${cell.align === null ? '' : ` align="${cell.align}"`}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')
      const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('')
      return `<div class="table-scroll" tabindex="0" role="group"><table><thead><tr>${cells(token.header, 'th')}</tr></thead><tbody>${body}</tbody></table></div>`
    },
    // Headings of a message stand under the heading of its turn, whatever level a model begins with.
    heading({ tokens, depth }) {
      return `<h3 class="heading-${depth}">${this.parser.parseInline(tokens)}</h3>`
    },
  },
})

interface ReadBlock {
  readonly block: MarkdownBlock
  /** Where its source starts and ends in the text. */
  readonly start: number
  readonly end: number
}

export function createMarkdownReader(): MarkdownReader {
  let lastText = ''
  let read: readonly ReadBlock[] = []
  return {
    read: (text) => {
      if (text === lastText && read.length > 0) return read.map(({ block }) => block)
      // A block may still change its kind while it is last (a paragraph becomes a heading or a table), and the blank line
      // before it decides about lists; two back everything is settled.
      const settled = lastText !== '' && text.startsWith(lastText) ? read.slice(0, -2) : []
      read = [...settled, ...readBlocks(text, settled.at(-1)?.end ?? 0, settled.length, read)]
      lastText = text
      return read.map(({ block }) => block)
    },
  }
}

function readBlocks(text: string, from: number, firstNumber: number, before: readonly ReadBlock[]): readonly ReadBlock[] {
  const tokens = marked.lexer(text.slice(from))
  const blocks: ReadBlock[] = []
  let position = from
  for (const token of tokens) {
    const start = position
    position += token.raw.length
    if (token.type === 'space' || token.type === 'def') continue
    const number = firstNumber + blocks.length
    const held = before[number]
    const isUnchanged = held?.start === start && held.end === position && held.block.kind === 'html' && held.block.source === token.raw
    blocks.push({ block: isUnchanged ? held.block : blockOf(token, `${number}`, tokens.links), start, end: position })
  }
  return blocks
}

function blockOf(token: Token, key: string, links: TokensList['links']): MarkdownBlock {
  if (token.type === 'code') {
    const { raw, text, lang } = token as Tokens.Code
    return { kind: 'code', key: `code-${key}`, language: languageOf(lang), text, isClosed: isClosedFence(raw) }
  }
  return { kind: 'html', key: `html-${key}`, source: token.raw, html: marked.parser(withLinks([token], links)) }
}

/** The parser wants the links of the whole text beside the tokens. */
const withLinks = (tokens: Token[], links: TokensList['links']): TokensList => Object.assign(tokens, { links })

const languageOf = (info: string | undefined): string => /^[\w+#.-]+/.exec(info ?? '')?.[0]?.toLowerCase() ?? ''

/** Indented code has no fence and is closed by whatever follows. */
function isClosedFence(raw: string): boolean {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1]
  return fence === undefined || new RegExp(`\\n {0,3}${fence[0]}{${fence.length},}[ \\t]*\\n*$`).test(raw)
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
