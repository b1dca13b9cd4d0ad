import type { Undo } from '../base/undo.ts'
import type { SessionEvent } from '../core/log/event.ts'
import type { Session } from '../core/session/session.ts'
import { settings as specs } from '../core/settings/specs.ts'
import type { ChatState } from './chat-state.ts'
import { textOf } from './describe-context.ts'

/** A turn ended: the person hears of it while the chat is hidden, and gets a message back that a hook held. */
export class TurnEnds {
  readonly #chat: ChatState
  /** Sessions that the person follows in another place, by one entry a watch. */
  readonly #watched = new Map<object, string>()

  constructor(chat: ChatState) {
    this.#chat = chat
  }

  watchElsewhere(sessionId: string): Undo {
    const watch = {}
    this.#watched.set(watch, sessionId)
    return () => void this.#watched.delete(watch)
  }

  note(session: Session, { data }: SessionEvent<'turn/end'>): void {
    if (data.reason.kind === 'blocked') this.#returnPrompt(session)
    const { editor, l10n } = this.#chat.world
    // The agent that started it hears of it, and goes on itself.
    if (this.#chat.services.agents.live(session.id)?.owner !== undefined) return
    if ([...this.#watched.values()].includes(session.id)) return
    if (editor.isChatVisible() || !this.#chat.services.settings.get(specs.notificationsWhenHidden).includes('turnEnd')) return
    const { reason } = data
    if (reason.kind === 'aborted' || reason.kind === 'interrupted') return
    const title = this.#chat.titleOf(session)
    if (reason.kind === 'completed') void this.#chat.tell('info', l10n.t('Bosun has finished: {title}', { title }))
    else if (reason.kind === 'error') void this.#chat.tell('error', l10n.t('Bosun stopped: {problem}', { problem: reason.failure.message }))
    else void this.#chat.tell('warning', l10n.t('Bosun paused: {title}', { title }))
  }

  /** What a hook held back is the person's to change: it comes back into an empty composer. */
  #returnPrompt(session: Session): void {
    if (this.#chat.drafts.get(session.id).trim() !== '') return
    const taken = session.milestones().findLast((event) => event.type === 'agent/inbox/spliced' && event.data.inserted.length > 0)
    const text = taken?.type === 'agent/inbox/spliced' ? taken.data.inserted.filter(({ source }) => source.kind === 'user').map(textOf).join('\n\n') : ''
    if (text === '') return
    this.#chat.drafts.set(session.id, text)
    if (session.id === this.#chat.shown?.session.id) this.#chat.refresh.composer()
  }
}
