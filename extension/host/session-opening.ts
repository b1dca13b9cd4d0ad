import { messageOf } from '../base/message-of.ts'
import type { Undo } from '../base/undo.ts'
import type { Localization } from '../capabilities/localization.ts'
import { waitingStep } from '../core/log/crash-repair.ts'
import type { SessionEvent } from '../core/log/event.ts'
import type { Agent } from '../core/session/agent.ts'
import type { Session, SessionSummary } from '../core/session/session.ts'
import { childProjection, parseDescriptor, type ChildRecord } from '../features/subagents/descriptor.ts'
import { noChoices, writerOf, type ChatState, type Shown, type ShownChild } from './chat-state.ts'
import type { ModelSettings } from './model-settings.ts'
import type { SessionHead } from './session-head.ts'

interface Parts {
  readonly chat: ChatState
  readonly head: Pick<SessionHead, 'countStarted'>
  readonly models: Pick<ModelSettings, 'options'>
  /** It is on screen. */
  readonly onOpened: (session: Session) => void
}

/** The session that was open is open again after a reload. */
const OPEN_SESSION_KEY = 'openSession'

/** Events at the end of a log in which a question is looked for: nothing else is written while it waits. */
const WAITING_TAIL = 200

/** Of sessions that stood open, the newest are looked at. */
const MAX_BROUGHT_BACK = 20

/** Which session is on screen. */
export class SessionOpening {
  readonly #chat: ChatState
  readonly #head: Parts['head']
  readonly #models: Parts['models']
  readonly #onOpened: Parts['onOpened']
  /** Grows with each change of what is shown, so that a slow opening does not overtake a later one. */
  #showing = 0
  /** The one that the person last asked for. */
  #wanted: string | null = null
  #unfollow: Undo = () => {}
  /** Sessions that an agent started and the person took over. */
  readonly #own = new Set<string>()

  constructor({ chat, head, models, onOpened }: Parts) {
    this.#chat = chat
    this.#head = head
    this.#models = models
    this.#onOpened = onOpened
  }

  /** What was open before the window was loaded again, or the welcome page. */
  async restore(): Promise<void> {
    const opened = this.#chat.world.memento.get(OPEN_SESSION_KEY)
    await (typeof opened === 'string' ? this.open(opened) : this.showNothing())
  }

