import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { JsonObject } from '../../base/json.ts'
import { EventStoreError, sessionNotFound, type EventFile, type EventStore, type StoredSession } from '../../capabilities/event-store.ts'
import { NodeEventFile } from './event-file.ts'
import { hasCode } from './file-facts.ts'
import { readEnds, readHeader } from './log-reader.ts'

/** One log anywhere on the disk as a store of one session, which can only be read: for replay. */
export class LogFileStore implements EventStore {
  readonly #path: string
  readonly #header: JsonObject
  readonly #id: string

  /** Errors: `SESSION_NOT_FOUND` for a missing file; `UNREADABLE` for one that does not begin with a header. */
  static async open(path: string): Promise<LogFileStore> {
    const header = await headerOf(path)
    if (typeof header === 'string') throw new EventStoreError('UNREADABLE', `${header} Give the path of an events.jsonl: ${path}`)
    const id = header['id']
    if (typeof id !== 'string') throw new EventStoreError('UNREADABLE', `The header of ${path} names no session. Give the path of an events.jsonl.`)
    return new LogFileStore(path, header, id)
  }

  private constructor(path: string, header: JsonObject, id: string) {
    this.#path = path
    this.#header = header
    this.#id = id
  }

  /** The session of the log. */
  get id(): string {
    return this.#id
  }

  async create(): Promise<EventFile> {
    throw this.#onlyRead()
  }

  async open(id: string): Promise<EventFile> {
    this.#mustBe(id)
    return NodeEventFile.open({ id, folder: dirname(this.#path), path: this.#path, header: this.#header, lease: null, writer: null })
  }

  async list(): Promise<readonly StoredSession[]> {
    return [await this.describe(this.#id)]
  }

  async describe(id: string): Promise<StoredSession> {
    this.#mustBe(id)
    const { mtimeMs, size } = await stat(this.#path)
    return { id, modifiedAt: mtimeMs, size, header: this.#header, note: null, notedAt: null }
  }

  async peek(id: string, maxBytes: number): Promise<{ readonly head: readonly JsonObject[]; readonly tail: readonly JsonObject[] }> {
    this.#mustBe(id)
    return readEnds(this.#path, maxBytes)
  }

  async *bytes(id: string): AsyncIterable<Uint8Array> {
    this.#mustBe(id)
    yield* createReadStream(this.#path) as AsyncIterable<Uint8Array>
  }

  async remove(): Promise<void> {
    throw this.#onlyRead()
  }

  #mustBe(id: string): void {
    if (id !== this.#id) throw sessionNotFound(id)
  }

  #onlyRead(): EventStoreError {
    return new EventStoreError('WRITE_FAILED', `The log ${this.#path} is only read here; nothing is kept.`)
  }
}

async function headerOf(path: string): Promise<JsonObject | string> {
  try {
    return await readHeader(path, null)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) throw new EventStoreError('SESSION_NOT_FOUND', `There is no log at ${path}.`, { cause: error })
    if (hasCode(error, 'EISDIR')) return `${path} is a folder.`
    throw error
  }
}
