import { jsonEquals, type Json } from '../../base/json.ts'
import type { SessionEvent } from '../log/event.ts'
import type { Message, ToolMessage } from '../log/message.ts'
import type { Surface } from './session.ts'

export type SurfaceEvent = SessionEvent<'user/message' | 'assistant/message' | 'tool/result'>

export const isSurfaceEvent = (event: SessionEvent): event is SurfaceEvent =>
  event.type === 'user/message' || event.type === 'assistant/message' || event.type === 'tool/result'

/**
 * The nodes the model sees and the messages derived from them. An append costs the same however long the talk is.
 *
 * Source: runtime specification 11.2.
 */
export class SurfaceState {
  #nodes: { readonly seq: number; readonly event: SurfaceEvent }[] = []
  #messages: Message[] = []
  #generation = 0
  #surface: Surface | null = null
  #history: readonly Message[] | null = null

  /** Why `event` cannot take the place it asks for, or null. Changes nothing. */
  problem(event: SurfaceEvent): string | null {
    const place = event.surfaceOp
    if (place === undefined || place === 'append') return null
    const shadowed = this.#nodes.slice(place.start, place.end + 1)
    if (place.end >= this.#nodes.length) return `it replaces positions ${place.start} to ${place.end}, but the surface ends at ${this.#nodes.length - 1}`
    const sources = new Set(event.sourceEventSeqs)
    const missing = shadowed.find(({ seq }) => !sources.has(seq))
    if (missing !== undefined) return `its sourceEventSeqs do not name event ${missing.seq}, which it replaces`
    return event.type === 'tool/result' ? resultProblem(event, shadowed[0]!.event, shadowed.length) : null
  }

  /** Take a committed event onto the surface. */
  apply(event: SurfaceEvent): void {
    const place = event.surfaceOp
    const node = { seq: event.seq, event }
    this.#surface = null
    if (place === 'append' || place === undefined) {
      this.#nodes.push(node)
      const message = messageOf(event)
      if (message === null) return
      this.#messages.push(message)
    } else {
      this.#nodes.splice(place.start, place.end - place.start + 1, node)
      this.#messages = this.#nodes.map((shown) => messageOf(shown.event)).filter((message) => message !== null)
      this.#generation++
    }
    this.#history = null
  }

  /** The same object until the surface changes. */
  get surface(): Surface {
    this.#surface ??= Object.freeze({ nodes: Object.freeze([...this.#nodes]), generation: this.#generation })
    return this.#surface
  }

  /** The same object until a message is added or replaced. */
  get messages(): readonly Message[] {
    this.#history ??= Object.freeze([...this.#messages])
    return this.#history
  }
}

/** What the model sees of one node; null for an assistant that said nothing. */
function messageOf(event: SurfaceEvent): Message | null {
  if (event.type === 'user/message') return event.data
  const { message } = event.data
  return message.content.length === 0 ? null : message
}

/** A result may be replaced by itself with other content, alone. */
function resultProblem(event: SessionEvent<'tool/result'>, target: SurfaceEvent, count: number): string | null {
  if (count !== 1 || target.type !== 'tool/result') return 'a tool/result may only replace exactly one tool/result'
  return jsonEquals(withoutContent(event), withoutContent(target)) ? null : 'a tool/result may change nothing but the content of the one it replaces'
}

function withoutContent({ data }: SessionEvent<'tool/result'>): Json {
  const [block] = data.message.content
  const message: ToolMessage = { ...data.message, content: [{ ...block, content: [] }] }
  // Committed data is lossless JSON, which its interfaces cannot say.
  return { ...data, message } as unknown as Json
}
