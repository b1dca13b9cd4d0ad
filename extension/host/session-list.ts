import { isHarnessError } from '../base/harness-error.ts'
import type { Undo } from '../base/undo.ts'
import type { Localization } from '../capabilities/localization.ts'
import { startedUnder } from '../core/session/family.ts'
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
    const shown = this.#chat.shown?.session.id
    // Agents that agents started are found where those that started them are, until the person makes one theirs.
    const isListed = ({ id, startedBy, isNamed }: SessionSummary) => startedBy === undefined || isNamed || id === shown || !titles.has(startedBy)
    this.#chat.model.set('sessions', summaries.filter(isListed).map((summary) => this.#listItem(summary, titles)))
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
    const all = await this.#chat.services.sessions.list()
    const forks = all.filter(({ forkedFrom }) => forkedFrom === id)
    const agents = startedUnder(all, id)
    const isSure = await editor.confirm({
      text: l10n.t('Delete “{title}”?', { title }),
      detail: [
        l10n.t('Its conversation, attachments and kept output go for good. Your files stay as they are.'),
        ...(agents.length === 0 ? [] : [agentWords(agents.length, l10n)]),
        ...(forks.length === 0 ? [] : [forkWords(forks.length, l10n)]),
      ].join(' '),
      yes: l10n.t('Delete'),
    })
    if (!isSure) return
    const shown = this.#chat.shown?.session.id
    if (shown === id || agents.some((agent) => agent.id === shown)) await this.#opening.showNothing()
    await this.#removeOne(id)
    // Behind it, so that a session that cannot go keeps all of its own. What it started meanwhile goes too.
    for (const agent of startedUnder(await this.#chat.services.sessions.list(), id)) await this.#removeStarted(agent)
    await this.refresh()
  }

  async #removeOne(id: string): Promise<void> {
    await this.#chat.services.agents.live(id)?.dispose()
    await this.#chat.services.sessions.remove(id)
    this.#chat.transcripts.forget(id)
    this.#chat.drafts.set(id, '')
  }

  /** One that stays, because another window writes it say, is listed by itself from now on. */
  async #removeStarted({ id, title }: SessionSummary): Promise<void> {
    try {
      await this.#removeOne(id)
    } catch (error) {
      if (!isHarnessError(error)) throw error
      this.#chat.notice('session', 'warning', this.#chat.world.l10n.t('“{title}”, which it started, could not be deleted: {reason}', { title, reason: error.message }))
    }
  }

  #listItem({ id, title, updatedAt, problem, isArchived, forkedFrom }: SessionSummary, titles: ReadonlyMap<string, string>): SessionListItem {
    const lineage = forkedFrom === undefined ? null : (titles.get(forkedFrom) ?? this.#chat.world.l10n.t('a deleted session'))
    return { id, title, updatedAt, state: problem === undefined ? this.#chat.stateOf(id) : 'broken', problem: problem ?? null, isArchived, forkedFrom: lineage }
  }
}

const agentWords = (count: number, { t }: Localization): string =>
  count === 1 ? t('The conversation of an agent that it started goes too.') : t('The conversations of {count} agents that it started go too.', { count })

const forkWords = (count: number, { t }: Localization): string =>
  count === 1
    ? t('A session was forked from it: it stays, but long output that it refers to goes.')
    : t('{count} sessions were forked from it: they stay, but long output that they refer to goes.', { count })
