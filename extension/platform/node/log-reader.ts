import { isUtf8 } from 'node:buffer'
import { open, type FileHandle } from 'node:fs/promises'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { EventStoreError } from '../../capabilities/event-store.ts'

/** Small enough that what is made of one block never holds the thread up for long. */
const blockBytes = 262_144
const headBlockBytes = 4_096
const tailBlockBytes = 65_536
/** What a line of a log holds more or less, for the size of the first read. */
const usualLineBytes = 1_024
/** A header is a few hundred bytes; more than this is no header. */
const maxHeaderBytes = 1_048_576
const newline = 0x0a

/** What stands in a log after its header, in batches, and how it ends. */
export interface LineBatch {
  readonly lines: readonly JsonObject[]
  /** Null while the log is good; else why the line after `lines` is not. */
  readonly damage: string | null
}

/** The header line of a log, or in words why it is none. Null for `id`: of whatever session it is. */
export async function readHeader(path: string, id: string | null): Promise<JsonObject | string> {
  const log = id === null ? 'The log' : `The log of session ${id}`
  const bytes = await firstLine(path)
  if (bytes.length === 0) return `${log} is empty.`
  const header = objectFrom(bytes)
  if (header === null) return `${log} has a first line that is torn or no JSON object.`
  return id === null || header['id'] === id ? header : `The log in the folder of session ${id} says that it is session ${JSON.stringify(header['id'])}.`
}

/** Without its end; as much as there is when it has none. */
async function firstLine(path: string): Promise<Buffer> {
  const handle = await open(path, 'r')
  try {
    for (let length = headBlockBytes; ; length *= 8) {
      const bytes = await readAt(handle, 0, length)
      const end = bytes.indexOf(newline)
      if (end >= 0) return bytes.subarray(0, end)
      if (bytes.length < length || length >= maxHeaderBytes) return bytes
    }
  } finally {
    await handle.close()
  }
}

/** Every line after the header. Stops at the first that is no JSON object, after saying so. */
export async function* readLines(path: string): AsyncIterable<LineBatch> {
  const handle = await open(path, 'r')
  try {
    // What was read of a line whose end is still to come.
    let rest: Buffer = Buffer.alloc(0)
    let isHeaderPast = false
    for (;;) {
      const room = Math.max(blockBytes, rest.length)
      const block = Buffer.allocUnsafe(rest.length + room)
      rest.copy(block)
      const { bytesRead } = await handle.read(block, rest.length, room, null)
      const filled = rest.length + bytesRead
      const isEnd = bytesRead === 0
      // At the end there is a rest only when the last line was not ended.
      if (isEnd && filled === 0) return
      const end = isEnd ? filled : block.subarray(0, filled).lastIndexOf(newline)
      rest = block.subarray(Math.min(end + 1, filled), filled)
      if (end < 0) continue
      const batch = batchFrom(block.subarray(0, end), isHeaderPast ? 0 : 1)
      isHeaderPast = true
      yield batch
      if (isEnd || batch.damage !== null) return
    }
  } finally {
    await handle.close()
  }
}

/** The newest `count` lines without the header. What cannot be understood is left out. */
export async function readTail(path: string, count: number): Promise<readonly JsonObject[]> {
  if (count <= 0) return []
  return withFile(path, async (handle, size) => {
    let start = size
    let bytes: Buffer = Buffer.alloc(0)
    // One newline more than lines, since what stands before the first of them may be half a line.
    for (let length = Math.max(tailBlockBytes, count * usualLineBytes); start > 0 && countOf(bytes, newline) <= count; length *= 2) {
      const from = Math.max(0, start - length)
      bytes = Buffer.concat([await readAt(handle, from, start - from), bytes])
      start = from
    }
    return wholeLines(bytes).slice(-count)
  })
}

