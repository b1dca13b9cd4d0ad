import type { SessionEvent } from '../core/log/event.ts'
import type { Session } from '../core/session/session.ts'
import { settings as specs } from '../core/settings/specs.ts'
import type { ChatState } from './chat-state.ts'
import { textOf } from './describe-context.ts'

/** A turn ended: the person hears of it while the chat is hidden, and gets a message back that a hook held. */
export class TurnEnds {
  readonly #chat: ChatState

  constructor(chat: ChatState) {
    this.#chat = chat
  }

  note(session: Session, { data }: SessionEvent<'turn/end'>): void {
    if (data.reason.kind === 'blocked') this.#returnPrompt(session)
    const { editor, l10n } = this.#chat.world
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
