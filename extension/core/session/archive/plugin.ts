import { isErrorOf } from '../../../base/harness-error.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { BlobStore } from '../../../capabilities/blob-store.ts'
import type { Clock } from '../../../capabilities/clock.ts'
import { EventStoreError, type EventStore } from '../../../capabilities/event-store.ts'
import type { Machine } from '../../../capabilities/machine.ts'
import type { Context, Plugin } from '../../kernel/plugin.ts'
import type { EventDraft, SandboxMode } from '../../log/event.ts'
import { redactSecrets } from '../../policy/redact-secrets.ts'
import { settings } from '../../settings/specs.ts'
import { headerFrom } from '../load-log.ts'
import { SessionError, type SessionSummary } from '../session.ts'
import { ArchiveError, type ExportOptions, type ExportPlan, type SessionArchives } from './archives.ts'
import { archiveFiles, type ArchiveManifest } from './export.ts'
import { adoptedHeader, archivedSessions, type ArchivedSession } from './import.ts'
import { markdownOf } from './markdown.ts'
import { zipped } from './zip.ts'

export interface ArchivesParts {
  readonly events: EventStore
  readonly blobs: Pick<BlobStore, 'getAttachment' | 'listAttachments' | 'putAttachment'>
  readonly clock: Pick<Clock, 'now'>
  readonly machine: Pick<Machine, 'randomId'>
}

/** Offers `sessionArchives`. */
export function sessionArchivesPlugin(parts: ArchivesParts): Plugin {
  return {
    name: 'session-archives',
    inject: ['sessions', 'settings'],
    apply: (ctx) => void ctx.provide('sessionArchives', new Archives(ctx, parts)),
  }
}

/** Bytes of the logs of one archive; the file format holds no more. */
const MAX_LOG_BYTES = 2 * 1_073_741_824
const MAX_NAME_CHARS = 50

class Archives implements SessionArchives {
  readonly #ctx: Context
  readonly #parts: ArchivesParts
  readonly #exporting = new Set<string>()

  constructor(ctx: Context, parts: ArchivesParts) {
    this.#ctx = ctx
    this.#parts = parts
  }