/** Whole lines from the first and the last `maxBytes` of a log, without its header. */
export async function readEnds(path: string, maxBytes: number): Promise<{ readonly head: readonly JsonObject[]; readonly tail: readonly JsonObject[] }> {
  return withFile(path, async (handle, size) => {
    const headBytes = await readAt(handle, 0, Math.min(size, maxBytes))
    const head = wholeLines(headBytes.subarray(0, headBytes.lastIndexOf(newline) + 1))
    if (size <= maxBytes) return { head, tail: head }
    return { head, tail: wholeLines(await readAt(handle, size - maxBytes, maxBytes)) }
  })
}

/** Bytes of the header and the first `lines` lines after it, newlines included. */
export async function offsetAfter(path: string, lines: number): Promise<number> {
  return withFile(path, async (handle, size) => {
    let left = lines + 1
    for (let from = 0; from < size; from += blockBytes) {
      const block = await readAt(handle, from, Math.min(blockBytes, size - from))
      for (let at = block.indexOf(newline); at >= 0; at = block.indexOf(newline, at + 1)) {
        left--
        if (left === 0) return from + at + 1
      }
    }
    return size
  })
}

/**
 * Whole lines from `offset` on, at most about `maxBytes` of them, and where the next one begins.
 *
 * Errors: `EventStoreError` `UNREADABLE` when the log is shorter than that by now, or a line is no JSON object.
 */
export async function readFrom(path: string, offset: number, maxBytes: number): Promise<{ readonly lines: readonly JsonObject[]; readonly end: number }> {
  return withFile(path, async (handle, size) => {
    if (size < offset) throw new EventStoreError('UNREADABLE', `${path} is shorter than what was read of it.`)
    // A line that is longer than that is read whole, once it has its end.
    for (let length = maxBytes; ; length *= 4) {
      const bytes = await readAt(handle, offset, Math.min(size - offset, length))
      const end = bytes.lastIndexOf(newline)
      if (end < 0 && bytes.length < size - offset) continue
      if (end < 0) return { lines: [], end: offset }
      const { lines, damage } = batchFrom(bytes.subarray(0, end), 0)
      if (damage !== null) throw new EventStoreError('UNREADABLE', `What was added to ${path} cannot be read: ${damage}.`)
      return { lines, end: offset + end + 1 }
    }
  })
}

function batchFrom(bytes: Buffer, skip: number): LineBatch {
  const lines: JsonObject[] = []
  for (const text of textsOf(bytes).slice(skip)) {
    const line = lineFrom(text)
    if (line === null) return { lines, damage: 'it is torn or no JSON object' }
    lines.push(line)
  }
  return { lines, damage: null }
}

/** Lines that can be understood, without the first, which is the header or may be half a line. */
function wholeLines(bytes: Buffer): readonly JsonObject[] {
  const first = bytes.indexOf(newline)
  if (first < 0) return []
  return textsOf(bytes.subarray(first + 1)).map(lineFrom).filter((line) => line !== null)
}

/** The text of many lines is checked once; only when some of it is bad is each looked at alone. */
const textsOf = (bytes: Buffer): readonly (string | Buffer)[] => (isUtf8(bytes) ? bytes.toString('utf8').split('\n') : splitLines(bytes))

const lineFrom = (text: string | Buffer): JsonObject | null => (typeof text === 'string' ? parsed(text) : objectFrom(text))

function splitLines(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, from)) {
    lines.push(bytes.subarray(from, at))
    from = at + 1
  }
  lines.push(bytes.subarray(from))
  return lines
}

const objectFrom = (bytes: Buffer): JsonObject | null => (isUtf8(bytes) ? parsed(bytes.toString('utf8')) : null)

function parsed(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as Json
    return isJsonObject(value) ? value : null
  } catch {
    // Text that is no JSON is what the caller asks about.
    return null
  }
}

function countOf(bytes: Buffer, byte: number): number {
  let count = 0
  for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) count++
  return count
}

async function withFile<T>(path: string, use: (handle: FileHandle, size: number) => Promise<T>): Promise<T> {
  const handle = await open(path, 'r')
  try {
    return await use(handle, (await handle.stat()).size)
  } finally {
    await handle.close()
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}
