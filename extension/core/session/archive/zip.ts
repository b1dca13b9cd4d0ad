import { Inflate, Zip, ZipDeflate, ZipPassThrough } from 'fflate'
import { joinBytes } from '../../../base/join-bytes.ts'
import { ArchiveError } from './archives.ts'

export interface ZipFile {
  readonly name: string
  readonly chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /** Compressed already, as images are. */
  readonly isStored?: true
}

/** Write files as a ZIP, piece by piece: no more of it is in memory than what was read last. `modifiedAt`: epoch ms. */
export async function* zipped(files: Iterable<ZipFile> | AsyncIterable<ZipFile>, modifiedAt: number): AsyncGenerator<Uint8Array> {
  const ready: Uint8Array[] = []
  let failure: Error | null = null
  const zip = new Zip((error, data) => {
    if (error === null) ready.push(data)
    else failure = error
  })
  function* take(): Generator<Uint8Array> {
    if (failure !== null) throw failure
    yield* ready.splice(0)
  }
  for await (const { name, chunks, isStored } of files) {
    const entry = isStored === true ? new ZipPassThrough(name) : new ZipDeflate(name, { level: 6 })
    entry.mtime = modifiedAt
    zip.add(entry)
    for await (const chunk of chunks) {
      entry.push(chunk, false)
      yield* take()
    }
    entry.push(new Uint8Array(), true)
    yield* take()
  }
  zip.end()
  yield* take()
}

export interface ZipCaps {
  readonly maxEntries: number
  /** Bytes of all files together, as they really come out. */
  readonly maxBytes: number
}

/** A file in a ZIP, not yet unpacked. */
export interface ZipEntry {
  readonly name: string
  /** Errors: `ArchiveError` `TOO_LARGE`, `NOT_AN_ARCHIVE`. */
  unpack(): Uint8Array
}

export const isZip = (bytes: Uint8Array): boolean => bytes.length >= 4 && view(bytes).getUint32(0, true) === LOCAL_HEADER

/**
 * The files of a ZIP by its central directory. Nothing is unpacked before it is asked for, and no more than the caps in all.
 *
 * Errors: `ArchiveError` `NOT_AN_ARCHIVE`; `HOSTILE` for a path that leads out, a link, a name that stands twice, or an encrypted file.
 */
export function zipEntries(bytes: Uint8Array, caps: ZipCaps): readonly ZipEntry[] {
  const data = view(bytes)
  const { count, at: start } = directoryOf(bytes, data)
  if (count > caps.maxEntries) throw new ArchiveError('TOO_LARGE', `The archive holds ${count} files, at most ${caps.maxEntries} are taken.`)
  const budget = { left: caps.maxBytes, max: caps.maxBytes }
  const entries: ZipEntry[] = []
  const names = new Set<string>()
  let at = start
  for (let index = 0; index < count; index++) {
    if (at + 46 > bytes.length || data.getUint32(at, true) !== DIRECTORY_ENTRY) throw damaged('its list of files is torn')
    const facts = factsAt(data, at)
    const nameEnd = at + 46 + facts.nameLength
    const name = nameFrom(bytes.subarray(at + 46, nameEnd))
    checkEntry(name, facts)
    if (names.has(name)) throw hostile(`holds ${JSON.stringify(name)} twice`)
    names.add(name)
    if (!name.endsWith('/')) entries.push({ name, unpack: () => unpack(bytes, data, { ...facts, name, budget }) })
    at = nameEnd + facts.extraLength + facts.commentLength
  }
  return entries
}

const LOCAL_HEADER = 0x04034b50
const DIRECTORY_ENTRY = 0x02014b50
const DIRECTORY_END = 0x06054b50
/** Of the end record: its size and that of the longest comment behind it. */
const END_BYTES = 22
const MAX_COMMENT = 0xffff
const UNIX = 3
const PIECE = 65_536

interface EntryFacts {
  readonly madeBy: number
  readonly flags: number
  readonly method: number
  readonly checksum: number
  readonly packedBytes: number
  readonly nameLength: number
  readonly extraLength: number
  readonly commentLength: number
  readonly mode: number
  readonly offset: number
}

