import type { Undo } from '../base/undo.ts'
import type { PointedAt } from '../capabilities/review-surface.ts'
import type { SessionEvent } from '../core/log/event.ts'
import type { PageHostMessage, PageKey } from '../protocol/editor-page.ts'
import type { AgentOptions } from '../core/loop/points.ts'
import type { Session } from '../core/session/session.ts'
import { settings as specs } from '../core/settings/specs.ts'
import { ChatCommands, type ChatCommand } from './chat-commands.ts'
import { ChatRooms } from './chat-rooms.ts'
import type { ChatCapabilities, ChatServices } from './chat-services.ts'
import type { ChatState } from './chat-state.ts'
import type { Completions } from './completions.ts'
import type { AgentCommand } from './agent-commands.ts'
import type { GoalCommand } from './goal-commands.ts'
import type { JobCommand } from './job-commands.ts'
import type { McpCommand } from './mcp-commands.ts'
import type { ReminderCommand } from './reminder-commands.ts'
import type { SessionActions } from './session-actions.ts'
import type { ViewChannel } from './view-channel.ts'
import { createPageFeed } from './page-feed.ts'
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
  /** Pages that are fed. Many come and go while the window is open. */
  readonly #pages = new Set<Undo>()

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
    const { planSurface, reviewSurface, secrets, workspace } = this.#chat.world
    const { refresh, services } = this.#chat
    const { agents, childWork, composer, configuration, goal, jobs, mcp, reminders, list, modes, opening, plans, plugins, review, tasks, waiting } = this.#rooms
    this.#undos.push(
      approvals.attach(),
      questions.attach(),
      approvals.onDidChange(() => {
        waiting.refresh()
        agents.refreshSoon()
      }),
      questions.onDidChange(() => waiting.refresh()),
      permissions.onDidChange(() => modes.permissionsChanged()),
      plan.onDidChange(() => {
        composer.refresh()
        plans.refreshMode()
      }),
      planSurface.onDidComment((name, comments) => plans.commented(name, comments)),
      services.tasks.onDidChange((sessionId) => {
        if (sessionId === this.#chat.shown?.session.id) tasks.refresh()
      }),
      projections.onDidChange(({ key }) => {
        if (key === 'title') {
          refresh.listSoon()
          jobs.refresh()
          agents.refreshSoon()
        }
      }),
      reviews.onDidChange((sessionId) => {
        if (sessionId === this.#chat.shown?.session.id) review.refresh()
      }),
      services.get('worktrees')?.onDidChange((sessionId) => {
        if (sessionId === this.#chat.shown?.session.id) childWork.refresh()
      }) ?? (() => {}),
      reviewSurface.onDidChangeFile((path) => review.changed(path)),
      settings.onDidChange((key) => {
        composer.settingsChanged()
        if (key === specs.agentDefaultPreset.key) modes.findPreset().catch((error: unknown) => this.#chat.logError(error))
        if (key.startsWith('ui.')) review.refresh()
      }),
      jobs.attach(),
      mcp.attach(),
      agents.attach(),
      reminders.attach(),
      goal.attach(),
      plugins.attach(),
      secrets.onDidChange(() => composer.refresh()),
      hooks.onDidChange((_cwd, held) => configuration.hooksWait(held.reduce((sum, entry) => sum + entry.hooks.length, 0))),
      workspace.onDidChangeTrust(() => composer.trustChanged()),
      workspace.onDidChangeFolders(() => composer.refresh()),
    )
    composer.settingsChanged()
    waiting.refresh()
    await Promise.all([list.refresh(), opening.restore(), modes.findPreset()])
    // What waits in sessions that are not open is read behind the first screen.
    reminders.tellMissed().catch((error: unknown) => this.#chat.logError(error))
    opening.bringBack().catch((error: unknown) => this.#chat.logError(error))
  }

  async dispose(): Promise<void> {
    this.#rooms.end()
    for (const detach of this.#pages) detach()
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
    return this.#fed(() => {
      undo()
      this.#rooms.words.gone(channel)
      this.#rooms.plugins.gone(channel)
    })
  }

  /** Feed a page of the editor area until the undo is called. */
  attachPage(key: PageKey, channel: ViewChannel<PageHostMessage>): Undo {
    const undo = createPageFeed({
      channel,
      source: this.#rooms.pageSource(key),
      clock: this.#chat.world.clock,
      onError: (error) => this.#chat.tellFailure(error),
      onRefused: (detail) => this.#chat.world.logger.warn('A message of a page was refused.', { kind: key.kind, detail }),
    })
    return this.#fed(undo)
  }

  /** A page that goes is let go of. */
  #fed(undo: Undo): Undo {
    const detach = () => {
      if (this.#pages.delete(detach)) undo()
    }
    this.#pages.add(detach)
    return detach
  }

  /** What a new session is answered by; undefined: there is no model. */
  async defaultModel(): Promise<AgentOptions | undefined> {
    return (await this.#rooms.models.chooser.defaultModel())?.options
  }

  /** The person follows a session in another place until the undo, so that its end is no news to them. */
  watchElsewhere(sessionId: string): Undo {
    return this.#rooms.turnEnds.watchElsewhere(sessionId)
  }

  /** A notification of what happened in another place. */
  tell(words: string): void {
    // It answers for its own failures.
    void this.#chat.tell('info', words)
  }

  /** Show a session in the chat, as its button in another place asks. */
  async openSession(id: string): Promise<void> {
    await this.#rooms.opening.open(id)
    await this.#chat.world.editor.showChat()
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
    if (event.type === 'turn/start' || event.type === 'turn/end' || event.type.startsWith('goal/') || (event.type === 'user/message' && event.data.source.kind === 'goal')) this.#rooms.goal.note(session)
    if (event.type === 'tool/result') this.#rooms.jobs.noteResult(event.data.message.content[0].callId)
    if (event.type === 'turn/end') this.#rooms.turnEnds.note(session, event)
    if (event.type === 'turn/start' || event.type === 'turn/end' || event.type === 'session/title') this.#chat.refresh.listSoon()
  }

  /** What another window wrote of a session that is shown here. */
  noteMirrored(session: Session, event: SessionEvent): void {
    this.#chat.transcripts.note(session, event)
    if (session.id !== this.#chat.shown?.session.id || event.type === 'assistant/chunk') return
    this.#chat.refresh.session()
    if (/^(approval|question|turn)\/|^tool\/result$/.test(event.type)) this.#rooms.opening.noticeWriter()
  }

  /** What a session cost changed: that of an agent which the shown one started counts here too. */
  noteCost(): void {
    this.#chat.refresh.session()
    this.#rooms.goal.refresh()
    this.#rooms.agents.refreshSoon()
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
    if (this.#rooms.opening.keepsChild(sessionId)) return this.#chat.refresh.shown()
    this.#chat.transcripts.forget(sessionId)
    this.#chat.refresh.listSoon()
    if (this.#chat.shown?.session.id === sessionId && !this.#chat.isDisposed) this.#rooms.opening.showNothing().catch((error: unknown) => this.#chat.tellFailure(error))
  }

  /** The content of an editor that outlived what was kept for it. Errors: `Error` in words for the person. */
  async redraw(name: string): Promise<string | Uint8Array> {
    return await this.#rooms.pages.draw(name)
  }

  /** The document of a plan. Errors: `Error` in words for the person. */
  readPlan(name: string): { readonly text: string; readonly isOpen: boolean } {
    return this.#rooms.plans.read(name)
  }

  /** Errors: `Error` in words for the person. */
  writePlan(name: string, text: string): void {
    this.#rooms.plans.write(name, text)
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

  /** A command on MCP servers; `nodeId`: the row of the tree that its menu was opened on. */
  async runMcp(command: McpCommand, nodeId: string | null): Promise<void> {
    try {
      await this.#rooms.mcp.run(command, nodeId)
    } catch (error) {
      this.#chat.tellFailure(error)
    }
  }

  /** A command on agents that agents started; `nodeId`: the row of the tree that its menu was opened on. */
  async runAgent(command: AgentCommand, nodeId: string | null): Promise<void> {
    try {
      await this.#rooms.agents.run(command, nodeId)
    } catch (error) {
      this.#chat.tellFailure(error)
    }
  }

  /** A command on reminders, of the palette or the status bar. */
  async runReminder(command: ReminderCommand): Promise<void> {
    try {
      await this.#rooms.reminders.run(command)
    } catch (error) {
      this.#chat.tellFailure(error)
    }
  }

  async runGoal(command: GoalCommand): Promise<void> {
    try {
      await this.#rooms.goal.run(command)
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
