import { isJsonObject, type Json, type JsonObject } from '../../../base/json.ts'

/** UTF-16 units of one line. No message of a program that works is as long. */
export const MAX_LINE = 16_000_000
/** Lines that are no objects, such as a warning of a package manager; a program that says more of them speaks something else. */
export const MAX_STRAY_LINES = 100
/** Bytes of a whole conversation. */
const MAX_TALK_BYTES = 512 * 1024 * 1024

/** Why what a program says cannot be followed. */
export type LineFault = 'line-too-long' | 'broken-message' | 'not-the-protocol' | 'too-much'

/**
 * Cuts the output of a program into messages: one JSON object a line.
 *
 * Lines that do not begin as an object are passed over, up to `MAX_STRAY_LINES`; one that begins as an object and is none is a fault.
 * After a fault nothing more is read.
 */
export class JsonLines {
  readonly #decoder = new TextDecoder()
  #rest: string[] = []
  #restLength = 0
  #strays = 0
  #bytes = 0
  fault: LineFault | null = null

  push(chunk: Uint8Array): readonly JsonObject[] {
    if (this.fault !== null) return []
    this.#bytes += chunk.length
    const messages: JsonObject[] = []
    const lines = this.#decoder.decode(chunk, { stream: true }).split('\n')
    for (const [index, piece] of lines.entries()) {
      if (this.#restLength + piece.length > MAX_LINE) this.fault ??= 'line-too-long'
      if (this.fault !== null) return messages
      this.#rest.push(piece)
      this.#restLength += piece.length
      if (index === lines.length - 1) break
      const message = this.#take()
      if (message !== null) messages.push(message)
    }
    if (this.#bytes > MAX_TALK_BYTES) this.fault ??= 'too-much'
    return messages
  }

  #take(): JsonObject | null {
    const line = (this.#rest.length === 1 ? this.#rest[0]! : this.#rest.join('')).trim()
    this.#rest = []
    this.#restLength = 0
    if (line === '') return null
    if (!line.startsWith('{')) {
      this.#strays += 1
      if (this.#strays > MAX_STRAY_LINES) this.fault ??= 'not-the-protocol'
      return null
    }
    try {
      const parsed = JSON.parse(line) as Json
      if (isJsonObject(parsed)) return parsed
    } catch {
      // Told as the fault below; the text itself may hold anything and is told to nobody.
    }
    this.fault ??= 'broken-message'
    return null
  }
}
