import type { DocumentText } from '../../extension/capabilities/document-text.ts'
import type { PictureScaler } from '../../extension/capabilities/picture-scaler.ts'
import { realClock } from './real-clock.ts'

const documents: DocumentText = { pdf: () => Promise.reject(new Error('No document is read here.')) }

const pictures: PictureScaler = { fit: () => Promise.reject(new Error('No picture is drawn here.')) }

/** What the file tools want beside files, where there is no editor and nobody reads documents. */
export const noEditor = { clock: realClock, documents, pictures, languages: null }
