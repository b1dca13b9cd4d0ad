import { fromCharacterStart, upToCharacterEnd } from '../../base/character-bounds.ts'
import type { SpillFile } from '../../capabilities/blob-store.ts'

/** What is left of one stream: both ends, and where all of it is when it was cut. */
export interface CollectedStream {
  readonly text: string
  readonly truncated: boolean
  readonly totalBytes: number
  /** Of the middle; absent when nothing was cut. */
  readonly omittedBytes?: number
  readonly spillPath?: string
}

export interface StreamCollectorOptions {
  /** Bytes that are shown of it. */
  readonly maxBytes: number
  /** How many of them are its beginning, once it is longer; less than `maxBytes`. Default 0. */
  readonly headBytes?: number
  /** Bytes a spill file may have; a longer stream has none. */
  readonly maxSpillBytes: number
  /** Called on the first overflow; absent when nothing can be saved. */
  readonly openSpill?: () => Promise<SpillFile>
}

/**
 * Takes one output stream: memory holds its byte-exact beginning and end; on the first overflow all of it goes to a file.
 *
 * A stream of exactly `maxBytes` is not cut. A spill that fails, or grows over its cap, is not shown.
 */
export class StreamCollector {
  totalBytes = 0
  readonly #options: StreamCollectorOptions
  #chunks: Uint8Array[] = []
  #keptBytes = 0
  #readUpTo = 0
  #head = new Uint8Array(0)
  #spill: Spill | undefined
  #isFinished = false

  constructor(options: StreamCollectorOptions) {
    this.#options = options
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    const { maxBytes, maxSpillBytes, openSpill } = this.#options
    if (this.totalBytes <= maxBytes && this.totalBytes + chunk.length > maxBytes && openSpill) {
      this.#spill = new Spill(openSpill, maxSpillBytes)
      for (const kept of this.#chunks) this.#spill.append(kept)
    }
    this.#spill?.append(chunk)
    const missing = (this.#options.headBytes ?? 0) - this.#head.length
    if (missing > 0) this.#head = joined([this.#head, chunk.subarray(0, missing)])
    this.#chunks.push(chunk)
    this.totalBytes += chunk.length
    this.#keptBytes += chunk.length
    for (let first = this.#chunks[0]; first && this.#keptBytes - first.length >= maxBytes; first = this.#chunks[0]) {
      this.#chunks.shift()
      this.#keptBytes -= first.length
    }
  }

  /** No more comes. Resolves when the spill file is complete, or given up. */
  async finish(): Promise<CollectedStream> {
    this.#isFinished = true
    const spillPath = await this.#spill?.close()
    const { text, omittedBytes } = this.shown()
    const truncated = this.totalBytes > this.#options.maxBytes
    return {
      text,
      truncated,
      totalBytes: this.totalBytes,
      ...(truncated && { omittedBytes }),
      ...(truncated && spillPath !== undefined && { spillPath }),
    }
  }

  /** What came since the last call and is still in memory; `lostBytes` came too but is only in the spill file. */
  readDelta(): { readonly text: string; readonly lostBytes: number; readonly spillPath: string | undefined } {
    const fresh = this.totalBytes - this.#readUpTo
    const available = Math.min(fresh, this.#options.maxBytes)
    const lostBytes = fresh - available
    const whole = this.#lastBytes(available)
    const started = lostBytes > 0 ? fromCharacterStart(whole) : whole
    // A character whose rest has not come yet waits for the next read.
    const bytes = this.#isFinished ? started : upToCharacterEnd(started)
    this.#readUpTo = this.totalBytes - (started.length - bytes.length)
    return { text: decode(bytes), lostBytes, spillPath: this.spillPath }
  }

  /** The file with all of it, once there is one. */
  get spillPath(): string | undefined {
    return this.#spill?.path
  }

  get heldBytes(): number {
    return this.#head.length + this.#keptBytes
  }

  /** What is in memory, without consuming it. A line in the text says what of the middle is left out. */
  shown(): { readonly text: string; readonly omittedBytes: number } {
    const { maxBytes, headBytes = 0 } = this.#options
    if (this.totalBytes <= maxBytes) return { text: decode(this.#lastBytes(maxBytes)), omittedBytes: 0 }
    const head = upToCharacterEnd(this.#head)
    const tail = fromCharacterStart(this.#lastBytes(maxBytes - headBytes))
    const omittedBytes = this.totalBytes - head.length - tail.length
    const start = decode(head)
    return { text: head.length === 0 ? decode(tail) : `${start}${start.endsWith('\n') ? '' : '\n'}[… ${omittedBytes} bytes left out …]\n${decode(tail)}`, omittedBytes }
  }

  #lastBytes(count: number): Uint8Array {
    const all = joined(this.#chunks)
    return all.subarray(Math.max(0, all.length - count))
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const chunk of chunks) {
    all.set(chunk, offset)
    offset += chunk.length
  }
  return all
}

/** A spill file that opens while chunks come, and gives up for good on its first failure or over its cap. */
class Spill {
  #bytes = 0
  #file: SpillFile | undefined
  #isGivenUp = false
  #work: Promise<void>
  readonly #maxBytes: number

  constructor(open: () => Promise<SpillFile>, maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#work = this.#attempt(async () => {
      this.#file = await open()
    })
  }

  /** Undefined until it is open, and for good once it was given up. */
  get path(): string | undefined {
    return this.#isGivenUp ? undefined : this.#file?.path
  }

  append(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#maxBytes) return this.#giveUp()
    this.#work = this.#work.then(() => this.#attempt(async () => this.#file?.append(chunk)))
  }

  async close(): Promise<string | undefined> {
    this.#work = this.#work.then(() => this.#attempt(async () => this.#file?.close()))
    await this.#work
    return this.path
  }

  #giveUp(): void {
    if (this.#isGivenUp) return
    this.#isGivenUp = true
    this.#work = this.#work.then(() => this.#file?.discard())
  }

  async #attempt(step: () => Promise<void>): Promise<void> {
    if (this.#isGivenUp) return
    try {
      await step()
    } catch {
      // The whole output is a courtesy: without it the result says that it could not be kept.
      this.#isGivenUp = true
      await this.#file?.discard()
    }
  }
}

const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
