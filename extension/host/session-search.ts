import { isErrorOf } from '../base/harness-error.ts'
import { messageOf } from '../base/message-of.ts'
import type { FoundItem, FoundItems, PickButton } from '../capabilities/editor.ts'
import type { SessionEvent } from '../core/log/event.ts'
import { SessionQueryError } from '../features/history/error.ts'
import { namedPaths } from '../features/history/searchable.ts'
import type { EventPlace, Findings } from '../features/history/service.ts'
import type { HostMessage } from '../protocol/messages.ts'
import type { Artifacts } from './artifacts.ts'
import type { ChatState } from './chat-state.ts'
import { keptNames } from './kept-names.ts'
import { lineageDocument } from './lineage-document.ts'
import type { PageWords } from './page-words.ts'
import { rowOfEvent } from './row-of-event.ts'
import type { SessionOpening } from './session-opening.ts'

interface Parts {
  readonly chat: ChatState
  readonly opening: Pick<SessionOpening, 'open'>
  readonly words: Pick<PageWords, 'say' | 'forgetHidden'>
  readonly artifacts: Pick<Artifacts, 'openDiff' | 'openLocation'>
}

/** Hits in the native list, and sessions in the page's own. */
const MAX_HITS = 60
const MAX_SESSIONS = 100
/** Characters that are worth a search: of one there is always too much. */
const MIN_TYPED = 2

/** Past sessions found by their words: in a native list as they are typed, and in the page's list of sessions. */
export class SessionSearchRoom {
  readonly #parts: Parts
  /** Of the page's list: a newer search cancels the one before. */
  #asking = new AbortController()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The command: find, look at, and open. */
  async pick(): Promise<void> {
    const { editor, l10n } = this.#parts.chat.world
    const { t } = l10n
    const picked = await editor.pickFound({
      title: t('Search sessions'),
      placeholder: t('Words from any session: of you, the model or a tool'),
      find: (typed, signal) => this.#findItems(typed, signal),
      onFocus: (id, signal) => void this.#preview(placeFrom(id), signal).catch((error: unknown) => this.#parts.chat.logError(error)),
    })
    if (picked === null) return
    const place = placeFrom(picked.id)
    if (picked.button === 'json') await this.showEvent(place)
    else if (picked.button === 'file') await this.#openFile(place)
    else if (picked.button === 'diff') await this.#openDiff(place)
    else await this.openAt(place)
  }

  /** The talk of that session, scrolled to the event and marked there. */
  async openAt({ sessionId, seq }: EventPlace): Promise<void> {
    const { chat, opening, words } = this.#parts
    await opening.open(sessionId)
    words.forgetHidden()
    await chat.world.editor.showChat()
    const shown = chat.shown
    if (shown?.session.id !== sessionId) return
    const [event] = shown.session.events(seq, seq + 1)
    const rowId = event === undefined ? null : rowOfEvent(shown.transcript, event)
    if (rowId !== null) words.say({ type: 'reveal-row', sessionId, rowId })
  }

  /** The event as it is stored, in a read-only editor. */
  async showEvent(place: EventPlace): Promise<void> {
    await this.#parts.chat.world.editor.openText({ name: keptNames.event(place), text: await this.eventPage(place), language: 'json' })
  }

  async eventPage(place: EventPlace): Promise<string> {
    const { json } = await this.#parts.chat.services.history.eventAt(place, new AbortController().signal)
    return `${JSON.stringify(json, null, 2)}\n`
  }

  /** Where the session on screen comes from and what came out of it. */
  async showTrace(): Promise<void> {
    const { shown, world } = this.#parts.chat
    if (shown === null) return
    await world.editor.openText({ name: keptNames.trace(shown.session.id, world.l10n.t('Trace')), text: await this.tracePage(shown.session.id), language: 'markdown' })
  }

  async tracePage(sessionId: string): Promise<string> {
    const { services, world } = this.#parts.chat
    return lineageDocument(await services.history.lineageOf(sessionId, new AbortController().signal), world.l10n)
  }

  /** For the list of sessions in a page: the best hit of each session. */
  async answer(query: string, id: string, reply: (message: HostMessage) => void): Promise<void> {
    this.#asking.abort()
    const asking = new AbortController()
    this.#asking = asking
    try {
      const { hits, remaining } = await this.#find(query, 'session', asking.signal)
      reply({ type: 'sessions-found', id, hits: hits.map(({ sessionId, seq, snippet }) => ({ sessionId, seq, snippet })), isPartial: remaining > 0 })
    } catch (error) {
      if (asking.signal.aborted) return
      this.#parts.chat.logError(error)
      reply({ type: 'sessions-found', id, hits: [], isPartial: false })
    }
  }

