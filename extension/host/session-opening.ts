import type { Agent } from '../core/session/agent.ts'
import type { Session } from '../core/session/session.ts'
import { messageOf, noChoices, writerOf, type ChatState } from './chat-state.ts'
import type { ModelSettings } from './model-settings.ts'
import type { SessionHead } from './session-head.ts'

interface Parts {
  readonly chat: ChatState
  readonly head: Pick<SessionHead, 'countStarted'>
  readonly models: Pick<ModelSettings, 'options'>
}

/** The session that was open is open again after a reload. */
const OPEN_SESSION_KEY = 'openSession'

/** Which session is on screen. */
export class SessionOpening {
  readonly #chat: ChatState
  readonly #head: Parts['head']
  readonly #models: Parts['models']
  /** Grows with each change of what is shown, so that a slow opening does not overtake a later one. */
  #showing = 0

  constructor({ chat, head, models }: Parts) {
    this.#chat = chat
    this.#head = head
    this.#models = models
  }

  /** What was open before the window was loaded again, or the welcome page. */
  async restore(): Promise<void> {
    const opened = this.#chat.world.memento.get(OPEN_SESSION_KEY)
    await (typeof opened === 'string' ? this.open(opened) : this.showNothing())
  }

  async open(id: string): Promise<void> {
    if (this.#chat.shown?.session.id === id && this.#chat.shown.agent !== null) return
    const { agents, sessions } = this.#chat.services
    try {
      const live = agents.live(id)
      // Another window wrote it when it was opened here; it may be gone by now.
      if (live?.session.access === 'read-only') await live.dispose()
      const agent = await agents.resume(id)
      await this.show(agent.session, agent)
    } catch (error) {
      this.#chat.logError(error)
      const summary = (await sessions.list()).find((entry) => entry.id === id)
      if (this.#chat.world.memento.get(OPEN_SESSION_KEY) === id) await this.#chat.world.memento.set(OPEN_SESSION_KEY, undefined)
      if (this.#chat.shown === null) await this.showNothing()
      this.#chat.notice(
        'session',
        'error',
        this.#chat.world.l10n.t('“{title}” could not be opened: {problem}', { title: summary?.title ?? id, problem: messageOf(error) }),
      )
    }
  }

  async show(session: Session, agent: Agent): Promise<void> {
    this.#showing += 1
    const turn = this.#showing
    const transcript = await this.#chat.transcripts.of(session)
    if (turn !== this.#showing) return
    this.#chat.shown = { session, agent: session.access === 'write' ? agent : null, transcript }
    this.#chat.showDraft()
    this.#chat.notices.close('session')
    this.noticeWriter()
    this.#head.countStarted(session)
    await this.#chat.world.memento.set(OPEN_SESSION_KEY, session.id)
    this.#chat.refresh.shown()
    this.#chat.model.show(transcript)
  }

  /** The welcome page: the next message begins a session. */
  async showNothing(): Promise<void> {
    this.#showing += 1
    this.#chat.shown = null
    this.#chat.next = noChoices
    this.#chat.showDraft()
    this.noticeWriter()
    await this.#chat.world.memento.set(OPEN_SESSION_KEY, undefined)
    this.#chat.refresh.shown()
    this.#chat.model.show(null)
  }

  /** What the person had chosen goes on, but for what it may do: that begins as the settings say. */
  async startAnew(carriesOn: boolean): Promise<void> {
    const kept = carriesOn && this.#chat.shown?.agent != null ? { preset: this.#chat.preset(), options: await this.#models.options() } : null
    await this.showNothing()
    if (kept !== null) this.#chat.next = { ...this.#chat.next, ...kept, isCleared: true }
    this.#chat.refresh.composer()
  }

  noticeWriter(): void {
    const { t } = this.#chat.world.l10n
    const shown = this.#chat.shown
    if (shown === null || shown.agent !== null) return this.#chat.notices.close('writer')
    const { id, obstacle } = shown.session
    const text =
      obstacle === undefined
        ? t('Another window writes this session ({writer}); here it can only be read.', { writer: writerOf(shown.session) })
        : t('This session can only be read here. {problem}', { problem: obstacle })
    this.#chat.notice('writer', obstacle === undefined ? 'info' : 'warning', text, [
      { id: 'again', label: t('Try again'), run: () => this.open(id) },
    ])
  }
}
