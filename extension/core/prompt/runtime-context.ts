import type { UserMessage } from '../log/message.ts'
import type { Session } from '../session/session.ts'

/** Owner of the snapshots, in the source of their messages. */
export const RUNTIME_CONTEXT_PLUGIN = 'system-prompt'

/** Facts about the surroundings as the model is told them. */
export interface RuntimeSnapshot {
  readonly text: string
  readonly sections: readonly string[]
}

/**
 * Tells when facts about the surroundings must be told again: when they differ from the last ones the model still sees.
 *
 * Looks at each node of the surface once, and again only after a replacement.
 * Source: runtime specification 14.3.
 */
export class RuntimeContextWatch {
  readonly #session: Session
  #generation = -1
  #looked = 0
  /** What the newest snapshot on the surface says; null when there is none. */
  #shown: string | null = null

  constructor(session: Session) {
    this.#session = session
  }

  /** The message to add before the next request, or undefined when the model knows it all. */
  next({ text, sections }: RuntimeSnapshot, messageId: () => string): UserMessage | undefined {
    const shown = this.#newest()
    if (text === '' && (shown === null || shown === clearedText)) return undefined
    const content = text === '' ? clearedText : framed(text)
    if (content === shown) return undefined
    return {
      id: messageId(),
      role: 'user',
      content: [{ type: 'text', text: content }],
      source: { kind: 'plugin', plugin: RUNTIME_CONTEXT_PLUGIN, form: 'snapshot', sections },
    }
  }

  #newest(): string | null {
    const { nodes, generation } = this.#session.surface()
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#looked = 0
      this.#shown = null
    }
    for (; this.#looked < nodes.length; this.#looked++) {
      const event = nodes[this.#looked]?.event
      if (event?.type !== 'user/message') continue
      const { source, content } = event.data
      if (source.kind !== 'plugin' || source.plugin !== RUNTIME_CONTEXT_PLUGIN || source.form !== 'snapshot') continue
      this.#shown = content[0]?.type === 'text' ? content[0].text : null
    }
    return this.#shown
  }
}

const framed = (text: string) => `<surroundings>\nThese facts take the place of earlier ones.\n\n${text}\n</surroundings>`
const clearedText = '<surroundings>\nThe facts given earlier hold no longer; there are none now.\n</surroundings>'