  async #find(typed: string, per: 'event' | 'session', signal: AbortSignal): Promise<Findings> {
    if (typed.trim().length < MIN_TYPED) return { hits: [], remaining: 0 }
    try {
      return await this.#parts.chat.services.history.find(typed, { per, limit: per === 'event' ? MAX_HITS : MAX_SESSIONS }, signal)
    } catch (error) {
      // Signs alone find nothing yet.
      if (isErrorOf(SessionQueryError, error, 'SESSION_QUERY_INVALID_QUERY')) return { hits: [], remaining: 0 }
      throw error
    }
  }

  async #findItems(typed: string, signal: AbortSignal): Promise<FoundItems> {
    const { l10n } = this.#parts.chat.world
    const { t } = l10n
    if (typed.trim().length < MIN_TYPED) return { items: [], isPartial: false }
    try {
      const { hits, remaining } = await this.#find(typed, 'event', signal)
      const items = grouped(hits).flatMap((group): readonly FoundItem[] => [
        { id: `of ${group[0].sessionId}`, label: `${group[0].title} · ${new Date(group[0].updatedAt).toLocaleDateString()}`, isSeparator: true },
        ...group.map((hit): FoundItem => ({ id: idOf(hit), label: `$(${iconOf(hit.type)}) ${hit.snippet}`, description: `${hit.title} · ${new Date(hit.time).toLocaleString()}`, buttons: this.#buttonsOf(hit.type) })),
      ])
      const note = remaining > 0 ? t('Sessions are still being read; more may be found.') : hits.length === 0 ? t('No session has these words.') : undefined
      return { items, isPartial: remaining > 0, ...(note !== undefined && { note }) }
    } catch (error) {
      if (signal.aborted) throw error
      return { items: [], isPartial: false, note: messageOf(error) }
    }
  }

  #buttonsOf(type: string): readonly PickButton[] {
    const { t } = this.#parts.chat.world.l10n
    const json: PickButton = { id: 'json', icon: 'json', label: t('Open the event as JSON') }
    if (type !== 'tool/call' && type !== 'tool/result') return [json]
    return [{ id: 'file', icon: 'go-to-file', label: t('Open the file') }, { id: 'diff', icon: 'diff', label: t('Open the changes') }, json]
  }

  /** The text by which an event is found. */
  async foundPage(place: EventPlace, signal = new AbortController().signal): Promise<string> {
    return (await this.#parts.chat.services.history.eventAt(place, signal)).text
  }

  async #preview(place: EventPlace, signal: AbortSignal): Promise<void> {
    const text = await this.foundPage(place, signal)
    if (!signal.aborted) await this.#parts.chat.world.editor.previewText({ name: keptNames.found(place), text })
  }

  async #openFile(place: EventPlace): Promise<void> {
    const { artifacts, chat, opening } = this.#parts
    const call = await this.#callOf(place)
    const path = call === null ? undefined : namedPaths(call.arguments)[0]
    if (call === null || path === undefined) return chat.notice('open', 'warning', chat.world.l10n.t('This call names no file.'))
    await opening.open(place.sessionId)
    const problem = chat.shown === null ? null : await artifacts.openLocation(chat.shown, { path })
    if (problem !== null) chat.notice('open', 'warning', problem)
  }

  async #openDiff(place: EventPlace): Promise<void> {
    const { artifacts, chat } = this.#parts
    const call = await this.#callOf(place)
    await this.openAt(place)
    if (call === null || chat.shown === null) return
    const problem = await artifacts.openDiff(chat.shown, call.callId)
    if (problem !== null) chat.notice('open', 'warning', problem)
  }

  /** The call that an event is about. */
  async #callOf({ sessionId, seq }: EventPlace): Promise<{ readonly callId: string; readonly arguments: string } | null> {
    const { history } = this.#parts.chat.services
    const { signal } = new AbortController()
    const { event } = await history.eventAt({ sessionId, seq }, signal)
    if (event.type === 'tool/call') return event.data
    if (event.type !== 'tool/result') return null
    const { callId } = event.data.message.content[0]
    return { callId, arguments: (await this.#argumentsOf(sessionId, callId)) ?? '' }
  }

  async #argumentsOf(sessionId: string, callId: string): Promise<string | null> {
    const { chat, opening } = this.#parts
    await opening.open(sessionId)
    const call = chat.shown?.session.milestones().findLast((event): event is SessionEvent<'tool/call'> => event.type === 'tool/call' && event.data.callId === callId)
    return call?.data.arguments ?? null
  }
}

const idOf = ({ sessionId, seq }: EventPlace): string => `${seq} ${sessionId}`
const placeFrom = (id: string): EventPlace => ({ seq: Number.parseInt(id, 10), sessionId: id.slice(id.indexOf(' ') + 1) })

type Hit = Findings['hits'][number]

/** Hits of one session stand together, where its best one stands. */
function grouped(hits: readonly Hit[]): readonly (readonly [Hit, ...Hit[]])[] {
  const groups = new Map<string, [Hit, ...Hit[]]>()
  for (const hit of hits) {
    const group = groups.get(hit.sessionId)
    if (group === undefined) groups.set(hit.sessionId, [hit])
    else group.push(hit)
  }
  return [...groups.values()]
}

function iconOf(type: string): string {
  if (type === 'user/message') return 'account'
  if (type === 'assistant/message') return 'sparkle'
  return type.startsWith('tool/') ? 'tools' : 'history'
}
