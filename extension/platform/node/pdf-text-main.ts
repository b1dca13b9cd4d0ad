// Reads one PDF, in a thread of its own.
import { parentPort, workerData } from 'node:worker_threads'
import { pdfText, type PdfTask } from './pdf-text.ts'

parentPort?.postMessage(await pdfText(workerData as PdfTask), [])
