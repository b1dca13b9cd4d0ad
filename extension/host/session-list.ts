import type { Undo } from '../base/undo.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { SessionSummary } from '../core/session/session.ts'
import type { SessionListItem } from '../protocol/view-state.ts'
import type { ChatState } from './chat-state.ts'
import type { SessionOpening } from './session-opening.ts'

/** Changes of the session list are gathered for this long. */
const LIST_AFTER_MS = 150

/** The list of sessions, and what a person does with an entry of it. */
export class SessionList {
  readonly #chat: ChatState
  readonly #opening: SessionOpening
  #listTimer: Undo | null = null

  constructor(chat: ChatState, opening: SessionOpening) {
    this.#chat = chat
    this.#opening = opening
  }

  dispose(): void {
    this.#listTimer?.()
  }

  refreshSoon(): void {
    if (this.#chat.isDisposed) return
    this.#listTimer ??= this.#chat.world.clock.schedule(LIST_AFTER_MS, () => {
      this.#listTimer = null
      this.refresh().catch((error: unknown) => this.#chat.logError(error))
    })
  }

  async refresh(): Promise<void> {
    const summaries = await this.#chat.services.sessions.list()
    const titles = new Map(summaries.map(({ id, title }) => [id, title]))
    this.#chat.model.set('sessions', summaries.map((summary) => this.#listItem(summary, titles)))
  }

  async pick(): Promise<void> {
    const { editor, l10n } = this.#chat.world
    await this.refresh()
    const picked = await editor.pick({
      title: l10n.t('Open a session'),
      items: this.#chat.model.get('sessions').map((item) => ({
        id: item.id,
        label: item.title,
        description: new Date(item.updatedAt).toLocaleString(),
        ...(item.problem === null ? {} : { detail: item.problem }),
        isCurrent: item.id === this.#chat.shown?.session.id,
      })),
    })
    if (picked === null) return
    await this.#opening.open(picked)
    await editor.showChat()
  }

  async rename(id: string, title: string | null): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const current = this.#chat.model.get('sessions').find((item) => item.id === id)?.title ?? ''
    const wanted = title ?? (await editor.input({ title: l10n.t('Rename this session'), prompt: l10n.t('Its new title'), value: current }))
    if (wanted === null) return
    if (wanted.trim() === '') return this.#chat.notice('session', 'warning', l10n.t('A session needs a title.'))
    await this.#chat.services.sessions.rename(id, wanted.trim())
    await this.refresh()
    this.#chat.refresh.session()
  }

  async archive(id: string, isArchived: boolean): Promise<void> {
    await this.#chat.services.sessions.archive(id, isArchived)
    await this.refresh()
  }

  async remove(id: string): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const title = this.#chat.model.get('sessions').find((item) => item.id === id)?.title ?? id
    const forks = (await this.#chat.services.sessions.list()).filter(({ forkedFrom }) => forkedFrom === id)
    const isSure = await editor.confirm({
      text: l10n.t('Delete “{title}”?', { title }),
      detail: [
        l10n.t('Its conversation, attachments and kept output go for good. Your files stay as they are.'),
        ...(forks.length === 0 ? [] : [forkWords(forks.length, l10n)]),
      ].join(' '),
      yes: l10n.t('Delete'),
    })
    if (!isSure) return
    if (this.#chat.shown?.session.id === id) await this.#opening.showNothing()
    await this.#chat.services.agents.live(id)?.dispose()
    await this.#chat.services.sessions.remove(id)
    this.#chat.transcripts.forget(id)
    this.#chat.drafts.set(id, '')
    await this.refresh()
  }

  #listItem({ id, title, updatedAt, problem, isArchived, forkedFrom }: SessionSummary, titles: ReadonlyMap<string, string>): SessionListItem {
    const lineage = forkedFrom === undefined ? null : (titles.get(forkedFrom) ?? this.#chat.world.l10n.t('a deleted session'))
    return { id, title, updatedAt, state: problem === undefined ? this.#chat.stateOf(id) : 'broken', problem: problem ?? null, isArchived, forkedFrom: lineage }
  }
}

const forkWords = (count: number, { t }: Localization): string =>
  count === 1
    ? t('A session was forked from it: it stays, but long output that it refers to goes.')
    : t('{count} sessions were forked from it: they stay, but long output that they refer to goes.', { count })
