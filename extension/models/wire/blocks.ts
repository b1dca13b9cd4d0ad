import type { Json } from '../../base/json.ts'
import type { StreamChunk } from '../../core/model/contract.ts'

/** Numbers the blocks of an answer in order of appearance; `key` is whatever the protocol names a block by. */
export class Blocks {
  readonly #open = new Map<string, number>()
  #count = 0
  hasCalls = false

  start(key: string, block: 'text' | 'reasoning' | 'tool-call'): StreamChunk {
    const index = this.#count
    this.#count += 1
    this.#open.set(key, index)
    this.hasCalls ||= block === 'tool-call'
    return { type: 'block-start', index, block }
  }

  /** A call with what is known of it at its start. */
  startCall(key: string, { id, name, text = '' }: { readonly id?: string | undefined; readonly name?: string | undefined; readonly text?: string }): readonly StreamChunk[] {
    const start = this.start(key, 'tool-call')
    const delta = { ...(id !== undefined && id !== '' && { id }), ...(name !== undefined && { name }), argumentsDelta: text }
    return [start, { type: 'tool-call-delta', index: this.#count - 1, ...delta }]
  }

  has(key: string): boolean {
    return this.#open.has(key)
  }

  text(key: string, delta: string): readonly StreamChunk[] {
    return this.#delta(key, delta, (index) => ({ type: 'text-delta', index, delta }))
  }

  reasoning(key: string, delta: string): readonly StreamChunk[] {
    return this.#delta(key, delta, (index) => ({ type: 'reasoning-delta', index, delta }))
  }

  arguments(key: string, argumentsDelta: string): readonly StreamChunk[] {
    return this.#delta(key, argumentsDelta, (index) => ({ type: 'tool-call-delta', index, argumentsDelta }))
  }

  /** Nothing for a block that is not open. */
  end(key: string, replayState?: Json): readonly StreamChunk[] {
    const index = this.#open.get(key)
    if (index === undefined) return []
    this.#open.delete(key)
    return [{ type: 'block-end', index, ...(replayState !== undefined && { replayState }) }]
  }

  endAll(): readonly StreamChunk[] {
    return [...this.#open.keys()].flatMap((key) => this.end(key))
  }

  #delta(key: string, delta: string, chunk: (index: number) => StreamChunk): readonly StreamChunk[] {
    const index = this.#open.get(key)
    return index === undefined || delta === '' ? [] : [chunk(index)]
  }
}
