import { FileError } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Session } from '../../core/session/session.ts'
import type { Execution, ToolResult } from '../../core/tools/definition.ts'
import type { Image } from './events.ts'
import { MAX_REVIEWED_BYTES, type Images } from './images.ts'

/** What a call may have changed: the file and what stood there before it. */
export interface Touched {
  readonly path: string
  /** Absent: nobody kept it. */
  readonly before?: Image
}

export interface Recorder {
  /** Run a call, and log what it changed. Its images are kept behind the step: the file itself holds them until then. `hasOwnCard`: its card shows what it changed. */
  around(exec: Pick<Execution, 'callId'> & { readonly session: Session; readonly hasOwnCard: boolean }, next: () => Promise<ToolResult>): Promise<ToolResult>
  /** Log changes. `isFound`: nobody kept the file for that; `isCounted`: no card of a tool shows them, so their lines are counted. */
  note(session: Session, callId: string, touched: readonly Touched[], options: { readonly isFound: boolean; readonly isCounted: boolean }): Promise<void>
  /** After a crash: what the calls of the turn that it cut off changed, and the log does not tell. Never rejects. */
  mend(session: Session): Promise<void>
  /** Waits until what calls changed so far is in the log. */
  settled(session: Session): Promise<void>
}

export function createRecorder({ images, logger }: { readonly images: Images; readonly logger: Logger }): Recorder {
  const pending = new Map<string, Promise<void>>()

  /** In order, so that the log tells of the changes as they were made. */
  function behind(session: Session, work: () => Promise<void>): void {
    const previous = pending.get(session.id) ?? Promise.resolve()
    const turn = previous.then(work).catch((error: unknown) => {
      logger.warn('A change could not be put up for review.', { session: session.id, error: String(error) })
    })
    const done = turn.then(() => {
      if (pending.get(session.id) === done) pending.delete(session.id)
    })
    pending.set(session.id, done)
  }

  async function note(session: Session, callId: string, touched: readonly Touched[], { isFound, isCounted }: { readonly isFound: boolean; readonly isCounted: boolean }): Promise<void> {
    let tooLarge = 0
    for (const { path, before } of touched) {
      let read: Uint8Array | null
      try {
        // At once, before anything else can change it.
        // Of what a tool changed itself all is kept before; it can be put back as a whole where it is too large to be compared.
        read = await images.readBytes(session, path, isFound ? MAX_REVIEWED_BYTES : undefined)
      } catch (error) {
        // What cannot be read now cannot be reviewed; the change itself has happened and is told. The others are put up all the same.
        if (error instanceof FileError && error.code === 'FS_TOO_LARGE') tooLarge += 1
        else logger.warn('A changed file could not be read for the review.', { callId, path, error: error instanceof FileError ? error.message : String(error) })
        continue
      }
      behind(session, async () => {
        const after = read === null ? null : await keptOrNamed(session, read)
        if (after === before || session.access !== 'write') return
        const lines = isCounted ? await images.counts(session, path, before ?? null, after) : undefined
        session.append({ type: 'fs/after-image', data: { callId, path, ...(before !== undefined && { before }), after, ...(lines && { lines }) }, ignorable: true })
      })
    }
    if (tooLarge > 0 && session.access === 'write') session.append({ type: 'review/limited', data: { callId, reason: 'too-large-to-review', files: tooLarge }, ignorable: true })
  }

  /** A change is put up for review also where its result cannot be kept, on a full disk: as long as the file stays as it is, it can be taken back as a whole. */
  async function keptOrNamed(session: Session, bytes: Uint8Array): Promise<Image> {
    try {
      return await images.keepBytes(session, bytes)
    } catch (error) {
      logger.warn('What a call made of a file could not be kept.', { session: session.id, error: String(error) })
      return await images.digestOf(bytes)
    }
  }

  async function settled(session: Session): Promise<void> {
    for (let work = pending.get(session.id); work !== undefined; work = pending.get(session.id)) await work
  }

  return {
    note,
    async around({ session, callId, hasOwnCard }, next) {
      const from = session.length
      const result = await next()
      const touched = session.length === from ? [] : touchedBy(session, from, callId)
      if (touched.length > 0) await note(session, callId, touched, { isFound: false, isCounted: !hasOwnCard })
      return result
    },
    async mend(session) {
      const found = untold(session)
      if (found.size === 0) return
      behind(session, async () => {
        for (const [callId, touched] of found) await note(session, callId, touched, { isFound: false, isCounted: false })
      })
      await settled(session)
    },
    settled,
  }
}

/** The files that a call kept before it changed them, as they were before its first change. */
function touchedBy(session: Session, from: number, callId: string): readonly Touched[] {
  const first = new Map<string, Image>()
  for (const event of session.events(from)) {
    if (event.type === 'fs/before-image' && event.data.callId === callId && !first.has(event.data.path)) first.set(event.data.path, event.data.digest)
  }
  return [...first].map(([path, before]) => ({ path, before }))
}

/** Files that calls of a turn kept, and maybe changed, before a crash ended it. */
function untold(session: Session): ReadonlyMap<string, readonly Touched[]> {
  const events = session.milestones()
  const start = events.findLastIndex(({ type }) => type === 'turn/start')
  const turn = start < 0 ? [] : events.slice(start)
  const isCutOff = turn.some((event) => event.type === 'turn/end' && event.data.reason.kind === 'interrupted')
  const found = new Map<string, Touched[]>()
  for (const event of isCutOff ? turn : []) {
    if (event.type === 'fs/before-image') {
      const { callId, path, digest } = event.data
      if (found.get(callId)?.some((one) => one.path === path) !== true) found.set(callId, [...(found.get(callId) ?? []), { path, before: digest }])
    } else if (event.type === 'fs/after-image') {
      const { callId, path } = event.data
      found.set(callId, (found.get(callId) ?? []).filter((one) => one.path !== path))
    }
  }
  return found
}
