import type { Undo } from '../base/undo.ts'
import type { PointedAt } from '../capabilities/review-surface.ts'
import type { SessionEvent } from '../core/log/event.ts'
import type { Session } from '../core/session/session.ts'
import { ChatCommands, type ChatCommand } from './chat-commands.ts'
import { ChatRooms } from './chat-rooms.ts'
import type { ChatCapabilities, ChatServices } from './chat-services.ts'
import type { ChatState } from './chat-state.ts'
import type { Completions } from './completions.ts'
import { tasksView } from './docks.ts'
import type { JobCommand } from './job-commands.ts'
import type { SessionActions } from './session-actions.ts'
import type { ViewChannel } from './view-channel.ts'
import { createViewFeed } from './view-feed.ts'
import { ViewIntents } from './view-intents.ts'
import type { ParsedMessage } from './view-messages.ts'
import { shownBytes } from './storage-document.ts'

interface Parts {
  readonly capabilities: ChatCapabilities
  readonly services: ChatServices
}

/**
 * Behind every page of the chat: turns the person's intents into calls of the services, and what happens into view state.
 *
 * Nothing here knows the editor or a page's drawing; every decision runs under fakes.
 */
export class ChatController {
  readonly #chat: ChatState
  readonly #rooms: ChatRooms
  readonly #commands: ChatCommands
  readonly #intents: ViewIntents
  readonly #undos: Undo[] = []

  constructor({ capabilities, services }: Parts) {
    this.#rooms = new ChatRooms(capabilities, services)
    this.#chat = this.#rooms.chat
    this.#commands = new ChatCommands(this.#rooms)
    this.#intents = new ViewIntents(this.#rooms, this.#commands)
    capabilities.logger.debug('The chat is composed.')
  }

  /** What the menus of the composer offer. */
  get completions(): Completions {
    return this.#rooms.completions
  }

  /** Also the source of the slash commands that need a view. */
  get sessionActions(): SessionActions {
    return this.#rooms.actions
  }

