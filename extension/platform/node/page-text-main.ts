// Turns one page into text, in a thread of its own.
import { parentPort, workerData } from 'node:worker_threads'
import type { HtmlPage } from '../../capabilities/web-pages.ts'
import { pageToText } from './page-text.ts'

parentPort?.postMessage(pageToText(workerData as HtmlPage), [])
