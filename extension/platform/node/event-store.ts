import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import {
  checkSessionId,
  EventStoreError,
  sessionAlreadyExists,
  sessionBusy,
  sessionNotFound,
  type EventFile,
  type EventStore,
  type StoredSession,
} from '../../capabilities/event-store.ts'
import { NodeEventFile } from './event-file.ts'
import { Lease, type LeaseTimes } from './lease.ts'
import { headTail, readHeader } from './log-reader.ts'

export interface NodeEventStoreOptions extends Partial<LeaseTimes> {
  /** Holds one folder a session, named by its id: `<root>/<id>/events.jsonl`. Made when first needed, for its owner alone. */
  readonly root: string
}

/** Sessions looked at together when listing. */
const listConcurrency = 16

/** Sessions as folders on this machine's disk. Source: design 6.3. */
export class NodeEventStore implements EventStore {
  readonly #root: string
  readonly #times: LeaseTimes

  constructor({ root, heartbeatMs = 5_000, staleMs = 30_000 }: NodeEventStoreOptions) {
    this.#root = root
    this.#times = { heartbeatMs, staleMs }
  }

  async create(header: JsonObject & { readonly id: string }): Promise<EventFile> {
    const { id } = header
    checkSessionId(id)
    if (await exists(this.#logOf(id))) throw sessionAlreadyExists(id)
    return NodeEventFile.create({ id, folder: this.#folderOf(id), header, times: this.#times })
  }

  async open(id: string, access: 'write' | 'read-only'): Promise<EventFile> {
    await this.#mustExist(id)
    const folder = this.#folderOf(id)
    const header = await readHeader(this.#logOf(id), id)
    if (typeof header === 'string') throw new EventStoreError('UNREADABLE', `${header} Its file was left as it is: ${this.#logOf(id)}`)
    if (access === 'read-only') return NodeEventFile.open({ id, folder, header, lease: null, writer: null })
    const lease = await Lease.acquire(folder, this.#times)
    return NodeEventFile.open({ id, folder, header, ...(lease instanceof Lease ? { lease, writer: null } : { lease: null, writer: lease }) })
  }

  async list(): Promise<readonly StoredSession[]> {
    const ids = await this.#ids()
    const found: StoredSession[] = []
    const work = async () => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        // A folder without a log is what a removal or a crash before the first line leaves.
        if (await exists(this.#logOf(id))) found.push(await this.describe(id))
      }
    }
    await Promise.all(Array.from({ length: listConcurrency }, work))
    return found
  }

  async describe(id: string): Promise<StoredSession> {
    await this.#mustExist(id)
    const [{ mtimeMs, size }, header, note] = await Promise.all([stat(this.#logOf(id)), readHeader(this.#logOf(id), id), readNote(join(this.#folderOf(id), noteName))])
    const facts = { id, modifiedAt: mtimeMs, size, ...note }
    return typeof header === 'string' ? { ...facts, header: null, problem: header } : { ...facts, header }
  }

  async peek(id: string, maxBytes: number): Promise<{ readonly head: readonly JsonObject[]; readonly tail: readonly JsonObject[] }> {
    await this.#mustExist(id)
    return headTail(this.#logOf(id), maxBytes)
  }

  async remove(id: string): Promise<void> {
    await this.#mustExist(id)
    const folder = this.#folderOf(id)
    const lease = await Lease.acquire(folder, this.#times)
    if (!(lease instanceof Lease)) throw sessionBusy(id, lease)
    // Gone under its name at once; a crash in the middle of the rest leaves a folder that `list` passes over.
    const grave = join(this.#root, `.removed-${id}-${randomBytes(6).toString('hex')}`)
    await rename(folder, grave)
    lease.abandon()
    await rm(grave, { recursive: true, force: true })
  }

  #folderOf(id: string): string {
    return join(this.#root, id)
  }

  #logOf(id: string): string {
    return join(this.#root, id, logName)
  }

  async #mustExist(id: string): Promise<void> {
    checkSessionId(id)
    if (!(await exists(this.#logOf(id)))) throw sessionNotFound(id)
  }

  async #ids(): Promise<string[]> {
    try {
      const entries = await readdir(this.#root, { withFileTypes: true })
      return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return []
      throw error
    }
  }
}
