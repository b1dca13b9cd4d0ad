import * as z from 'zod'
import { isJsonObject, type Json, type JsonObject } from '../../../base/json.ts'
import { messageOf } from '../../../base/message-of.ts'
import { checkSessionId } from '../../../capabilities/event-store.ts'
import type { SessionHeader } from '../../log/event.ts'
import { ArchiveError } from './archives.ts'
import { MANIFEST_NAME } from './export.ts'
import { isZip, zipEntries, type ZipEntry } from './zip.ts'

/** Bytes of an archive, and of all that comes out of it. */
export const MAX_ARCHIVE_BYTES = 512 * 1_048_576
const caps = { maxEntries: 20_000, maxBytes: 512 * 1_048_576 }

/** One session of an archive, read and not yet believed. */
export interface ArchivedSession {
  readonly id: string
  readonly header: JsonObject
  readonly lines: readonly JsonObject[]
  readonly attachments: readonly { readonly digest: string; readonly bytes: Uint8Array }[]
}

/**
 * The sessions of a ZIP or of one `events.jsonl`, the one that was exported first. Unpacked one by one, as they are asked for.
 *
 * Errors: `ArchiveError`.
 */
export function* archivedSessions(bytes: Uint8Array): Generator<ArchivedSession> {
  if (bytes.length > MAX_ARCHIVE_BYTES) throw new ArchiveError('TOO_LARGE', `The file has ${megabytes(bytes.length)} MB, at most ${megabytes(MAX_ARCHIVE_BYTES)} MB are taken.`)
  if (isZip(bytes)) yield* sessionsOfZip(bytes)
  else yield { ...logFrom(bytes, null), attachments: [] }
}

const manifestShape = z.object({ format: z.literal('bosun-session'), version: z.number(), root: z.string(), sessions: z.array(z.string()).min(1).max(10_000) })
const entryShape = /^sessions\/([^/]+)\/(?:events\.jsonl|attachments\/([0-9a-f]{64}))$/

function* sessionsOfZip(bytes: Uint8Array): Generator<ArchivedSession> {
  // Programs that pack a folder again add files of their own.
  const entries = zipEntries(bytes, caps).filter(({ name }) => !/(?:^__MACOSX\/|(?:^|\/)\.DS_Store$)/.test(name))
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const manifest = manifestFrom(byName.get(MANIFEST_NAME))
  const known = new Set(manifest.sessions)
  for (const { name } of entries) {
    const [, id] = entryShape.exec(name) ?? []
    if (name !== MANIFEST_NAME && (id === undefined || !known.has(id))) throw new ArchiveError('HOSTILE', `The archive was refused: it holds ${JSON.stringify(name)}, which belongs to no session that it names.`)
  }
  for (const id of [manifest.root, ...manifest.sessions.filter((other) => other !== manifest.root)]) {
    const log = byName.get(`sessions/${id}/events.jsonl`)
    if (log === undefined) throw new ArchiveError('NOT_AN_ARCHIVE', `The archive names session ${JSON.stringify(id)}, but holds no log of it. Export the session again.`)
    const attachments = entries.flatMap((entry) => {
      const [, owner, digest] = entryShape.exec(entry.name) ?? []
      return owner === id && digest !== undefined ? [{ digest, bytes: entry.unpack() }] : []
    })
    yield { ...logFrom(log.unpack(), id), attachments }
  }
}

function manifestFrom(entry: ZipEntry | undefined): z.infer<typeof manifestShape> {
  if (entry === undefined) throw new ArchiveError('NOT_AN_ARCHIVE', `The archive is no export of a session: it holds no ${MANIFEST_NAME}.`)
  const outcome = manifestShape.safeParse(objectFrom(textFrom(entry.unpack(), MANIFEST_NAME)))
  if (!outcome.success) throw new ArchiveError('NOT_AN_ARCHIVE', `The archive is no export of a session: its ${MANIFEST_NAME} says something else.`)
  const { version, root, sessions } = outcome.data
  if (version !== 1) throw new ArchiveError('UNSUPPORTED_VERSION', `The archive is of version ${version}; this Bosun reads version 1. Import it with the Bosun that wrote it.`)
  if (!sessions.includes(root) || new Set(sessions).size !== sessions.length) throw new ArchiveError('NOT_AN_ARCHIVE', 'The archive does not say which session was exported.')
  return outcome.data
}

/** A last line without its end is what a crash cut; any other bad line refuses the log. */
function logFrom(bytes: Uint8Array, expectedId: string | null): Omit<ArchivedSession, 'attachments'> {
  const text = textFrom(bytes, 'events.jsonl')
  const rows = text.split('\n')
  const torn = rows.pop()
  const objects = rows.map((row, index) => {
    const object = objectFrom(row)
    if (object === null) throw invalid(`line ${index + 1} is no JSON object`)
    return object
  })
  const whole = torn === undefined || torn === '' ? null : objectFrom(torn)
  const [header, ...lines] = whole === null ? objects : [...objects, whole]
  if (header === undefined) throw invalid(text.trim() === '' ? 'it is empty' : 'line 1 is no JSON object')
  const { id, version } = header
  if (typeof id !== 'string' || typeof header['createdAt'] !== 'number') throw invalid('its first line is no header of a session')
  if (version !== 0) throw new ArchiveError('UNSUPPORTED_VERSION', `The log is of format version ${JSON.stringify(version)}; this Bosun reads version 0. Import it with the Bosun that wrote it.`)
  if (expectedId !== null && id !== expectedId) throw invalid(`it says that it is session ${JSON.stringify(id)}, but stands under ${JSON.stringify(expectedId)}`)
  checkId(id)
  return { id, header, lines }
}

function checkId(id: string): void {
  try {
    checkSessionId(id)
  } catch (error) {
    throw new ArchiveError('HOSTILE', `The archive was refused: ${messageOf(error)}`, { cause: error })
  }
}

/**
 * The header under which a log is stored here. Only what says something about the talk is taken over: it works where it is imported,
 * and its lineage holds only where the parent came along.
 */
export function adoptedHeader({ header, lines }: ArchivedSession, facts: { readonly id: string; readonly cwd: string; readonly parent: string | undefined }): SessionHeader {
  const { createdAt, agentPreset, origin, delegationDepth } = header
  const { id, cwd, parent } = facts
  return {
    version: 0,
    id,
    createdAt: createdAt as number,
    cwd,
    ...(parent === undefined ? {} : { parentSession: parent }),
    // Standing answers of a session hold from the end of its seed on: what was allowed elsewhere is not allowed here.
    seedLength: lengthOf(lines),
    ...(origin === 'subagent' && { origin }),
    ...(typeof delegationDepth === 'number' && { delegationDepth }),
    ...(typeof agentPreset === 'string' && { agentPreset }),
  }
}

/** Events in a log, packed ones included. The last line says; whether it says the truth is checked when the log is read. */
function lengthOf(lines: readonly JsonObject[]): number {
  const last = lines.at(-1)
  if (last === undefined) return 0
  const count = Array.isArray(last['deltas']) ? last['deltas'].length : 1
  return typeof last['seq'] === 'number' ? last['seq'] + count : 0
}

function objectFrom(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as Json
    return isJsonObject(value) ? value : null
  } catch {
    // Not JSON: the caller says where.
    return null
  }
}

function textFrom(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new ArchiveError('INVALID_LOG', `${name} is no UTF-8 text. It is no log of a session.`, { cause: error })
  }
}

const invalid = (problem: string) => new ArchiveError('INVALID_LOG', `The log cannot be imported: ${problem}.`)
const megabytes = (bytes: number) => Math.ceil(bytes / 1_048_576)
