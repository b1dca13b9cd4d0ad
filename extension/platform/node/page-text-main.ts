// Turns one page into text, in a thread of its own. Of a large one the plain text comes first, for when the rest takes too long.
import { parentPort, workerData } from 'node:worker_threads'
import type { HtmlPage, ReadableText } from '../../capabilities/web-pages.ts'
import { LARGE_PAGE_CHARS, plainText } from './page-plain-text.ts'
import { pageToText } from './page-text.ts'

const page = workerData as HtmlPage
if (page.html.length > LARGE_PAGE_CHARS) parentPort?.postMessage({ text: plainText(page.html), form: 'plain', anchorLine: null } satisfies ReadableText, [])
parentPort?.postMessage(pageToText(page), [])
