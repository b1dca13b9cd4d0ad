/// <reference lib="dom" />
import { isProbablyReaderable, Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'
import type { HtmlPage, ReadableText } from '../../capabilities/web-pages.ts'

/** Levels of elements; what is nested deeper than a person would write it stays as it is. */
const MAX_DEPTH = 512
/** Elements that the search for the article looks at. */
const MAX_ARTICLE_ELEMENTS = 50_000
/** Share of the page's text that an article must have to stand for it. */
const LEAST_ARTICLE_SHARE = 0.2
/** Stands where the wanted part begins, until its line is known. Private use, so that no page means it. */
const MARK = '\uE0F0\uE0F1\uE0F0'

/**
 * A page as Markdown: its article where one stands out, else all of its text.
 *
 * A page that cannot be turned into Markdown comes back as its HTML. Never throws. Slow for large pages: run it off the host's thread.
 */
export function pageToText({ html, url, anchor, isWhole }: HtmlPage): ReadableText {
  try {
    return toMarkdown({ html, url, anchor, isWhole }) ?? rawText(html)
  } catch {
    // Pages can be broken in more ways than the libraries know; the HTML itself still tells something.
    return rawText(html)
  }
}

export const rawText = (html: string): ReadableText => ({ text: html, form: 'raw', anchorLine: null })

function toMarkdown({ html, url, anchor, isWhole }: HtmlPage): ReadableText | null {
  const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<!doctype html><html><body>${html}</body></html>`)
  if (isTooDeep(document)) return null
  const { body } = document
  if (body === null) return null
  const title = document.title.trim()
  for (const element of document.querySelectorAll(SILENT)) element.remove()
  makeAbsolute(document, url)
  if (anchor !== null) mark(document, anchor)
  const pageText = lengthOf(body)
  const article = isWhole ? null : articleOf(document)
  const isArticle = article !== null && article.size >= pageText * LEAST_ARTICLE_SHARE && (anchor === null || article.html.includes(MARK))
  const markdown = isArticle ? withTitle(markdownOf(parseHTML(`<!doctype html><html><body>${article.html}</body></html>`).document.body), article.title === '' ? title : article.title) : withTitle(markdownOf(body), title)
  const at = markdown.indexOf(MARK)
  return {
    text: markdown.replaceAll(MARK, ''),
    form: isArticle ? 'article' : 'page',
    anchorLine: at === -1 ? null : markdown.slice(0, at).split('\n').length,
  }
}

/** Says nothing to a reader. */
const SILENT = 'script, style, noscript, template, iframe, object, embed, svg, canvas, link, meta, title, dialog, [hidden], [aria-hidden="true"]'

function isTooDeep(document: Document): boolean {
  let depth = 0
  let node: Element | null = document.documentElement
  while (node !== null) {
    if (depth > MAX_DEPTH) return true
    if (node.firstElementChild !== null) {
      node = node.firstElementChild
      depth++
      continue
    }
    while (node !== null && node.nextElementSibling === null) {
      node = node.parentElement
      depth--
    }
    node = node?.nextElementSibling ?? null
  }
  return false
}

/** Addresses in full, so that they can be fetched; those that lead nowhere go. */
function makeAbsolute(document: Document, url: string): void {
  const own = document.querySelector('base[href]')?.getAttribute('href') ?? ''
  const base = URL.canParse(own, url) ? new URL(own, url).href : url
  for (const [selector, name] of [['a[href]', 'href'], ['img[src]', 'src']] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const target = element.getAttribute(name) ?? ''
      const full = URL.canParse(target, base) ? new URL(target, base) : null
      if (full !== null && /^(https?|mailto):$/.test(full.protocol)) element.setAttribute(name, full.href)
      else element.removeAttribute(name)
    }
  }
}

function mark(document: Document, anchor: string): void {
  const element = document.getElementById(anchor) ?? [...document.querySelectorAll('a[name]')].find((each) => each.getAttribute('name') === anchor)
  if (element === undefined || element === null) return
  const place = document.createTextNode(MARK)
  // An empty target stands before what it means.
  if (element.textContent?.trim() === '') element.after(place)
  else element.prepend(place)
}

interface Article {
  readonly html: string
  readonly title: string
  readonly size: number
}

function articleOf(document: Document): Article | null {
  // The search would throw, and with it the whole page would be lost.
  if (document.getElementsByTagName('*').length > MAX_ARTICLE_ELEMENTS || !isProbablyReaderable(document)) return null
  // The search takes its document apart.
  const copy = document.cloneNode(true) as Document
  const found = new Readability(copy, { maxElemsToParse: MAX_ARTICLE_ELEMENTS }).parse()
  if (found?.content == null) return null
  return { html: found.content, title: found.title?.trim() ?? '', size: (found.textContent ?? '').replace(/\s+/g, '').length }
}

const lengthOf = (element: Element) => (element.textContent ?? '').replace(/\s+/g, '').length

function markdownOf(body: HTMLElement): string {
  return createConverter().turndown(body).replace(/\n{3,}/g, '\n\n').trim()
}

function withTitle(markdown: string, title: string): string {
  const hasOwn = title === '' || markdown.slice(0, 2_000).replaceAll(MARK, '').includes(`# ${title}`)
  return hasOwn ? markdown : `# ${title.replace(/\s+/g, ' ')}\n\n${markdown}`
}

function createConverter(): TurndownService {
  const converter = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', emDelimiter: '_', hr: '---' })
  converter.addRule('entry', {
    filter: 'li',
    replacement: (content, node) => {
      const parent = node.parentNode as Element | null
      const start = Number(parent?.getAttribute('start') ?? 1)
      const prefix = parent?.nodeName === 'OL' ? `${(Number.isInteger(start) ? start : 1) + [...parent.children].indexOf(node)}. ` : '- '
      return `${prefix}${content.trim().replaceAll('\n', `\n${' '.repeat(prefix.length)}`)}${node.nextElementSibling === null ? '' : '\n'}`
    },
  })
  converter.addRule('struck', { filter: ['del', 's'], replacement: (content) => (content.trim() === '' ? content : `~~${content}~~`) })
  converter.addRule('plain code', {
    filter: (node) => node.nodeName === 'PRE' && node.firstElementChild?.nodeName !== 'CODE',
    replacement: (_content, node) => fenced(node.textContent ?? ''),
  })
  converter.addRule('bare image', { filter: (node) => node.nodeName === 'IMG' && !node.hasAttribute('src'), replacement: () => '' })
  converter.addRule('controls', { filter: ['button', 'input', 'select', 'textarea'], replacement: () => '' })
  converter.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content, node) => (isLayout(node.closest('table')) ? `${content.trim()}\n\n` : ` ${content.trim().replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')} |`),
  })
  converter.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => (isLayout(node.closest('table')) ? content : `|${content}\n${isFirstRow(node) ? `|${' --- |'.repeat(node.querySelectorAll('th, td').length)}\n` : ''}`),
  })
  converter.addRule('rows', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content })
  converter.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` })
  return converter
}

/** A fence longer than any in the text. */
function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length + 1)))
  return `\n\n${fence}\n${text.replace(/\n$/, '')}\n${fence}\n\n`
}

const isFirstRow = (node: Element) => node.closest('table')?.querySelector('tr') === node

/** It holds a page together and is no table of facts. */
const isLayout = (table: Element | null) => table === null || table.getAttribute('role') === 'presentation' || table.querySelector('table') !== null || table.querySelector('tr')?.querySelectorAll('th, td').length === 1