function directoryOf(bytes: Uint8Array, data: DataView): { readonly count: number; readonly at: number } {
  for (let at = bytes.length - END_BYTES; at >= Math.max(0, bytes.length - END_BYTES - MAX_COMMENT); at--) {
    if (data.getUint32(at, true) !== DIRECTORY_END) continue
    const [count, start] = [data.getUint16(at + 10, true), data.getUint32(at + 16, true)]
    if (count === 0xffff || start === 0xffffffff) throw damaged('it is of the 64-bit kind, which no export of a session is')
    return { count, at: start }
  }
  throw damaged('it has no list of files')
}

const factsAt = (data: DataView, at: number): EntryFacts => ({
  madeBy: data.getUint16(at + 4, true) >> 8,
  flags: data.getUint16(at + 8, true),
  method: data.getUint16(at + 10, true),
  checksum: data.getUint32(at + 16, true),
  packedBytes: data.getUint32(at + 20, true),
  nameLength: data.getUint16(at + 28, true),
  extraLength: data.getUint16(at + 30, true),
  commentLength: data.getUint16(at + 32, true),
  mode: data.getUint32(at + 38, true) >>> 16,
  offset: data.getUint32(at + 42, true),
})

function nameFrom(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new ArchiveError('NOT_AN_ARCHIVE', 'The archive cannot be read: a file name in it is no UTF-8. Export the session again.', { cause: error })
  }
}

function checkEntry(name: string, { flags, madeBy, mode, method }: EntryFacts): void {
  const shown = JSON.stringify(name)
  if (name === '' || /[\\\0:]/.test(name) || name.startsWith('/') || name.split('/').includes('..')) throw hostile(`holds the path ${shown}, which leads out of it`)
  const kind = mode & 0xf000
  if (madeBy === UNIX && kind !== 0 && kind !== 0x8000 && kind !== 0x4000) throw hostile(`holds ${shown}, which is a link or a device, not a file`)
  if ((flags & 1) !== 0) throw hostile(`holds ${shown} encrypted`)
  if (method !== 0 && method !== 8) throw damaged(`${shown} is packed in a way that is not known`)
}

function unpack(bytes: Uint8Array, data: DataView, entry: EntryFacts & { readonly name: string; readonly budget: { left: number; readonly max: number } }): Uint8Array {
  const { name, offset, packedBytes, method, checksum, budget } = entry
  const shown = JSON.stringify(name)
  if (offset + 30 > bytes.length || data.getUint32(offset, true) !== LOCAL_HEADER) throw damaged(`${shown} is not where its list says`)
  const start = offset + 30 + data.getUint16(offset + 26, true) + data.getUint16(offset + 28, true)
  if (start + packedBytes > bytes.length) throw damaged(`${shown} is cut off`)
  const packed = bytes.subarray(start, start + packedBytes)
  const pieces: Uint8Array[] = []
  let size = 0
  const take = (piece: Uint8Array) => {
    size += piece.length
    budget.left -= piece.length
    if (budget.left < 0) throw new ArchiveError('TOO_LARGE', `The archive unpacks to more than ${budget.max / 1_048_576} MB. It is too large, or made to be.`)
    pieces.push(piece)
  }
  if (method === 0) take(packed)
  else inflate(packed, take, shown)
  const unpacked = joinBytes(pieces)
  if (crc32(unpacked) !== checksum) throw damaged(`${shown} does not match its checksum`)
  return unpacked
}

function inflate(packed: Uint8Array, take: (piece: Uint8Array) => void, shown: string): void {
  let isWhole = false
  try {
    const inflater = new Inflate((piece, isLast) => {
      take(piece)
      isWhole ||= isLast
    })
    for (let at = 0; at < packed.length; at += PIECE) inflater.push(packed.subarray(at, at + PIECE), at + PIECE >= packed.length)
  } catch (error) {
    if (error instanceof ArchiveError) throw error
    throw damaged(`${shown} cannot be unpacked`, error)
  }
  if (!isWhole) throw damaged(`${shown} is cut off`)
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) value = crcTable[(value ^ byte) & 0xff]! ^ (value >>> 8)
  return (value ^ 0xffffffff) >>> 0
}

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const damaged = (problem: string, cause?: unknown) => new ArchiveError('NOT_AN_ARCHIVE', `The archive cannot be read: ${problem}. Export the session again.`, { cause })
const hostile = (problem: string) => new ArchiveError('HOSTILE', `The archive was refused: it ${problem}. No export of a session does.`)
