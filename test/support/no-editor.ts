import type { DocumentText } from '../../extension/capabilities/document-text.ts'
import { realClock } from './real-clock.ts'

const documents: DocumentText = { pdf: () => Promise.reject(new Error('No document is read here.')) }

/** What the file tools want beside files, where there is no editor and nobody reads documents. */
export const noEditor = { clock: realClock, documents, languages: null }