  async plan(sessionId: string): Promise<ExportPlan> {
    const sessions = await this.#ctx.sessions.list()
    const root = sessions.find(({ id }) => id === sessionId)
    await this.#flushed(sessionId)
    const day = new Date(this.#parts.clock.now()).toISOString().slice(0, 10)
    return { sessionIds: [sessionId, ...descendantsOf(sessionId, sessions)], name: ['bosun', slug(root?.title ?? ''), day].filter((part) => part !== '').join('-') }
  }

  async *export({ sessionIds: planned }: ExportPlan, { isRedacted }: ExportOptions): AsyncGenerator<Uint8Array> {
    const [root = ''] = planned
    if (this.#exporting.has(root)) throw new ArchiveError('EXPORT_RUNNING', 'This session is being exported already. Wait until that is done.')
    this.#exporting.add(root)
    const release = await this.#ctx.sessions.hold(planned)
    try {
      const { blobs, clock, events } = this.#parts
      const found = await this.#found(planned)
      const sessionIds = found.map(({ id }) => id)
      const sizes = found.map(({ size }) => size)
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      if (bytes > MAX_LOG_BYTES) throw new ArchiveError('TOO_LARGE', `The logs have ${Math.ceil(bytes / 1_048_576)} MB together; an archive holds ${MAX_LOG_BYTES / 1_048_576} MB. Copy the folder of the session instead.`)
      const manifest: ArchiveManifest = { format: 'bosun-session', version: 1, root, sessions: sessionIds, exportedAt: new Date(clock.now()).toISOString(), isRedacted }
      const files = archiveFiles(manifest, {
        bytes: (id) => events.bytes(id),
        lines: (id) => linesOf(events, id),
        attachments: (id) => blobs.listAttachments(id),
        attachment: (id, attachmentId) => blobs.getAttachment(id, attachmentId),
      })
      yield* zipped(files, clock.now())
    } finally {
      release()
      this.#exporting.delete(root)
    }
  }

  /** What of a plan is still there. Errors: `SESSION_NOT_FOUND` when its first session went since it was made. */
  async #found([root = '', ...others]: readonly string[]): Promise<readonly { readonly id: string; readonly size: number }[]> {
    const found = [{ id: root, size: (await this.#flushed(root)).size }]
    for (const id of others) {
      try {
        found.push({ id, size: (await this.#flushed(id)).size })
      } catch (error) {
        if (!isErrorOf(EventStoreError, error, 'SESSION_NOT_FOUND')) throw error
      }
    }
    return found
  }

  async markdown(sessionId: string, { isRedacted }: ExportOptions): Promise<string> {
    const { sessions } = this.#ctx
    const release = await sessions.hold([sessionId])
    try {
      await this.#flushed(sessionId)
      const title = (await sessions.list()).find(({ id }) => id === sessionId)?.title ?? sessionId
      // Every event there is: what streamed is left out by the document itself.
      const { header, events } = await sessions.readTail(sessionId, Number.MAX_SAFE_INTEGER)
      const text = markdownOf({ title, id: sessionId, cwd: header.cwd, createdAt: header.createdAt }, events)
      return isRedacted ? redactSecrets(text) : text
    } finally {
      release()
    }
  }

  async import(bytes: Uint8Array, { cwd }: { readonly cwd: string }): Promise<readonly string[]> {
    const { machine } = this.#parts
    const ids = new Map<string, string>()
    const stored: string[] = []
    try {
      // Read to the end before anything is stored would hold all of it at once; so each is stored as it is read, and taken back on a failure.
      for (const session of archivedSessions(bytes)) {
        const id = (await this.#isTaken(session.id)) ? machine.randomId() : session.id
        ids.set(session.id, id)
        const parent = session.header['parentSession']
        await this.#adopt(session, { id, cwd, parent: typeof parent === 'string' ? ids.get(parent) : undefined })
        stored.push(id)
      }
      return stored
    } catch (error) {
      for (const id of stored) await this.#ctx.sessions.remove(id)
      throw importFailure(error)
    }
  }

  async #adopt(session: ArchivedSession, facts: { readonly id: string; readonly cwd: string; readonly parent: string | undefined }): Promise<void> {
    await this.#ctx.sessions.adopt(adoptedHeader(session, facts), session.lines, this.#cautiousEnding())
    for (const { digest, bytes } of session.attachments) {
      const kept = await this.#parts.blobs.putAttachment(facts.id, bytes, { mediaType: 'application/octet-stream' })
      if (kept.attachmentId === `sha256:${digest}`) continue
      await this.#ctx.sessions.remove(facts.id)
      throw new ArchiveError('HOSTILE', `The archive was refused: the attachment ${digest.slice(0, 12)}… holds something else than its name says.`)
    }
  }

  /** Whatever it was allowed where it comes from: here it begins like any other, and never with full access. */
  #cautiousEnding(): readonly EventDraft[] {
    const wanted = this.#ctx.settings.get(settings.permissionsDefaultPreset)
    const mode: SandboxMode = wanted === 'danger-full-access' ? 'workspace-write' : wanted
    return [
      { type: 'permission/preset', data: { preset: mode } },
      { type: 'sandbox/mode', data: { mode } },
      { type: 'approval/policy', data: { policy: 'ask' } },
    ]
  }

  async #isTaken(id: string): Promise<boolean> {
    if (this.#ctx.sessions.live(id) !== undefined) return true
    return this.#parts.events.describe(id).then(
      () => true,
      (error: unknown) => {
        if (isErrorOf(EventStoreError, error, 'SESSION_NOT_FOUND')) return false
        throw error
      },
    )
  }

  async #flushed(id: string): Promise<{ readonly size: number }> {
    const live = this.#ctx.sessions.live(id)
    if (live?.length === 0) throw new ArchiveError('EMPTY', 'Nothing was said in this session yet; there is nothing to export.')
    if (live?.access === 'write') await live.flush()
    return this.#parts.events.describe(id)
  }
}

/** The header, then the lines as far as they are good. */
async function* linesOf(events: EventStore, id: string): AsyncGenerator<readonly JsonObject[]> {
  const file = await events.open(id, 'read-only')
  try {
    headerFrom(id, file.header())
    yield [file.header()]
    yield* file.read()
  } finally {
    await file.close()
  }
}

/** Forks and what agents of it started, and theirs, each after its parent. */
function descendantsOf(root: string, sessions: readonly SessionSummary[]): readonly string[] {
  const found = [root]
  for (let at = 0; at < found.length; at++) {
    const parent = found[at]
    found.push(...sessions.filter(({ id, forkedFrom, startedBy, problem }) => problem === undefined && !found.includes(id) && (forkedFrom === parent || startedBy === parent)).map(({ id }) => id))
  }
  return found.slice(1)
}

/** What a file may be called everywhere. */
const slug = (title: string): string =>
  title.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '').slice(0, MAX_NAME_CHARS).replace(/-+$/, '')

function importFailure(error: unknown): unknown {
  if (!(error instanceof SessionError)) return error
  const code = error.code === 'UNSUPPORTED_VERSION' ? 'UNSUPPORTED_VERSION' : 'INVALID_LOG'
  return new ArchiveError(code, `The log cannot be imported. ${error.message}`, { cause: error })
}