  /** Begin to follow what happens, and open what was open before the window was loaded again. */
  async start(): Promise<void> {
    const { approvals, hooks, permissions, plan, projections, questions, reviews, settings } = this.#chat.services
    const { reviewSurface, secrets, workspace } = this.#chat.world
    const { model, refresh } = this.#chat
    const { composer, configuration, jobs, list, modes, opening, review, waiting } = this.#rooms
    this.#undos.push(
      approvals.attach(),
      questions.attach(),
      approvals.onDidChange(() => waiting.refresh()),
      questions.onDidChange(() => waiting.refresh()),
      permissions.onDidChange(() => modes.permissionsChanged()),
      plan.onDidChange(() => composer.refresh()),
      projections.onDidChange(({ sessionId, key, value }) => {
        if (key === 'todos' && sessionId === this.#chat.shown?.session.id) model.set('tasks', tasksView(value))
        if (key === 'title') {
          refresh.listSoon()
          jobs.refresh()
        }
      }),
      reviews.onDidChange((sessionId) => {
        if (sessionId === this.#chat.shown?.session.id) review.refresh()
      }),
      reviewSurface.onDidChangeFile((path) => review.changed(path)),
      settings.onDidChange((key) => {
        composer.settingsChanged()
        if (key.startsWith('ui.')) review.refresh()
      }),
      jobs.attach(),
      secrets.onDidChange(() => composer.refresh()),
      hooks.onDidChange((_cwd, held) => configuration.hooksWait(held.reduce((sum, entry) => sum + entry.hooks.length, 0))),
      workspace.onDidChangeTrust(() => composer.trustChanged()),
      workspace.onDidChangeFolders(() => composer.refresh()),
    )
    composer.settingsChanged()
    waiting.refresh()
    await Promise.all([list.refresh(), opening.restore()])
  }

  async dispose(): Promise<void> {
    this.#rooms.end()
    for (const undo of this.#undos.splice(0)) undo()
    await this.#chat.drafts.flush()
  }

  /** Feed a page until the undo is called. */
  attach(channel: ViewChannel): Undo {
    const undo = createViewFeed({
      channel,
      model: this.#chat.model,
      clock: this.#chat.world.clock,
      onIntent: (message, reply) => {
        this.#intents.handle(message, channel, reply).catch((error: unknown) => this.#chat.tellFailure(error))
      },
      onRefused: (refusal) => this.#refused(refusal),
    })
    const detach = () => {
      undo()
      this.#rooms.words.gone(channel)
    }
    this.#undos.push(detach)
    return detach
  }

  // What happens in the sessions; called by the plugin's listeners.

  noteEvent(session: Session, event: SessionEvent): void {
    this.#chat.transcripts.note(session, event)
    if (event.type === 'assistant/chunk') return
    if (session.id === this.#chat.shown?.session.id) {
      this.#chat.refresh.session()
      // The inbox takes a change over once the log holds it, just after this.
      if (event.type === 'agent/inbox/spliced') queueMicrotask(() => this.#chat.refresh.queue())
      if (event.type === 'agent-preset/selected' || event.type === 'command/done') this.#chat.refresh.composer()
    }
    if (event.type === 'tool/result') this.#rooms.jobs.noteResult(event.data.message.content[0].callId)
    if (event.type === 'turn/end') this.#rooms.turnEnds.note(session, event)
    if (event.type === 'turn/start' || event.type === 'turn/end' || event.type === 'session/title') this.#chat.refresh.listSoon()
  }

  /** What a session cost changed: that of an agent which the shown one started counts here too. */
  noteCost(): void {
    this.#chat.refresh.session()
  }

  /** Another window took the session over. */
  noteAccess(session: Session): void {
    if (this.#chat.shown?.session.id !== session.id || session.access === 'write') return
    this.#chat.shown = { ...this.#chat.shown, agent: null }
    this.#rooms.opening.noticeWriter()
    this.#chat.refresh.shown()
  }

  /** Never silently: it may have been the setting of another time. */
  noteExpired(count: number): void {
    const { editor, l10n } = this.#chat.world
    this.#chat.refresh.listSoon()
    const text =
      count === 1
        ? l10n.t('A session that nobody touched for long was deleted, as the setting bosun.sessions.retentionDays says.')
        : l10n.t('{count} sessions that nobody touched for long were deleted, as the setting bosun.sessions.retentionDays says.', { count })
    this.#chat.notice('expired', 'info', text, [
      { id: 'open', label: l10n.t('Open the settings'), run: () => editor.openSettings('bosun.sessions.retentionDays') },
    ])
  }

  noteSpillDropped({ bytes, sessions }: { readonly bytes: number; readonly sessions: number }): void {
    const { editor, l10n } = this.#chat.world
    const size = shownBytes(bytes)
    const text =
      sessions === 1
        ? l10n.t('Long output of an older session was deleted ({size}), as the setting bosun.sessions.maxSpillMb says. The talk itself is kept.', { size })
        : l10n.t('Long output of {count} older sessions was deleted ({size}), as the setting bosun.sessions.maxSpillMb says. The talks themselves are kept.', { count: sessions, size })
    this.#chat.notice('spill-dropped', 'info', text, [{ id: 'open', label: l10n.t('Open the settings'), run: () => editor.openSettings('bosun.sessions.maxSpillMb') }])
  }

  noteProgress(sessionId: string, callId: string, text: string): void {
    this.#rooms.jobs.notePart(callId, text)
    this.#chat.transcripts.progress(sessionId, callId, text)
  }

  noteStatus(): void {
    this.#chat.refresh.session()
    this.#chat.refresh.queue()
    this.#chat.refresh.listSoon()
  }

  noteModels(): void {
    this.#chat.refresh.composer()
  }

  /** A session was closed, by deletion or because another window took it. */
  noteClosed(sessionId: string): void {
    this.#chat.transcripts.forget(sessionId)
    this.#chat.refresh.listSoon()
    if (this.#chat.shown?.session.id === sessionId && !this.#chat.isDisposed) this.#rooms.opening.showNothing().catch((error: unknown) => this.#chat.tellFailure(error))
  }

  /** The content of an editor that outlived what was kept for it. Errors: `Error` in words for the person. */
  async redraw(name: string): Promise<string | Uint8Array> {
    return await this.#rooms.pages.draw(name)
  }

  /** A command of the palette, the status bar, a key or a menu; `paths`, `at`: what the menu was opened on. */
  async run(command: ChatCommand, paths: readonly string[] = [], at: PointedAt | null = null): Promise<void> {
    try {
      await this.#commands.run(command, paths, at)
    } catch (error) {
      this.#chat.tellFailure(error)
    }
  }

  /** A command on background jobs; `nodeId`: the row of the tree that its menu was opened on. */
  async runJob(command: JobCommand, nodeId: string | null): Promise<void> {
    try {
      await this.#rooms.jobs.run(command, nodeId)
    } catch (error) {
      this.#chat.tellFailure(error)
    }
  }

  #refused(refusal: Exclude<ParsedMessage, { ok: true }>): void {
    const { l10n, logger } = this.#chat.world
    logger.warn('A message of the chat view was refused.', { ...refusal })
    const text =
      refusal.reason === 'too-large'
        ? l10n.t('This is too large to send: {size} MB. Put it into a file and name the file instead.', { size: (refusal.bytes / 1e6).toFixed(1) })
        : l10n.t('The chat view sent something that Bosun does not understand; nothing was done. Reload the view if it happens again.')
    this.#chat.notice('refused', 'warning', text)
  }
}
