import type { ChatState } from './chat-state.ts'
import { createPermissionChoice } from './permission-choice.ts'
import { createPresetChoice } from './preset-choice.ts'
import { createRulesPage } from './rules-page.ts'

/** How the session works and what it may do: preset, permission mode, planning, and the page of rules. */
export class ModeChoices {
  readonly #chat: ChatState
  readonly #presetChoice: ReturnType<typeof createPresetChoice>
  readonly #permissionChoice: ReturnType<typeof createPermissionChoice>
  readonly #rulesPage: ReturnType<typeof createRulesPage>

  constructor(chat: ChatState) {
    this.#chat = chat
    const { permissions, plan, presets } = chat.services
    const { editor, l10n, workspace } = chat.world
    this.#presetChoice = createPresetChoice({ presets, workspace, editor, l10n })
    this.#permissionChoice = createPermissionChoice({ permissions, plan, editor, l10n })
    this.#rulesPage = createRulesPage({ permissions, l10n })
  }

  /** The preset of the next session may stand in a file; those that come with Bosun are known without looking. */
  async findPreset(): Promise<void> {
    const { presets } = this.#chat.services
    if (presets.get(this.#chat.preset()) !== undefined) return
    await presets.discover()
    this.#chat.refresh.composer()
  }

  async pickPreset(): Promise<void> {
    const { shown } = this.#chat
    const lock = shown?.agent == null ? null : this.#chat.services.agents.presetLock(shown.session.id)
    if (lock !== null) return this.#chat.notice('preset', 'info', lock)
    const picked = await this.#presetChoice.pick(this.#chat.preset())
    if (picked === null) return
    if ('problem' in picked) return this.#noticeOf(picked.problem, picked.path)
    this.#chat.notices.close('preset')
    if (this.#chat.shown?.agent != null) this.#chat.services.agents.selectPreset(this.#chat.shown.session.id, picked.id)
    else this.#chat.next = { ...this.#chat.next, preset: picked.id }
    this.#chat.refresh.composer()
  }

  /** A broken preset is mended in its file. */
  #noticeOf(problem: string, path: string | undefined): void {
    const { l10n } = this.#chat.world
    const open = async () => {
      const failure = await this.#chat.world.editor.openLocation({ path: path ?? '', line: 1 }, this.#cwd())
      if (failure !== null) this.#chat.notice('preset', 'warning', failure)
    }
    this.#chat.notice('preset', 'warning', problem, path === undefined ? [] : [{ id: 'open', label: l10n.t('Open File'), run: open }])
  }

  #cwd(): string {
    return this.#chat.shown?.session.header.cwd ?? ''
  }

  async copyPreset(): Promise<void> {
    const problem = await this.#presetChoice.copy(this.#cwd())
    if (problem !== null) this.#chat.notice('preset', 'warning', problem)
    this.#chat.refresh.composer()
  }

  async editPreset(): Promise<void> {
    const news = await this.#presetChoice.edit(this.#cwd())
    if (news !== null) this.#chat.notice('preset', 'info', news)
  }

  async deletePreset(): Promise<void> {
    const news = await this.#presetChoice.remove()
    if (news === null) return
    // The next session cannot begin with one that is gone.
    const { next, services } = this.#chat
    if (next.preset !== null && services.presets.get(next.preset) === undefined) this.#chat.next = { ...next, preset: null }
    this.#chat.notice('preset', 'info', news)
    this.#chat.refresh.composer()
  }

  async pickPermission(): Promise<void> {
    const picked = await this.#permissionChoice.pick({ mode: this.#chat.permission(), isPlanning: this.#chat.isPlanning() })
    if (picked === 'rules') this.showRules(true)
    if (picked === null || picked === 'rules') return
    if (this.#chat.shown?.agent != null) this.#permissionChoice.apply(this.#chat.shown.agent, picked)
    else this.#chat.next = { ...this.#chat.next, permission: picked.mode, isPlanning: picked.isPlanning }
    this.#chat.refresh.composer()
  }

  togglePlan(): void {
    if (this.#chat.shown?.agent != null) this.#permissionChoice.togglePlan(this.#chat.shown.agent)
    else this.#chat.next = { ...this.#chat.next, isPlanning: !this.#chat.next.isPlanning }
    this.#chat.refresh.composer()
  }

  showRules(isOpen: boolean): void {
    this.#chat.model.set('rules', isOpen ? this.#rulesPage.view(this.#chat.shown?.session.id) : null)
  }

  permissionsChanged(): void {
    if (this.#chat.model.get('rules') !== null) this.showRules(true)
    this.#chat.refresh.composer()
  }

  async revokeRule(id: string): Promise<void> {
    await this.#rulesPage.revoke(this.#chat.shown?.session.id, id)
    this.showRules(true)
  }
}
