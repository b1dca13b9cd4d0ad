import { messageOf } from '../../base/message-of.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Context, Plugin } from '../kernel/plugin.ts'
import type { SessionEvent } from '../log/event.ts'
import type { ModelRoutes } from '../loop/model-routes.ts'
import type {} from '../loop/points.ts'
import type {} from '../model/contract.ts'
import { settings } from '../settings/specs.ts'
import type {} from '../settings/settings.ts'
import type { Session } from './session.ts'
import { requestTitle } from './title-request.ts'
import { fallbackTitle, promptText } from './titles.ts'

export interface TitlesParts {
  readonly logger: Logger
  readonly clock: Clock
  readonly machine: Pick<Machine, 'randomId'>
}

/**
 * Gives a session a title: at once from the first words a person sends, and from a model once the first answer is there, beside
 * the turn and never in its way. Source: runtime specification 12.4.
 */
export function titlesPlugin(parts: TitlesParts): Plugin {
  return {
    name: 'titles',
    inject: ['sessions', 'projections'],
    apply(ctx) {
      const titles = new Titles(ctx, parts)
      ctx.on('session/event', (session, event) => titles.note(session, event))
      ctx.on('session/disposed', (session) => titles.forget(session))
      return () => titles.dispose()
    },
  }
}

interface Prompt {
  readonly text: string
  readonly seq: number
}

class Titles {
  readonly #ctx: Context
  readonly #parts: TitlesParts
  /** Prompts whose session has a title of their first words only, until their answer comes. */
  readonly #waiting = new Map<Session, Prompt>()
  readonly #asking = new Map<Session, AbortController>()
  readonly #work = new Set<Promise<void>>()

  constructor(ctx: Context, parts: TitlesParts) {
    this.#ctx = ctx
    this.#parts = parts
  }

  note(session: Session, event: SessionEvent): void {
    if (isPrompt(event) && session.projections().values['title'] == null) {
      // An observer must not append; the microtask comes when whoever appended the prompt waits next.
      queueMicrotask(() => this.#nameAtOnce(session, { text: promptText(event.data), seq: event.seq }))
    }
    const prompt = event.type === 'assistant/message' ? this.#waiting.get(session) : undefined
    if (prompt !== undefined) {
      this.#waiting.delete(session)
      queueMicrotask(() => this.#ask(session, prompt))
    }
  }

  forget(session: Session): void {
    this.#waiting.delete(session)
    this.#asking.get(session)?.abort(new Error('The session was closed.'))
  }

  async dispose(): Promise<void> {
    for (const controller of this.#asking.values()) controller.abort(new Error('The application stops.'))
    await Promise.all(this.#work)
  }

  #nameAtOnce(session: Session, prompt: Prompt): void {
    const title = fallbackTitle(prompt.text)
    if (title === null || session.projections().values['title'] != null) return
    try {
      session.append({ type: 'session/title', data: { title, messageSeqs: [prompt.seq], source: { kind: 'fallback' } } })
      if (session.header.origin !== 'subagent') this.#waiting.set(session, prompt)
    } catch (error) {
      this.#tell(session, error)
    }
  }

  #ask(session: Session, prompt: Prompt): void {
    const models = this.#ctx.get('models')
    const route = this.#route(session)
    if (models === undefined || route === null) return
    const controller = new AbortController()
    this.#asking.set(session, controller)
    const { clock, machine } = this.#parts
    const scope = this.#ctx.get('agents')?.live(session.id)?.scope ?? null
    // Without routes there is nowhere else to ask.
    const nextRoute: ModelRoutes['next'] = async (request) => (await this.#ctx.get('modelRoutes')?.next(request)) ?? null
    const work = requestTitle(session, prompt, { models, clock, scope, route, nextRoute, newId: () => machine.randomId() }, controller.signal)
      .catch((error: unknown) => this.#tell(session, error))
      .finally(() => {
        this.#asking.delete(session)
        this.#work.delete(work)
      })
    this.#work.add(work)
  }

  /** Where titles come from; null for none: they are off, or it is a script that answers. */
  #route(session: Session): { readonly provider: string; readonly model: string } | null {
    const read = this.#ctx.get('settings')
    if (read?.get(settings.titlesEnabled) !== true) return null
    const [, provider, model] = /^([^/]+)\/(.+)$/.exec(read.get(settings.titlesModel) ?? '') ?? []
    if (provider !== undefined && model !== undefined) return { provider, model }
    const config = session.milestones().findLast((event) => event.type === 'request/header')?.data.header.config
    if (config === undefined || this.#ctx.get('models')?.get(config.provider)?.provider.isScripted === true) return null
    return { provider: config.provider, model: config.model }
  }

  /** A title is only decoration: the one that is there stays. */
  #tell(session: Session, error: unknown): void {
    this.#parts.logger.debug('A title could not be made.', { session: session.id, error: messageOf(error) })
  }
}

const isPrompt = (event: SessionEvent): event is SessionEvent<'user/message'> => event.type === 'user/message' && event.data.source.kind === 'user'
