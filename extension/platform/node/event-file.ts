import { randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, writeFile, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { stringifyJson, type JsonObject } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import type { Undo } from '../../base/undo.ts'
import { EventStoreError, sessionNotFound, type EventFile, type LogRepair, type LogWriter } from '../../capabilities/event-store.ts'
import { exists, hasCode, syncFolder } from './file-facts.ts'
import { Lease, type LeaseTimes } from './lease.ts'
import { offsetAfter, readFrom, readLines, readTail } from './log-reader.ts'
import { makeFolders } from './make-folders.ts'

export const logName = 'events.jsonl'
export const noteName = 'note.json'

/** More lines than these are written even when nobody flushes. */
const maxQueueLines = 1_024

export interface NewEventFile {
  readonly id: string
  readonly folder: string
  readonly header: JsonObject
  readonly times: LeaseTimes
}

export interface StoredEventFile {
  readonly id: string
  readonly folder: string
  /** Of the log, when it does not stand in `folder` under its usual name. */
  readonly path?: string
  readonly header: JsonObject
  /** Null: opened for reading. */
  readonly lease: Lease | null
  readonly writer: LogWriter | null
  readonly obstacle?: string
}

/**
 * One log on the disk. Lines are queued; each write takes all that wait and is synced once, for every flush that waits with it.
 *
 * Errors: the first failed write is for good. A write that failed may have left half a line, which the next opening cuts off.
 */
export class NodeEventFile implements EventFile {
  readonly id: string
  readonly folder: string
  readonly access: 'write' | 'read-only'
  readonly writer?: LogWriter
  readonly obstacle?: string
  repair?: LogRepair
  readonly #path: string
  readonly #header: JsonObject
  /** Of a log that is not on the disk yet. */
  readonly #times: LeaseTimes | null
  readonly #leaseListeners = new Set<() => void>()
  #lease: Lease | null = null
  #handle: FileHandle | null = null
  #queue: JsonObject[] = []
  /** The write that runs or ran last; it holds every line that is not in the queue. */
  #current: Promise<void> = Promise.resolve()
  /** The write that takes the queue when the current one is done. */
  #next: Promise<void> | null = null
  #failure: EventStoreError | null = null
  /** The last line on the disk has no end. */
  #lacksNewline = false
  #isLeaseLost = false
  #noteWrites: Promise<void> = Promise.resolve()
  /** Lines after the header that were read, and where the next one begins once that was looked up. */
  #readLines = 0
  #readTo: number | null = null

  static create(file: NewEventFile): NodeEventFile {
    return new NodeEventFile(file, 'write', file.times)
  }

  /** Errors: `WRITE_FAILED` when it was to be written and cannot be. */
  static async open(stored: StoredEventFile): Promise<NodeEventFile> {
    const file = new NodeEventFile(stored, stored.lease === null ? 'read-only' : 'write', null)
    if (stored.lease === null) return file
    file.#hold(stored.lease)
    try {
      file.#handle = await open(file.#path, 'a+', 0o600)
      file.#lacksNewline = await lacksNewline(file.#handle)
      return file
    } catch (error) {
      await file.close()
      throw cannotOpen(stored.id, error)
    }
  }

  private constructor(file: NewEventFile | StoredEventFile, access: 'write' | 'read-only', times: LeaseTimes | null) {
    this.id = file.id
    this.folder = file.folder
    this.access = access
    if ('writer' in file && file.writer !== null) this.writer = file.writer
    if ('obstacle' in file && file.obstacle !== undefined) this.obstacle = file.obstacle
    this.#path = ('path' in file ? file.path : undefined) ?? join(file.folder, logName)
    this.#header = file.header
    this.#times = times
  }

  header(): JsonObject {
    return this.#header
  }

  async *read(): AsyncIterable<readonly JsonObject[]> {
    if (this.#isUnborn) return
    let count = 0
    try {
      for await (const { lines, damage } of readLines(this.#path)) {
        count += lines.length
        this.#readLines = count
        if (lines.length > 0) yield lines
        if (damage !== null && this.access === 'write') await this.cut(count, `line ${count + 2}: ${damage}`)
      }
    } catch (error) {
      throw this.#goneOr(error)
    }
  }

  async readTail(count: number): Promise<readonly JsonObject[]> {
    try {
      return this.#isUnborn ? [] : await readTail(this.#path, count)
    } catch (error) {
      throw this.#goneOr(error)
    }
  }

  async readMore(maxBytes: number): Promise<readonly JsonObject[]> {
    try {
      const from = (this.#readTo ??= await offsetAfter(this.#path, this.#readLines))
      const { lines, end } = await readFrom(this.#path, from, maxBytes)
      this.#readTo = end
      return lines
    } catch (error) {
      throw this.#goneOr(error)
    }
  }

  /** Another window may take a session away while it is opened here. */
  #goneOr(error: unknown): unknown {
    return hasCode(error, 'ENOENT') ? sessionNotFound(this.id) : error
  }

  async cut(lines: number, reason: string): Promise<void> {
    const handle = this.#handle
    if (handle === null) throw new EventStoreError('WRITE_FAILED', `The log of session ${this.id} is not open for writing; nothing was cut off.`)
    const [offset, { size }] = [await offsetAfter(this.#path, lines), await handle.stat()]
    if (offset >= size) return
    try {
      const keptAs = await keepRest(this.#path, offset)
      await handle.truncate(offset)
      await handle.sync()
      this.#lacksNewline = false
      this.repair = { cutBytes: size - offset, keptAs, reason }
    } catch (error) {
      throw cannotOpen(this.id, error)
    }
  }

  append(line: JsonObject): void {
    if (this.access === 'read-only' || this.#failure !== null) return
    this.#queue.push(line)
    // A failure shows in the next flush that somebody waits for.
    if (this.#queue.length === maxQueueLines) this.#startWrite().catch(() => {})
  }

  async flush(): Promise<void> {
    if (this.#failure !== null) throw this.#failure
    await (this.#queue.length === 0 ? this.#current : this.#startWrite())
  }

  putNote(note: JsonObject): Promise<void> {
    this.#noteWrites = this.#noteWrites.then(() => this.#writeNote(note))
    return this.#noteWrites
  }

  async close(): Promise<void> {
    try {
      if (this.access === 'write' && !this.#isLeaseLost) await this.flush()
    } finally {
      this.#failure ??= new EventStoreError('WRITE_FAILED', `The log of session ${this.id} is closed. Open the session again to go on.`)
      await this.#noteWrites
      await this.#handle?.close()
      this.#handle = null
      await this.#lease?.release()
    }
  }

  onLeaseLost(listener: () => void): Undo {
    this.#leaseListeners.add(listener)
    return () => void this.#leaseListeners.delete(listener)
  }

  /** Nothing was written yet. */
  get #isUnborn(): boolean {
    return this.#times !== null && this.#handle === null
  }

  /** The write that will hold all that waits now. */
  #startWrite(): Promise<void> {
    this.#next ??= this.#writeAfter(this.#current)
    return this.#next
  }

  async #writeAfter(running: Promise<void>): Promise<void> {
    await running
    this.#current = this.#next!
    this.#next = null
    const lines = this.#queue
    this.#queue = []
    try {
      const text = lines.map((line) => `${stringifyJson(line)}\n`).join('')
      if (this.#handle === null) await this.#create(text)
      else await this.#write(this.#handle, text)
    } catch (error) {
      this.#failure ??= writeFailed(this.id, error)
      throw this.#failure
    }
  }

  async #write(handle: FileHandle, text: string): Promise<void> {
    if (this.#failure !== null) throw this.#failure
    if (this.#lease === null || !(await this.#lease.isHeld())) throw new Error('another window took it over')
    await writeAll(handle, this.#lacksNewline ? `\n${text}` : text)
    this.#lacksNewline = false
    await handle.datasync()
  }

  /** The first write makes the folder, takes the lease, and shows the log under its name once the header is durable with it. */
  async #create(text: string): Promise<void> {
    if (this.#failure !== null) throw this.#failure
    if (this.#times === null) throw new Error('it is closed')
    await makeFolders(this.folder, 0o700)
    const lease = await Lease.acquire(this.folder, this.#times)
    if (!(lease instanceof Lease)) throw new Error(`process ${lease.pid} on ${lease.host} writes a session of the same id`)
    this.#hold(lease)
    if (await exists(this.#path)) throw new Error('a session of the same id was made meanwhile')
    const draft = join(this.folder, `.${logName}-${randomBytes(6).toString('hex')}`)
    this.#handle = await open(draft, 'ax+', 0o600)
    await writeAll(this.#handle, `${stringifyJson(this.#header)}\n${text}`)
    await this.#handle.sync()
    await rename(draft, this.#path)
    await syncFolder(this.folder)
    await syncFolder(dirname(this.folder))
  }

  #hold(lease: Lease): void {
    this.#lease = lease
    lease.onLost(() => {
      this.#isLeaseLost = true
      this.#failure ??= writeFailed(this.id, new Error('another window took it over'))
      for (const listener of this.#leaseListeners) listener()
    })
  }

  async #writeNote(note: JsonObject): Promise<void> {
    if (this.#handle === null) return
    const draft = join(this.folder, `.${noteName}-${randomBytes(6).toString('hex')}`)
    try {
      await writeFile(draft, `${stringifyJson(note)}\n`, { mode: 0o600 })
      await rename(draft, join(this.folder, noteName))
    } catch {
      // The note is derived from the log; without it the list reads both ends of the log instead.
    }
  }
}

/** When nothing was appended yet. */
export const cannotOpen = (id: string, cause: unknown): EventStoreError =>
  new EventStoreError('WRITE_FAILED', `Session ${id} cannot be written: ${messageOf(cause)}. Its log was left as it is. Make room on the disk, or make the folder writable, then open the session again.`, { cause })

const writeFailed = (id: string, cause: unknown): EventStoreError =>
  new EventStoreError('WRITE_FAILED', `The log of session ${id} cannot be written: ${messageOf(cause)}. Nothing is kept until the session is opened again.`, { cause })

async function writeAll(handle: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text, 'utf8')
  let written = 0
  while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten
}

async function lacksNewline(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat()
  if (size === 0) return false
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] !== 0x0a
}

/** Copy what follows `offset` into a fresh file beside the log, durably. */
async function keepRest(path: string, offset: number): Promise<string> {
  for (let number = 1; ; number++) {
    const name = `${logName}.cut-${number}`
    try {
      await pipeline(createReadStream(path, { start: offset }), createWriteStream(join(dirname(path), name), { flags: 'wx', mode: 0o600, flush: true }))
      await syncFolder(dirname(path))
      return name
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
  }
}
