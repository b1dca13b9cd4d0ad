import { createHash, hash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import type { Reading } from '../../base/encoding.ts'
import { LineWindowScanner } from '../../base/line-window.ts'
import { MAX_WHOLE_TEXT_CHARS, notRegular, type FileLines, type FileTarget, type FileVersion, type LineWindow } from '../../capabilities/file-system.ts'
import { checkNotAborted } from './file-failure.ts'

/** Source: capability specification 4 "Version token", with the content hash in the place of times. */
export function versionOf(bytes: Uint8Array): FileVersion {
  return versionFrom(hash('sha256', bytes))
}

const versionFrom = (digest: string) => `sha256:${digest}` as FileVersion

/** Never opens what could block or act on being opened, such as a FIFO or a device. */
export async function withRegularFile<T>({ path, spelling }: Pick<FileTarget, 'path' | 'spelling'>, work: (file: FileHandle, facts: Stats) => Promise<T>): Promise<T> {
  const before = await stat(path)
  if (!before.isFile()) throw notRegular(spelling, kindOf(before))
  // Should something else have taken its place in between, opening it must not block either.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const facts = await file.stat()
    if (!facts.isFile()) throw notRegular(spelling, kindOf(facts))
    return await work(file, facts)
  } finally {
    await file.close()
  }
}

const kindOf = (facts: Stats) => (facts.isDirectory() ? 'directory' : 'other')

const chunkBytes = 256 * 1024

/**
 * All bytes, or a few more than `maxBytes` when there are more.
 *
 * `size` is a guess: files such as those of `/proc` say 0, and a log grows while it is read.
 */
export async function readWhole(
  file: FileHandle,
  { size, maxBytes, signal }: { readonly size: number; readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let total = 0
  while (total <= maxBytes) {
    checkNotAborted(signal)
    // One byte more than expected, so that the end is seen without another read.
    const chunk = Buffer.allocUnsafe(total === 0 ? size + 1 : chunkBytes)
    const { bytesRead } = await file.read(chunk, 0, chunk.length, total)
    if (bytesRead === 0) break
    chunks.push(chunk.subarray(0, bytesRead))
    total += bytesRead
    if (total === size && bytesRead < chunk.length) break
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

export async function readStart(file: FileHandle, length: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(length)
  const { bytesRead } = await file.read(buffer, 0, length, 0)
  return buffer.subarray(0, bytesRead)
}

/** One pass over the file with one reading of its bytes, in bounded memory; null when they are no text of that encoding. */
export async function scanLines(
  file: FileHandle,
  { codec, bomLength, forbidsNul }: Reading,
  window: LineWindow,
  signal?: AbortSignal,
): Promise<Omit<FileLines, 'source' | 'isDirty'> | null> {
  const scanner = new LineWindowScanner(window)
  const decoder = codec.createDecoder()
  const digest = createHash('sha256')
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let wholeText: string | null = ''
  const take = (text: string) => {
    scanner.write(text)
    if (wholeText !== null) wholeText = wholeText.length + text.length > MAX_WHOLE_TEXT_CHARS ? null : wholeText + text
  }
  for (let position = 0; ; ) {
    checkNotAborted(signal)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) break
    const bytes = buffer.subarray(0, bytesRead)
    digest.update(bytes)
    if (forbidsNul && bytes.includes(0)) return null
    const text = decoder.write(position === 0 ? bytes.subarray(bomLength) : bytes)
    if (text === null) return null
    take(text)
    position += bytesRead
  }
  const rest = decoder.end()
  if (rest === null) return null
  take(rest)
  const { eol, ...lines } = scanner.end()
  return { ...lines, ...(wholeText !== null && { wholeText }), version: versionFrom(digest.digest('hex')), form: { encoding: codec.label, hasBom: bomLength > 0, eol } }
}