  async open(id: string): Promise<void> {
    if (this.#chat.shown?.session.id === id && this.#chat.shown.agent !== null) return
    const { agents, sessions } = this.#chat.services
    this.#wanted = id
    try {
      const child = await this.#childOf(id)
      if (child !== null) return await this.#showChild(id, child)
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

  /**
   * Sessions of this window's folders that waited for the person when it closed wait again, also where they are not on screen.
   * Nothing goes on in them before it is answered; one that was only cut off is left alone.
   */
  async bringBack(): Promise<void> {
    const { agents, sessions } = this.#chat.services
    const folders = new Set(this.#chat.world.workspace.folders().map(({ path }) => path))
    const isOurs = ({ cwd, startedBy, isArchived, problem, isLive, isTurnOpen }: SessionSummary) =>
      isTurnOpen === true && !isLive && !isArchived && startedBy === undefined && problem === undefined && cwd !== undefined && folders.has(cwd)
    for (const { id } of (await sessions.list()).filter(isOurs).slice(0, MAX_BROUGHT_BACK)) {
      try {
        if (!waitsForPerson((await sessions.readTail(id, WAITING_TAIL)).events)) continue
        const agent = await agents.resume(id)
        // Another window writes it.
        if (agent.status === 'idle' && this.#wanted !== id) await agent.dispose()
      } catch (error) {
        // It says what is wrong with it when somebody opens it.
        this.#chat.logError(error)
      }
    }
  }

  async show(session: Session, agent: Agent): Promise<void> {
    await this.#show(session, session.access === 'write' ? agent : null)
  }

  /** Whether the person took it over from the agent that started it. */
  isOwn(id: string): boolean {
    return this.#own.has(id)
  }

  /** Whether a session that was closed stays on screen as it is: an agent that has ended is still read. */
  keepsChild(id: string): boolean {
    const { shown } = this.#chat
    return shown?.child !== undefined && shown.session.id === id && !this.#chat.isDisposed
  }

  /** The agent on screen may be live again, with a session of its own. */
  childChanged(): void {
    const { services, shown } = this.#chat
    if (shown?.child === undefined) return
    const agent = services.agents.live(shown.session.id)
    if (agent === undefined || agent.session === shown.session) return
    this.#chat.transcripts.forget(shown.session.id)
    this.open(shown.session.id).catch((error: unknown) => this.#chat.tellFailure(error))
  }

  /** One that another agent started and drives is read, and spoken to through that one. */
  async #showChild(id: string, child: ShownChild): Promise<void> {
    const { agents, sessions } = this.#chat.services
    const { shown } = this.#chat
    const session = agents.live(id)?.session ?? (shown?.session.id === id && sessions.live(id) === undefined ? shown.session : await sessions.open(id))
    await this.#show(session, null, child)
  }

  /** Null for a session of the person's own: also one that they took over, and one whose starter is gone. */
  async #childOf(id: string): Promise<ShownChild | null> {
    const { agents, projections, sessions, subagents } = this.#chat.services
    const facts = subagents.facts(id)
    const live = agents.live(id)
    if (live !== undefined && live.owner === undefined) return null
    const header = live?.session.header ?? sessions.live(id)?.header ?? (await sessions.readTail(id, 1)).header
    const parentId = live?.owner?.id ?? (header.origin === 'subagent' ? header.parentSession : undefined)
    if (parentId === undefined) return null
    // Only this unit has this key.
    const record = (live === undefined ? await sessions.valueOf(id, childProjection.key) : projections.snapshot(id).values[childProjection.key]) as ChildRecord | undefined
    if (record?.isPromoted === true) {
      this.#own.add(id)
      return null
    }
    const parent = sessions.live(parentId)
    const summary = parent === undefined ? (await sessions.list()).find((entry) => entry.id === parentId) : undefined
    if (parent === undefined && summary === undefined) return null
    const descriptor = record === undefined ? null : parseDescriptor(record.descriptor)
    return {
      parentId,
      parentTitle: parent === undefined ? (summary?.title ?? '') : this.#chat.titleOf(parent),
      label: facts?.label ?? descriptor?.label ?? '',
      isKept: (facts?.mode ?? descriptor?.mode) === 'continuable',
    }
  }

  async #show(session: Session, agent: Agent | null, child?: ShownChild): Promise<void> {
    this.#showing += 1
    const turn = this.#showing
    const transcript = await this.#chat.transcripts.of(session)
    if (turn !== this.#showing) return
    const before = this.#chat.shown
    this.#follow(session)
    this.#chat.shown = { session, agent, transcript, ...(child !== undefined && { child }) }
    if (before?.session !== session) this.#letGo(before)
    this.#chat.showDraft()
    this.#chat.notices.close('session')
    this.noticeWriter()
    this.#head.countStarted(session)
    await this.#chat.world.memento.set(OPEN_SESSION_KEY, session.id)
    this.#chat.refresh.shown()
    this.#chat.model.show(transcript)
    this.#onOpened(session)
  }

  /** The welcome page: the next message begins a session. */
  async showNothing(): Promise<void> {
    this.#showing += 1
    this.#follow(null)
    const before = this.#chat.shown
    this.#chat.shown = null
    this.#letGo(before)
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

  /** Only what is on screen is followed; what is written here needs no following. */
  #follow(session: Session | null): void {
    this.#unfollow()
    this.#unfollow = session?.follow() ?? (() => {})
  }

  /** A stored session that was only read here is put away again, so that whoever wants to write it can. */
  #letGo(before: Shown | null): void {
    const { agents, sessions } = this.#chat.services
    if (before?.child === undefined) return
    this.#chat.transcripts.forget(before.session.id)
    if (agents.live(before.session.id) !== undefined || sessions.live(before.session.id) !== before.session) return
    before.session.close().catch((error: unknown) => this.#chat.logError(error))
  }

  /** The view of another window's session ends. */
  dispose(): void {
    this.#follow(null)
  }

  noticeWriter(): void {
    const { t } = this.#chat.world.l10n
    const shown = this.#chat.shown
    const isDriven = shown?.child !== undefined && shown.session.access === 'write'
    if (shown === null || shown.agent !== null || isDriven) return this.#chat.notices.close('writer')
    const { id, obstacle } = shown.session
    const text =
      obstacle === undefined
        ? mirrorWords(shown.session, t)
        : t('This session can only be read here. {problem}', { problem: obstacle })
    this.#chat.notice('writer', obstacle === undefined ? 'info' : 'warning', text, [
      { id: 'again', label: t('Try again'), run: () => this.open(id) },
    ])
  }
}

/** Something was asked at the end of this log and is not answered. */
function waitsForPerson(events: readonly SessionEvent[]): boolean {
  const open = new Set<string>()
  for (const { type, data } of events) {
    if (type === 'approval/asked' || type === 'question/asked') open.add(data.id)
    else if (type === 'approval/decided' || type === 'question/settled') open.delete(data.id)
    else if (type === 'turn/end') open.clear()
  }
  return open.size > 0
}

/** What waits for the person is answered where its turn runs. */
const mirrorWords = (session: Session, t: Localization['t']): string =>
  waitingStep(session.openTurn()) === null
    ? t('Another window writes this session ({writer}); here it is shown as it goes on, and can only be read.', { writer: writerOf(session) })
    : t('Another window writes this session ({writer}), and it waits for you there. Answer in that window.', { writer: writerOf(session) })
