import { fromCharacterStart, upToCharacterEnd } from '../../base/character-bounds.ts'
import type { SpillFile } from '../../capabilities/blob-store.ts'

/** What is left of one stream: its end, and where all of it is when it was cut. */
export interface CollectedStream {
  readonly text: string
  readonly truncated: boolean
  readonly totalBytes: number
  readonly spillPath?: string
}

export interface StreamCollectorOptions {
  /** Bytes of the end that are kept in memory. */
  readonly maxBytes: number
  /** Bytes a spill file may have; a longer stream has none. */
  readonly maxSpillBytes: number
  /** Called on the first overflow; absent when nothing can be saved. */
  readonly openSpill?: () => Promise<SpillFile>
}

/**
 * Takes one output stream: memory holds its byte-exact end; on the first overflow all of it goes to a file.
 *
 * A stream of exactly `maxBytes` is not cut. A spill that fails, or grows over its cap, is not shown.
 */
export class StreamCollector {
  totalBytes = 0
  readonly #options: StreamCollectorOptions
  #chunks: Uint8Array[] = []
  #keptBytes = 0
  #readUpTo = 0
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
    const truncated = this.totalBytes > this.#options.maxBytes
    const bytes = this.#lastBytes(this.#options.maxBytes)
    return {
      text: decode(truncated ? fromCharacterStart(bytes) : bytes),
      truncated,
      totalBytes: this.totalBytes,
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

  /** What is in memory, without consuming it. */
  shown(): { readonly text: string; readonly omittedBytes: number } {
    const kept = this.#lastBytes(this.#options.maxBytes)
    const bytes = this.totalBytes > this.#options.maxBytes ? fromCharacterStart(kept) : kept
    return { text: decode(bytes), omittedBytes: this.totalBytes - bytes.length }
  }

  #lastBytes(count: number): Uint8Array {
    const all = new Uint8Array(this.#keptBytes)
    let offset = 0
    for (const chunk of this.#chunks) {
      all.set(chunk, offset)
      offset += chunk.length
    }
    return all.subarray(Math.max(0, all.length - count))
  }
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
