import type { SpillFile } from '../../capabilities/blob-store.ts'
import { plainOutput } from '../../base/plain-output.ts'

/** Characters of one result; longer output keeps both ends. */
export const MAX_OUTPUT_CHARS = 16_000
/** UTF-16 units kept at each end before they are cleaned; what is between them is only in the file. */
const KEPT_CHARS = 128_000
export const MAX_SPILL_BYTES = 64 * 1024 * 1024

/** What one command writes at a terminal: both ends in memory, all of it in a file once it is long. */
export class PersistentOutput {
  #head = ''
  #tail = ''
  #totalChars = 0
  #spillBytes = 0
  #spill: Promise<SpillFile | null> | undefined
  #work: Promise<void> = Promise.resolve()
  readonly #openSpill: (() => Promise<SpillFile>) | undefined

  constructor(openSpill: (() => Promise<SpillFile>) | undefined) {
    this.#openSpill = openSpill
  }

  push(text: string): void {
    if (text === '') return
    const before = this.#totalChars
    this.#totalChars += text.length
    if (this.#totalChars > MAX_OUTPUT_CHARS && this.#openSpill) this.#save(before <= MAX_OUTPUT_CHARS ? this.#head + text : text)
    const room = Math.max(0, KEPT_CHARS - this.#head.length)
    this.#head += text.slice(0, room)
    this.#tail += text.slice(room)
    // Cut rarely, so that each character is copied a bounded number of times.
    if (this.#tail.length > 2 * KEPT_CHARS) this.#tail = this.#tail.slice(-KEPT_CHARS)
  }

  /** The end of what came, for whoever looks for a prompt. */
  get ending(): string {
    return (this.#tail === '' ? this.#head : this.#tail).slice(-200)
  }

  /** As a model reads it, with a notice in the place of what was left out. */
  async text(): Promise<string> {
    const lost = this.#totalChars - this.#head.length - this.#tail.length
    const head = plainOutput(this.#head)
    const whole = lost === 0 ? plainOutput(this.#head + this.#tail) : null
    if (whole !== null && whole.length <= MAX_OUTPUT_CHARS) return whole
    const half = MAX_OUTPUT_CHARS / 2
    const tail = whole ?? plainOutput(this.#tail)
    await this.#work
    const path = (await this.#spill)?.path
    const start = head.slice(0, half).toWellFormed()
    const end = tail.slice(-half).toWellFormed()
    return `${start}\n[cut here: ${this.#totalChars} characters came. All of it: ${path ?? 'not available'}]\n${end}`
  }

  async close(): Promise<void> {
    await this.#work
    await (await this.#spill)?.close().catch(() => {
      // What is in the file by now can be read all the same.
    })
  }

  #save(text: string): void {
    this.#spill ??= this.#openSpill?.().catch(() => null)
    this.#spillBytes += text.length
    if (this.#spillBytes > MAX_SPILL_BYTES) return
    this.#work = this.#work.then(async () => {
      const file = await this.#spill
      await file?.append(new TextEncoder().encode(text))
    }).catch(() => {
      // The whole output is a courtesy: the result has both ends without it.
      this.#spill = Promise.resolve(null)
    })
  }
}
