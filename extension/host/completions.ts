import type { Undo } from '../base/undo.ts'
import type { Agent } from '../core/session/agent.ts'
import type { CompletionItem, CompletionKind, HostMessage, ViewMessage } from '../protocol/messages.ts'
import type { ViewChannel } from './view-channel.ts'

/** Where something is being named: the session shown, or the folder that the next one works in. */
export interface CompletionContext {
  /** Null before there is a session, and for one that another window writes. */
  readonly agent: Agent | null
  readonly cwd: string | null
  readonly signal: AbortSignal
}

/**
 * Finds what may be meant by `query`, best first.
 *
 * Errors: may throw; the menu stays empty then. `found` may be called before the end, each time with everything so far.
 */
export type CompletionSource = (query: string, context: CompletionContext, found: (items: readonly CompletionItem[]) => void) => Promise<readonly CompletionItem[]>

/** Answers what the menu of `@` and `/` asks; a newer question of a page cancels its older one. */
export class Completions {
  readonly #sources = new Map<CompletionKind, CompletionSource>()
  readonly #running = new WeakMap<ViewChannel, AbortController>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** One source a sign. */
  provide(kind: CompletionKind, source: CompletionSource): Undo {
    this.#sources.set(kind, source)
    return () => {
      if (this.#sources.get(kind) === source) this.#sources.delete(kind)
    }
  }

  /** Never rejects. */
  async answer(
    { id, kind, query }: Extract<ViewMessage, { type: 'completions' }>,
    from: { readonly channel: ViewChannel; readonly reply: (message: HostMessage) => void } & Omit<CompletionContext, 'signal'>,
  ): Promise<void> {
    this.#running.get(from.channel)?.abort()
    const controller = new AbortController()
    this.#running.set(from.channel, controller)
    const { signal } = controller
    const reply = (items: readonly CompletionItem[], isComplete: boolean) => {
      if (!signal.aborted) from.reply({ type: 'completions', id, items, isComplete })
    }
    try {
      const source = this.#sources.get(kind)
      const items = await source?.(query, { agent: from.agent, cwd: from.cwd, signal }, (some) => reply(some, false))
      reply(items ?? [], true)
    } catch (error) {
      if (!signal.aborted) this.#onError(error)
      reply([], true)
    }
  }
}
