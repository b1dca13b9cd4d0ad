import type { Session } from '../core/session/session.ts'
import { settings } from '../core/settings/specs.ts'
import type { ChatState } from './chat-state.ts'
import { createHookReview } from './hook-review.ts'
import { instructionDocument } from './instruction-document.ts'
import { keptNames } from './kept-names.ts'
import { skillDocument } from './skill-document.ts'
import { storageDocument } from './storage-document.ts'

/** What the folder brings along for the agent: instruction files and skills to look at, commands that wait for consent. */
export class ChatConfiguration {
  readonly #chat: ChatState
  readonly #hookReview: ReturnType<typeof createHookReview>

  constructor(chat: ChatState) {
    this.#chat = chat
    this.#hookReview = createHookReview({ ...chat.world, hooks: chat.services.hooks })
  }

  /** The instruction files of the conversation on screen, or of the one that would begin now. */
  async showInstructions(): Promise<void> {
    await this.#showPage('instructions', this.#chat.world.l10n.t('Instruction files'))
  }

  /** The skills of the same. */
  async showSkills(): Promise<void> {
    await this.#showPage('skills', this.#chat.world.l10n.t('Skills'))
  }

  async #showPage(kind: 'instructions' | 'skills', title: string): Promise<void> {
    const session = this.#chat.shown?.session ?? null
    await this.#chat.world.editor.openText({ name: keptNames.page(kind, session?.id ?? null, title), text: await this.sessionPage(kind, session), language: 'markdown' })
  }

  /** What all sessions take on the disk. */
  async showStorage(): Promise<void> {
    const title = this.#chat.world.l10n.t('Storage')
    await this.#chat.world.editor.openText({ name: keptNames.storage(title), text: await this.storagePage(), language: 'markdown' })
  }

  async storagePage(): Promise<string> {
    const { blobs, l10n } = this.#chat.world
    const { sessions, settings: read } = this.#chat.services
    const [usage, list] = await Promise.all([blobs.usage(), sessions.list()])
    return storageDocument({ usage, sessions: list, maxSpillMb: read.get(settings.sessionsMaxSpillMb), retentionDays: read.get(settings.sessionsRetentionDays) }, l10n)
  }

  /** What is told to the model of a session, or null: of one that would begin now. */
  async sessionPage(kind: 'instructions' | 'skills', session: Session | null): Promise<string> {
    const { world } = this.#chat
    const { instructions, skills } = this.#chat.services
    const place = session === null ? { cwd: world.workspace.folders()[0]?.path ?? '' } : { session }
    return kind === 'skills' ? skillDocument(await skills.report(place), world) : instructionDocument(await instructions.report(place), world)
  }

  async reviewHooks(): Promise<void> {
    if (await this.#hookReview.review(this.#chat.cwd() ?? '')) this.#chat.notices.close('hooks')
  }

  async hooksPage(): Promise<string> {
    return await this.#hookReview.page(this.#chat.cwd() ?? '')
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
