import type { ComposerAttachments } from './composer-attachments.ts'
import type { ChatState } from './chat-state.ts'
import type { ModelSettings } from './model-settings.ts'
import { settingProblems } from './setting-problems.ts'

interface Parts {
  readonly chat: ChatState
  readonly models: ModelSettings
  readonly attachments: Pick<ComposerAttachments, 'views'>
}

/** The composer's state, and the notices about what keeps a message from being sent. */
export class ComposerState {
  readonly #chat: ChatState
  readonly #models: ModelSettings
  readonly #attachments: Parts['attachments']

  constructor({ chat, models, attachments }: Parts) {
    this.#chat = chat
    this.#models = models
    this.#attachments = attachments
  }

  refresh(): void {
    this.#refreshComposerNow().catch((error: unknown) => this.#chat.logError(error))
  }

  settingsChanged(): void {
    const { editor, l10n } = this.#chat.world
    const problems = settingProblems(this.#chat.services)
    if (problems.length === 0) this.#chat.notices.close('settings')
    else {
      this.#chat.notice('settings', 'warning', problems.map(({ message }) => message).join('\n'), [
        { id: 'open', label: l10n.t('Open the settings'), run: () => editor.openSettings(`bosun.${problems[0]?.key ?? ''}`) },
      ])
    }
    this.refresh()
  }

  trustChanged(): void {
    this.#chat.model.set('isTrusted', this.#chat.world.workspace.isTrusted())
    this.refresh()
  }

  async #refreshComposerNow(): Promise<void> {
    const shown = this.#chat.shown
    const standIn = shown === null && this.#chat.next.options === null ? await this.#models.chooser.defaultModel() : null
    const options = await this.#models.options()
    const model = await this.#models.chooser.view(options)
    if (this.#chat.isDisposed || shown !== this.#chat.shown) return
    const blockedBy = this.#chat.blockedBy()
    this.#chat.model.set('composer', {
      draft: this.#chat.drafts.get(shown?.session.id ?? null),
      canSend: blockedBy === null,
      blockedBy,
      preset: this.#chat.preset(),
      presets: this.#chat.services.presets.list().flatMap(({ problem, ...preset }) => (problem === undefined ? [preset] : [])),
      permission: this.#chat.permission(),
      ...(this.#chat.isPlanning() && { isPlanning: true as const }),
      model,
      attachments: this.#attachments.views(),
    })
    this.#chat.refresh.session()
    this.#noticeModel(standIn?.isStandIn === true, model === null)
    this.#noticeFolder()
  }

  #noticeModel(isStandIn: boolean, isMissing: boolean): void {
    const { t } = this.#chat.world.l10n
    if (isStandIn) {
      const found = this.#models.firstRun.servers()
      const text = t('No model is set up yet. Bosun plays a scripted tour, which is no model: it answers the same to everything.')
      this.#chat.notice('model', 'info', [text, ...found.map(({ text: words }) => words)].join(' '), [...found.map(({ action }) => action), ...this.#models.actions()])
    } else if (isMissing) {
      this.#chat.notice('model', 'warning', t('The model that the settings name is not there. Choose a model.'), this.#models.actions())
    } else {
      this.#chat.notices.close('model')
    }
  }

  #noticeFolder(): void {
    const { editor, l10n, workspace } = this.#chat.world
    if (this.#chat.shown !== null || workspace.folders().length > 0) return this.#chat.notices.close('folder')
    this.#chat.notice('folder', 'info', l10n.t('Bosun works on the files of a folder, and none is open.'), [
      { id: 'open', label: l10n.t('Open a folder…'), run: () => editor.openFolder() },
    ])
  }
}
