import { stringifyJson, type Json, type JsonObject } from '../../extension/base/json.ts'
import {
  checkSessionId,
  EventStoreError,
  sessionAlreadyExists,
  sessionBusy,
  sessionNotFound,
  type EventFile,
  type EventStore,
  type LogRepair,
  type LogWriter,
  type StoredSession,
} from '../../extension/capabilities/event-store.ts'

/** What outlives a crash: the text of each log and who holds it. Give one disk to two stores to have two windows. */
export interface MemoryDisk {
  readonly logs: Map<string, MemoryLog>
}

export interface MemoryLog {
  /** The whole file: header line, event lines. */
  text: string
  /** Bytes that repairs moved aside, by file name. */
  readonly cuts: Map<string, string>
  note: { readonly value: JsonObject; readonly at: number } | null
  modifiedAt: number
  lease: MemoryLease | null
}

export interface MemoryEventStore extends EventStore {
  readonly disk: MemoryDisk
  /** Every later write fails with this reason, as on a full disk. */
  failWrites(reason: string): void
  /** Die as by SIGKILL: what was not flushed is lost, nothing is closed, the leases are free. */
  crash(): void
  /** Another window takes the log over, as after a long sleep of this one. */
  loseLease(id: string): void
  /** The stored lines after the header. */
  lines(id: string): readonly JsonObject[]
}

export const createMemoryDisk = (): MemoryDisk => ({ logs: new Map() })

/** An event store without a disk, with the promises of the real one. */
export function createMemoryEventStore(options: { readonly disk?: MemoryDisk; readonly pid?: number; readonly now?: () => number } = {}): MemoryEventStore {
  const { disk = createMemoryDisk(), pid = 1, now = () => 0 } = options
  let writeFailure: string | null = null
  const world: World = { disk, writer: { pid, host: 'memory', since: now() }, now, isDead: false, failure: () => writeFailure }
  const logOf = (id: string): MemoryLog => {
    const log = disk.logs.get(id)
    if (log === undefined) throw sessionNotFound(id)
    return log
  }
  const describe = (id: string): StoredSession => {
    const { text, modifiedAt, note } = logOf(id)
    const header = headerOf(id, text)
    const size = new TextEncoder().encode(text).length
    return { id, modifiedAt, size, note: note?.value ?? null, notedAt: note?.at ?? null, ...(typeof header === 'string' ? { header: null, problem: header } : { header }) }
  }
  return {
    disk,
    failWrites: (reason) => void (writeFailure = reason),
    crash() {
      world.isDead = true
      for (const log of disk.logs.values()) if (log.lease?.writer === world.writer) log.lease = null
    },
    loseLease(id) {
      const { lease } = logOf(id)
      lease?.file.lose()
    },
    lines: (id) => [...parsedLines(logOf(id).text).lines],
    async *bytes(id) {
      yield new TextEncoder().encode(logOf(id).text)
    },
    async create(header) {
      checkSessionId(header.id)
      if (disk.logs.has(header.id)) throw sessionAlreadyExists(header.id)
      return new MemoryEventFile(world, header.id, header, 'write')
    },
    async open(id, access) {
      const { text, lease } = logOf(id)
      const header = headerOf(id, text)
      if (typeof header === 'string') throw new EventStoreError('UNREADABLE', header)
      const isHeld = access === 'write' && lease !== null
      const file = new MemoryEventFile(world, id, header, isHeld ? 'read-only' : access, isHeld ? lease.writer : undefined)
      if (file.access === 'write') logOf(id).lease = new MemoryLease(world.writer, file)
      return file
    },
    list: async () => [...disk.logs.keys()].map(describe),
    describe: async (id) => describe(id),
    async peek(id) {
      const { lines } = parsedLines(logOf(id).text)
      return { head: lines, tail: lines }
    },
    async remove(id) {
      const { lease } = logOf(id)
      if (lease !== null) throw sessionBusy(id, lease.writer)
      disk.logs.delete(id)
    },
  }
}

interface World {
  readonly disk: MemoryDisk
  readonly writer: LogWriter
  readonly now: () => number
  readonly failure: () => string | null
  isDead: boolean
}

class MemoryLease {
  readonly writer: LogWriter
  readonly file: MemoryEventFile

  constructor(writer: LogWriter, file: MemoryEventFile) {
    this.writer = writer
    this.file = file
  }
}

class MemoryEventFile implements EventFile {
  readonly id: string
  readonly folder: string
  readonly access: 'write' | 'read-only'
  readonly writer?: LogWriter
  repair?: LogRepair
  readonly #world: World
  readonly #header: JsonObject
  readonly #leaseListeners = new Set<() => void>()
  #queue = ''
  #readLines = 0
  /** The text as this file left it. */
  #written = ''
  #failure: EventStoreError | null = null
  #isLost = false

  constructor(world: World, id: string, header: JsonObject, access: 'write' | 'read-only', writer?: LogWriter) {
    this.#world = world
    this.#header = header
    this.id = id
    this.folder = `/sessions/${id}`
    this.access = access
    if (writer !== undefined) this.writer = writer
  }

  header(): JsonObject {
    return this.#header
  }

