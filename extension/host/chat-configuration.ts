import type { ChatState } from './chat-state.ts'
import { createHookReview } from './hook-review.ts'
import { instructionDocument } from './instruction-document.ts'
import { skillDocument } from './skill-document.ts'

/** What the folder brings along for the agent: instruction files and skills to look at, commands that wait for consent. */
export class ChatConfiguration {
  readonly #chat: ChatState
  readonly #hookReview: ReturnType<typeof createHookReview>

  constructor(chat: ChatState) {
    this.#chat = chat
    const { editor, l10n } = chat.world
    this.#hookReview = createHookReview({ hooks: chat.services.hooks, editor, l10n })
  }

  /** The instruction files of the conversation on screen, or of the one that would begin now. */
  async showInstructions(): Promise<void> {
    const { l10n } = this.#chat.world
    const report = await this.#chat.services.instructions.report(this.#place())
    await this.#showPage('instructions', l10n.t('Instruction files'), instructionDocument(report, l10n))
  }

  /** The skills of the same. */
  async showSkills(): Promise<void> {
    const { l10n } = this.#chat.world
    const report = await this.#chat.services.skills.report(this.#place())
    await this.#showPage('skills', l10n.t('Skills'), skillDocument(report, l10n))
  }

  #place() {
    const session = this.#chat.shown?.session
    return session === undefined ? { cwd: this.#chat.world.workspace.folders()[0]?.path ?? '' } : { session }
  }

  async #showPage(kind: string, title: string, text: string): Promise<void> {
    await this.#chat.world.editor.openText({ name: `${kind}/${this.#chat.shown?.session.id ?? 'new'}/${title}.md`, text, language: 'markdown' })
  }

  async reviewHooks(): Promise<void> {
    const cwd = this.#chat.shown?.session.header.cwd ?? this.#chat.world.workspace.folders()[0]?.path ?? ''
    if (await this.#hookReview.review(cwd)) this.#chat.notices.close('hooks')
  }

  /** Commands that the person has not seen wait; the talk goes on without them. */
  hooksWait(count: number): void {
    if (count === 0) return this.#chat.notices.close('hooks')
    const { t } = this.#chat.world.l10n
    const text = count === 1 ? t('A command of an agent configuration here waits for your consent and does not run.') : t('{count} commands of agent configurations here wait for your consent and do not run.', { count })
    this.#chat.notice('hooks', 'info', text, [
      { id: 'review', label: t('Review…'), run: () => this.reviewHooks() },
    ])
  }
}
