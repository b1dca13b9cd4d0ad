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
    description: 'Read a web page, JSON or text from a URL. HTML becomes Markdown, its article where it has one; a #part in the URL starts there. Long pages come in parts by line. Public sites only.',
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
    isConcurrencySafe: () => true,
    async execute({ url, offset, limit = DEFAULT_LINES, whole_page: isWhole = false }, exec) {
      if (url.trim() === '') throw new ToolError('INVALID_ARGS', 'url is blank. Give a whole address, such as https://example.com/page.')
      checkCount('offset', offset)
      checkCount('limit', limit)
      const page = await web.read({ url, isWhole, signal: exec.signal })
      const lines = page.text === '' ? [] : page.text.split(/\r\n|\r|\n/)
      const first = offset ?? page.anchorLine ?? 1
      if (first > Math.max(lines.length, 1)) throw new ToolError('INVALID_ARGS', `offset ${first} is past the end: the page has ${lines.length} lines.`)
      const { content, last, isLineCut } = windowOf(lines, first, limit)
      const hasPart = url.includes('#')
      const notes = [
        ...(first > 1 || last < lines.length ? [`Lines ${first} to ${last} of ${lines.length}.${last < lines.length ? ` Call web_fetch with offset ${last + 1} for more.` : ''}`] : []),
        ...(isLineCut ? [`Line ${last} is longer than ${MAX_CHARS} characters and was cut.`] : []),
        ...(page.isCut ? ['The page was larger than what is read of it; its end is missing.'] : []),
        ...(page.isDamaged ? ['Some bytes do not fit the charset that the page names; they show as \uFFFD.'] : []),
        ...(page.isRaw ? ['The page could not be turned into text, so this is its HTML.'] : []),
        ...(hasPart && page.kind === 'html' && page.anchorLine === null && offset === undefined ? ['The page has no part of the name after #, so this is its start.'] : []),
      ]
      return {
        url: page.url,
        statusCode: page.statusCode,
        body: { kind: page.kind, content },
        offset: first,
        totalLines: lines.length,
        truncated: page.isCut || isLineCut || last < lines.length,
        ...(notes.length > 0 && { notes }),
      }
    },
    presentCall,
    presentResult,
  })

function checkCount(name: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isInteger(value) && value >= 1)) throw new ToolError('INVALID_ARGS', `${name} must be a whole number of 1 or more, but is ${value}.`)
}

/** Whole lines as far as they fit; a first line that is longer by itself is cut. */
function windowOf(lines: readonly string[], first: number, limit: number): { readonly content: string; readonly last: number; readonly isLineCut: boolean } {
  const taken: string[] = []
  let size = 0
  for (const line of lines.slice(first - 1, first - 1 + limit)) {
    size += line.length + 1
    if (size - 1 <= MAX_CHARS) taken.push(line)
    else if (taken.length === 0) return { content: line.slice(0, MAX_CHARS).replace(/[\uD800-\uDBFF]$/, ''), last: first, isLineCut: true }
    else break
  }
  return { content: taken.join('\n'), last: first - 1 + taken.length, isLineCut: false }
}
