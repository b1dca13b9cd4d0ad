import type { AgentOptions } from '../core/loop/points.ts'
import type { ChatState } from './chat-state.ts'
import { FirstRun } from './first-run.ts'
import { ModelChooser, type SearchKey } from './model-choice.ts'
import type { NoticeAction } from './notices.ts'

/** Which model answers: choosing one, its key, its connection, and what is offered before there is any. */
export class ModelSettings {
  readonly #chat: ChatState
  readonly chooser: ModelChooser
  readonly firstRun: FirstRun

  constructor(chat: ChatState) {
    this.#chat = chat
    const { models, settings } = chat.services
    const { clock, editor, l10n, secrets, settings: source } = chat.world
    this.chooser = new ModelChooser({ models, settings, source, secrets, editor, clock, onReport: (report) => this.#tellReport(report), l10n })
    this.firstRun = new FirstRun({
      chooser: this.chooser,
      l10n,
      onFound: () => chat.refresh.composer(),
      use: (picked) => this.use(picked),
      onError: (error) => chat.logError(error),
    })
  }

  /** What the next request of the session on screen is sent with, or of the one that would begin now. */
  async options(): Promise<AgentOptions> {
    const chosen = this.#chat.shown?.agent != null ? this.#chat.services.agents.optionsOf(this.#chat.shown.session.id) : this.#chat.next.options
    if (chosen?.provider !== undefined && chosen.model !== undefined) return chosen
    return { ...(await this.chooser.defaultModel())?.options, ...chosen }
  }

  /** Words for the person when the chosen model reads no images. */
  async imagesRefused(): Promise<string | null> {
    const { provider, model } = await this.options()
    const info = provider === undefined || model === undefined ? undefined : await this.#chat.services.models.get(provider)?.resolveModel(model)
    if (info === undefined || info.input.includes('image')) return null
    return this.#chat.world.l10n.t('{model} reads text only. Choose a model that reads images, or send the message without them.', { model: info.name })
  }

  async pick(): Promise<void> {
    const picked = await this.chooser.pick(await this.options())
    if (picked === null) return
    this.use(picked)
  }

  use(options: AgentOptions): void {
    // What was said about another model's connection says nothing about this one.
    this.#chat.notices.close('connection')
    if (this.#chat.shown?.agent != null) {
      this.#chat.services.agents.configure(this.#chat.shown.session.id, options)
      const { provider, model } = options
      // A turn that waits for a limit to pass goes on at once.
      if (provider !== undefined && model !== undefined) {
        this.#chat.services.modelRoutes.useNow(this.#chat.shown.agent, { provider, model }).catch((error: unknown) => this.#chat.tellFailure(error))
      }
    } else this.#chat.next = { ...this.#chat.next, options }
    this.#chat.refresh.composer()
  }

  /** `searchKeys`: also offered. */
  async setKey(searchKeys: readonly SearchKey[] = []): Promise<void> {
    const { provider: current } = await this.options()
    const provider = await this.chooser.setKey(current, searchKeys)
    if (provider === null) return
    this.#chat.refresh.composer()
    const report = await this.chooser.check({ provider })
    this.#tellReport(report)
    const options = await this.options()
    if (!report.isOk || provider === options.provider) return
    // A provider that has just got its key is wanted: one of its models is chosen next.
    const picked = await this.chooser.pick(options, provider)
    if (picked !== null) this.use(picked)
  }

  async checkConnection(): Promise<void> {
    this.#tellReport(await this.chooser.check(await this.options()))
  }

  /** What a notice about models offers. */
  actions(): readonly NoticeAction[] {
    const { t } = this.#chat.world.l10n
    return [
      { id: 'key', label: t('Set an API key…'), run: () => this.setKey() },
      { id: 'model', label: t('Choose a model'), run: () => this.pick() },
    ]
  }

  #tellReport({ isOk, message }: { readonly isOk: boolean; readonly message: string }): void {
    this.#chat.notice('connection', isOk ? 'info' : 'error', message, isOk ? [] : this.actions())
    if (!this.#chat.world.editor.isChatVisible()) void this.#chat.tell(isOk ? 'info' : 'error', message)
  }
}
