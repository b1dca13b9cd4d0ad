import { unlink, type FileHandle } from 'node:fs/promises'
import type { SpillFile } from '../../capabilities/blob-store.ts'

/** An output file that grows. Writes are done one after the other, in the order of the calls. */
export class NodeSpillFile implements SpillFile {
  readonly path: string
  readonly #handle: FileHandle
  #writes: Promise<void> = Promise.resolve()
  #closing: Promise<void> | null = null

  constructor(path: string, handle: FileHandle) {
    this.path = path
    this.#handle = handle
  }

  append(bytes: Uint8Array): Promise<void> {
    // The caller may use its buffer again before the write comes.
    const copy = bytes.slice()
    this.#writes = this.#writes.then(() => this.#handle.appendFile(copy))
    // Whoever waits gets the failure; one that nobody waits for shows at close.
    this.#writes.catch(() => {})
    return this.#writes
  }

  async close(): Promise<void> {
    try {
      await this.#writes
    } finally {
      this.#closing ??= this.#handle.close()
      await this.#closing
    }
  }

  async discard(): Promise<void> {
    try {
      await this.close()
    } catch {
      // What could not be written is about to go.
    }
    try {
      await unlink(this.path)
    } catch {
      // It goes with the folder of its session.
    }
  }
}