  async *read(): AsyncIterable<readonly JsonObject[]> {
    const log = this.#world.disk.logs.get(this.id)
    if (log === undefined) return
    const { lines, isTorn } = parsedLines(log.text)
    this.#readLines = lines.length
    if (lines.length > 0) yield lines
    if (isTorn && this.access === 'write') await this.cut(lines.length, `line ${lines.length + 2} is no JSON object`)
  }

  async readMore(maxBytes: number): Promise<readonly JsonObject[]> {
    const text = this.#world.disk.logs.get(this.id)?.text
    if (text === undefined) throw sessionNotFound(this.id)
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    if (whole.split('\n').length - 2 < this.#readLines) throw new EventStoreError('UNREADABLE', 'The log is shorter than what was read of it.')
    const texts = whole.split('\n').slice(1, -1).slice(this.#readLines)
    const lines: JsonObject[] = []
    let bytes = 0
    for (const line of texts) {
      bytes += line.length + 1
      if (lines.length > 0 && bytes > maxBytes) break
      const value = objectFrom(line)
      if (value === null) throw new EventStoreError('UNREADABLE', 'What was added cannot be read.')
      lines.push(value)
    }
    this.#readLines += lines.length
    return lines
  }

  async readTail(count: number): Promise<readonly JsonObject[]> {
    const log = this.#world.disk.logs.get(this.id)
    return log === undefined || count === 0 ? [] : parsedLines(log.text).lines.slice(-count)
  }

  async cut(lines: number, reason: string): Promise<void> {
    const failure = this.#world.failure()
    if (failure !== null) throw new EventStoreError('WRITE_FAILED', `The log of session ${this.id} cannot be written: ${failure}.`)
    const log = this.#world.disk.logs.get(this.id)!
    const kept = log.text.split('\n').slice(0, lines + 1)
    const rest = log.text.slice(kept.join('\n').length + 1)
    const keptAs = `events.jsonl.cut-${log.cuts.size + 1}`
    log.cuts.set(keptAs, rest)
    log.text = `${kept.join('\n')}\n`
    this.repair = { cutBytes: new TextEncoder().encode(rest).length, keptAs, reason }
  }

  append(line: JsonObject): void {
    if (this.access === 'write') this.#queue += `${stringifyJson(line)}\n`
  }

  async flush(): Promise<void> {
    await Promise.resolve()
    if (this.#world.isDead || this.access === 'read-only') return
    const reason = this.#world.failure()
    if (reason !== null && this.#queue !== '') this.#failure ??= new EventStoreError('WRITE_FAILED', `The log of session ${this.id} cannot be written: ${reason}.`)
    if (this.#failure !== null) throw this.#failure
    if (this.#queue === '') return
    const log = this.#materialize()
    // Looking at the end of a text that grew piece by piece costs as much as all of it, so only a text of others is looked at.
    if (log.text !== this.#written && !log.text.endsWith('\n')) log.text += '\n'
    log.text += this.#queue
    this.#written = log.text
    log.modifiedAt = this.#world.now()
    this.#queue = ''
  }

  async putNote(note: JsonObject): Promise<void> {
    const log = this.#world.disk.logs.get(this.id)
    if (log !== undefined && this.access === 'write') log.note = { value: structuredClone(note), at: this.#world.now() }
  }

  async close(): Promise<void> {
    try {
      if (!this.#isLost) await this.flush()
    } finally {
      const log = this.#world.disk.logs.get(this.id)
      if (log?.lease?.file === this) log.lease = null
    }
  }

  onLeaseLost(listener: () => void): () => void {
    this.#leaseListeners.add(listener)
    return () => void this.#leaseListeners.delete(listener)
  }

  lose(): void {
    this.#failure ??= new EventStoreError('WRITE_FAILED', `The log of session ${this.id} cannot be written: another window took it over.`)
    this.#isLost = true
    for (const listener of this.#leaseListeners) listener()
  }

  #materialize(): MemoryLog {
    const { logs } = this.#world.disk
    const known = logs.get(this.id)
    if (known !== undefined) return known
    const log: MemoryLog = {
      text: `${stringifyJson(this.#header)}\n`,
      cuts: new Map(),
      note: null,
      modifiedAt: this.#world.now(),
      lease: new MemoryLease(this.#world.writer, this),
    }
    logs.set(this.id, log)
    return log
  }
}

/** The header, or why it cannot be understood. */
function headerOf(id: string, text: string): JsonObject | string {
  const header = objectFrom(text.split('\n', 1)[0]!)
  if (header === null) return `The first line of session ${id} is no header. Its file was left as it is.`
  return header['id'] === id ? header : `The log in the folder of session ${id} belongs to another session. It was left as it is.`
}

function parsedLines(text: string): { readonly lines: readonly JsonObject[]; readonly isTorn: boolean } {
  const lines: JsonObject[] = []
  const texts = text.split('\n').slice(1)
  if (texts.at(-1) === '') texts.pop()
  for (const line of texts) {
    const value = objectFrom(line)
    if (value === null) return { lines, isTorn: true }
    lines.push(value)
  }
  return { lines, isTorn: false }
}

function objectFrom(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as Json
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
  } catch {
    // Text that is no JSON is what the caller asks about.
    return null
  }
}
