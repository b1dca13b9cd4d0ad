import { MAX_PAGE_BYTES, MAX_PDF_BYTES, MAX_REDIRECTS, MAX_URL_LENGTH } from '../../capabilities/web-pages.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Web } from '../../features/web/service.ts'
import { presentCall, presentResult } from './web-fetch.card.ts'

/** UTF-16 units of a page's text that one call gives. */
const MAX_CHARS = 100_000
/** Of the rendered whole, footer and all. */
const MAX_RENDERED = 200_000
const DEFAULT_LINES = 2_000
const TIMEOUT_MS = 30_000

/** `web_fetch`: one page as text. Source: capability specification 15 and 20.14. */
export const createWebFetch = (web: Pick<Web, 'read'>): ToolDefinition =>
  defineTool({
    name: 'web_fetch',
    description: 'Read a web page, PDF, JSON or text from a URL. HTML becomes Markdown, its article where it has one; a #part in the URL starts there. Long pages come in parts by line. Public sites, and localhost if the person agrees.',
    parameters: {
      url: { type: 'string', required: true },
      offset: { type: 'number', description: 'First line, from 1.' },
      limit: { type: 'number', description: `Lines, ${DEFAULT_LINES} when left out.` },
      whole_page: { type: 'boolean', description: 'With menus and all, when the article lacks what you look for.' },
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          url: { type: 'string', required: true, description: 'After redirects.' },
          statusCode: { type: 'integer', required: true },
          body: {
            type: 'object',
            required: true,
            properties: {
              kind: { type: 'string', required: true, enum: ['html', 'text'] },
              content: { type: 'string', required: true, description: 'The lines asked for; Markdown for HTML.' },
            },
            additionalProperties: false,
          },
          offset: { type: 'integer', required: true },
          totalLines: { type: 'integer', required: true },
          truncated: { type: 'boolean', required: true },
          notes: { type: 'array', items: { type: 'string' } },
        },
        additionalProperties: false,
      },
      render: (_args, { url, statusCode, body, notes = [] }) => {
        const head = `${url} (status ${statusCode})\n\n`
        const footer = notes.length === 0 ? '' : `\n\n${notes.map((note) => `(${note})`).join('\n')}`
        const room = MAX_RENDERED - head.length - footer.length
        return [{ type: 'text', text: `${head}${body.content === '' ? '(no content)' : body.content.slice(0, room)}${footer}` }]
      },
      presentationMeta: (_args, { url, statusCode, truncated }) => ({ url, statusCode, truncated }),
    },
    timeoutMs: TIMEOUT_MS,
    limits: [
      { of: 'address', max: MAX_URL_LENGTH, unit: 'characters' },
      { of: 'page after decompression', max: MAX_PAGE_BYTES, unit: 'bytes' },
      { of: 'PDF', max: MAX_PDF_BYTES, unit: 'bytes' },
      { of: 'redirects within a site', max: MAX_REDIRECTS, unit: 'items' },
      { of: 'text of the page in one call', max: MAX_CHARS, unit: 'characters' },
      { of: 'whole result', max: MAX_RENDERED, unit: 'characters' },
    ],
    isConcurrencySafe: () => true,
    async execute({ url, offset, limit = DEFAULT_LINES, whole_page: isWhole = false }, exec) {
      if (url.trim() === '') throw new ToolError('INVALID_ARGS', 'url is blank. Give a whole address, such as https://example.com/page.')
      checkCount('offset', offset)
      checkCount('limit', limit)
      const page = await web.read({ url, isWhole, signal: exec.signal })
      const first = offset ?? page.anchorLine ?? 1
      const { content, totalLines, last, isLineCut } = windowOf(page.text, first, limit)
      if (first > Math.max(totalLines, 1)) throw new ToolError('INVALID_ARGS', `offset ${first} is past the end: the page has ${totalLines} lines.`)
      const hasPart = url.includes('#')
      const notes = [
        ...(first > 1 || last < totalLines ? [`Lines ${first} to ${last} of ${totalLines}.${last < totalLines ? ` Call web_fetch with offset ${last + 1} for more.` : ''}`] : []),
        ...(isLineCut ? [`Line ${last} is longer than ${MAX_CHARS} characters and was cut.`] : []),
        ...(page.pages === undefined ? [] : [`The text of a PDF with ${page.pages.total} ${page.pages.total === 1 ? 'page' : 'pages'}${page.pages.read < page.pages.total ? `, of the first ${page.pages.read}` : ''}; pictures are not shown.`]),
        ...(page.isCut ? ['The page was larger than what is read of it; its end is missing.'] : []),
        ...(page.isDamaged ? ['Some bytes do not fit the charset that the page names; they show as \uFFFD.'] : []),
        ...(page.isRaw ? ['The page could not be turned into text, so this is its HTML.'] : []),
        ...(page.isPlain ? ['The page is too large to become Markdown in time, so these are its words alone, without links.'] : []),
        ...(hasPart && !page.isPlain && page.kind === 'html' && page.anchorLine === null && offset === undefined ? ['The page has no part of the name after #, so this is its start.'] : []),
      ]
      return {
        url: page.url,
        statusCode: page.statusCode,
        body: { kind: page.kind, content },
        offset: first,
        totalLines,
        truncated: page.isCut || isLineCut || last < totalLines,
        ...(notes.length > 0 && { notes }),
      }
    },
    presentCall,
    presentResult,
  })

function checkCount(name: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isInteger(value) && value >= 1)) throw new ToolError('INVALID_ARGS', `${name} must be a whole number of 1 or more, but is ${value}.`)
}

interface Window {
  readonly content: string
  readonly totalLines: number
  /** Last line that is in it. */
  readonly last: number
  readonly isLineCut: boolean
}

/** Whole lines as far as they fit; a first line that is longer by itself is cut. The text is never split: it may have millions of lines. */
function windowOf(text: string, first: number, limit: number): Window {
  const { totalLines, from, to } = placesOf(text, first, first + limit)
  const lines = from >= to ? [] : text.slice(from, Math.min(to - 1, from + MAX_CHARS + limit + 1)).replace(/\r$/, '').split(/\r?\n/)
  const taken: string[] = []
  let size = 0
  for (const line of lines) {
    size += line.length + (taken.length > 0 ? 1 : 0)
    if (size > MAX_CHARS) break
    taken.push(line)
  }
  const [longest = ''] = lines
  const isLineCut = taken.length === 0 && longest !== ''
  const content = isLineCut ? longest.slice(0, MAX_CHARS).replace(/[\uD800-\uDBFF]$/, '') : taken.join('\n')
  return { content, totalLines, last: first - 1 + (isLineCut ? 1 : taken.length), isLineCut }
}

const LINE_FEED = 10

/** Where line `first` begins, and where line `end` would. */
function placesOf(text: string, first: number, end: number): { readonly totalLines: number; readonly from: number; readonly to: number } {
  if (text === '') return { totalLines: 0, from: 0, to: 0 }
  let [line, from, to] = [1, first === 1 ? 0 : text.length + 1, text.length + 1]
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) !== LINE_FEED) continue
    line++
    if (line === first) from = at + 1
    if (line === end) to = at + 1
  }
  return { totalLines: line, from, to }
}
