import { isJsonObject, stringifyJson, type Json, type JsonObject } from '../../../base/json.ts'
import { redacted } from '../../policy/redact-secrets.ts'
import type { ZipFile } from './zip.ts'

/** Of the archive as a whole; the first file in it. */
export interface ArchiveManifest {
  readonly format: 'bosun-session'
  readonly version: 1
  /** The session that was exported; the others descend from it. */
  readonly root: string
  readonly sessions: readonly string[]
  readonly exportedAt: string
  readonly isRedacted: boolean
}

export const MANIFEST_NAME = 'manifest.json'
const logNameOf = (sessionId: string): string => `sessions/${sessionId}/events.jsonl`
const attachmentNameOf = (sessionId: string, attachmentId: string): string => `sessions/${sessionId}/attachments/${attachmentId.replace(/^sha256:/, '')}`

/** Where the files of an archive come from. */
export interface ExportSource {
  readonly bytes: (sessionId: string) => AsyncIterable<Uint8Array>
  /** The header, then the lines of the log as far as it is good. */
  readonly lines: (sessionId: string) => AsyncIterable<readonly JsonObject[]>
  readonly attachments: (sessionId: string) => Promise<readonly string[]>
  readonly attachment: (sessionId: string, attachmentId: string) => Promise<Uint8Array>
}

/** The files of an archive, one after the other. */
export async function* archiveFiles(manifest: ArchiveManifest, source: ExportSource): AsyncGenerator<ZipFile> {
  yield { name: MANIFEST_NAME, chunks: [encode(`${JSON.stringify(manifest, null, 2)}\n`)] }
  for (const id of manifest.sessions) {
    yield { name: logNameOf(id), chunks: manifest.isRedacted ? redactedLog(source.lines(id)) : source.bytes(id) }
    for (const attachmentId of await source.attachments(id)) {
      yield { name: attachmentNameOf(id, attachmentId), chunks: [await source.attachment(id, attachmentId)], isStored: true }
    }
  }
}

async function* redactedLog(batches: AsyncIterable<readonly JsonObject[]>): AsyncGenerator<Uint8Array> {
  for await (const batch of batches) yield encode(batch.map((line) => `${stringifyJson(redactedLine(line))}\n`).join(''))
}

/**
 * A secret that was streamed lies in pieces that no pattern knows. The whole text stands in the message after them, so the pieces
 * go empty.
 */
function redactedLine(line: JsonObject): Json {
  if (Array.isArray(line['deltas'])) return { ...line, deltas: line['deltas'].map(() => '') }
  const { data } = line
  if (line['type'] !== 'assistant/chunk' || !isJsonObject(data) || !isJsonObject(data['chunk'])) return redacted(line)
  const { chunk } = data
  const emptied = Object.fromEntries(Object.entries(chunk).map(([key, value]: [string, Json]) => [key, key === 'delta' || key === 'argumentsDelta' ? '' : value]))
  return redacted({ ...line, data: { ...data, chunk: emptied } })
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
