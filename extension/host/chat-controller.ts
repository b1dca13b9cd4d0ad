import type { Undo } from '../base/undo.ts'
import type { AttentionButton } from '../capabilities/attention.ts'
import { typedLine } from '../core/commands/command-line.ts'
import type { SessionEvent } from '../core/log/event.ts'
import type { UserMessage } from '../core/log/message.ts'
import { noCost } from '../core/cost/cost-projection.ts'
import type { AgentOptions } from '../core/loop/points.ts'
import type { ApprovalRequest } from '../core/policy/approval.ts'
import type { Agent } from '../core/session/agent.ts'
import type { Session, SessionSummary } from '../core/session/session.ts'
import { settings as specs } from '../core/settings/specs.ts'
import type { ReferencePlace } from '../features/references/service.ts'
import type { HostMessage, ViewMessage } from '../protocol/messages.ts'
import type { ComposerView, SessionListItem, SessionView } from '../protocol/view-state.ts'
import { assertNever } from '../base/assert-never.ts'
import { withoutMarks } from '../base/marked-code.ts'
import { ApprovalPrompts, alwaysAnswer } from './approval-prompts.ts'
import { Artifacts, imageTypeOf, type ShownSession } from './artifacts.ts'
import type { ChatCapabilities, ChatServices } from './chat-services.ts'
import { approvalView, questionSetView, queueView, tasksView } from './docks.ts'
import { ComposerAttachments } from './composer-attachments.ts'
import { commandCompletions } from './command-completions.ts'
import { Completions } from './completions.ts'
import { DraftAttachments } from './draft-attachments.ts'
import { Drafts } from './drafts.ts'
import { textOf } from './describe-context.ts'
import { createHookReview } from './hook-review.ts'
import { instructionDocument } from './instruction-document.ts'
import { FirstRun } from './first-run.ts'
import { ModelChooser } from './model-choice.ts'
import { Notices, type NoticeAction } from './notices.ts'
import { PageWords } from './page-words.ts'
import type { FindPresenters } from './present-tool.ts'
import { SessionActions } from './session-actions.ts'
import { seqOfRow } from './fork-points.ts'
import { referenceCompletions } from './reference-completions.ts'
import { settingProblems } from './setting-problems.ts'
import { SessionTranscripts } from './session-transcripts.ts'
import { editableText, editedArguments } from './approval-edits.ts'
import { createPermissionChoice } from './permission-choice.ts'
import { createRulesPage } from './rules-page.ts'
import { createPresetChoice } from './preset-choice.ts'
import { statusOf } from './status.ts'
import { costView, usageLines, windowView } from './usage-view.ts'
import type { ViewChannel } from './view-channel.ts'
import { createViewFeed } from './view-feed.ts'
import type { ParsedMessage } from './view-messages.ts'
import { ViewModel } from './view-model.ts'

/** What the palette, the status bar and the keys can ask for. */
export type ChatCommand =
  | 'new-session'
  | 'open-session'
  | 'rename-session'
  | 'delete-session'
  | 'fork-session'
  | 'rewind-session'
  | 'archive-session'
  | 'export-session'
  | 'import-session'
  | 'run-command'
  | 'compact'
  | 'stop'
  | 'continue'
  | 'choose-model'
  | 'choose-preset'
  | 'copy-preset'
  | 'choose-permission'
  | 'show-permissions'
  | 'toggle-plan'
  | 'set-api-key'
  | 'check-connection'
  | 'approvals'
  | 'show-instructions'
  | 'review-hooks'
  | 'ask-about-selection'
  | 'ask-about-terminal'
  | 'add-files'
  | 'menu'

/** The session that was open is open again after a reload. */
const OPEN_SESSION_KEY = 'openSession'
/** Changes of the session list are gathered for this long. */
const LIST_AFTER_MS = 150
/** What a message names is looked up within this time, or the message is not sent. */
const REFERENCE_TIMEOUT_MS = 15_000
/** UTF-16 units of one message of the person; more belongs in a file. */
const MAX_MESSAGE_LENGTH = 1_000_000

interface Parts {
  readonly capabilities: ChatCapabilities
  readonly services: ChatServices
}

interface Shown extends ShownSession {
  /** Null for a session that another window writes. */
  readonly agent: Agent | null
}

/** Choices for the session that the next message begins. */
interface NextSession {
  readonly preset: string | null
  readonly permission: ComposerView['permission'] | null
  readonly isPlanning: boolean
  readonly options: AgentOptions | null
  /** It takes the place of one that was cleared. */
  readonly isCleared: boolean
}

const noChoices: NextSession = { preset: null, permission: null, isPlanning: false, options: null, isCleared: false }

/**
 * Behind every page of the chat: turns the person's intents into calls of the services, and what happens into view state.
 *
 * Nothing here knows the editor or a page's drawing; every decision runs under fakes.
 */
export class ChatController {
  readonly #world: ChatCapabilities
  readonly #services: ChatServices
  readonly #model: ViewModel
  readonly #transcripts: SessionTranscripts
  readonly #drafts: Drafts
  readonly #notices: Notices
  readonly #chooser: ModelChooser
  readonly #hookReview: ReturnType<typeof createHookReview>
  readonly #presetChoice: ReturnType<typeof createPresetChoice>
  readonly #permissionChoice: ReturnType<typeof createPermissionChoice>
  readonly #rulesPage: ReturnType<typeof createRulesPage>
  readonly #artifacts: Artifacts
  readonly #firstRun: FirstRun
  readonly #prompts: ApprovalPrompts
  /** What the menus of the composer offer. */
  readonly completions: Completions
  readonly #attachments: ComposerAttachments
  readonly #words = new PageWords()
  /** Also the source of the slash commands that need a view. */
  readonly sessionActions: SessionActions
  readonly #undos: Undo[] = []
  #shown: Shown | null = null
  #next: NextSession = noChoices
  /** Grows with each change of what is shown, so that a slow opening does not overtake a later one. */
  #showing = 0
  #listTimer: Undo | null = null
  #isDisposed = false
  readonly #end = new AbortController()

  constructor({ capabilities, services }: Parts) {
    this.#world = capabilities
    this.#services = services
    const { clock, editor, l10n, logger } = capabilities
    const onError = (error: unknown) => this.#logError(error)
    this.#model = new ViewModel(
      {
        session: null,
        composer: {
          draft: '',
          canSend: true,
          blockedBy: null,
          preset: '',
          presets: [],
          permission: 'workspace-write',
          model: null,
        },
        approvals: [],
        questions: [],
        queue: [],
        tasks: null,
        sessions: [],
        notices: [],
        rules: null,
        isTrusted: capabilities.workspace.isTrusted(),
      },
      onError,
    )
    this.#transcripts = new SessionTranscripts({
      clock,
      l10n,
      isKnownEvent: (type) => services.eventTypes.get(type) !== undefined,
      find: (sessionId) => this.#findPresenters(sessionId),
      onRows: (sessionId, changes) => {
        if (sessionId === this.#shown?.session.id) this.#model.rowsChanged(changes)
      },
    })
    this.#drafts = new Drafts({ memento: capabilities.memento, clock, onError })
    this.#notices = new Notices((views) => this.#model.set('notices', views))
    this.#hookReview = createHookReview({ hooks: services.hooks, editor: capabilities.editor, l10n: capabilities.l10n })
    this.#presetChoice = createPresetChoice({ presets: services.presets, editor: capabilities.editor, l10n: capabilities.l10n })
    this.#chooser = new ModelChooser({
      models: services.models,
      settings: services.settings,
      source: capabilities.settings,
      secrets: capabilities.secrets,
      editor,
      clock,
      onReport: (report) => this.#tellReport(report),
      l10n,
    })
    this.#firstRun = new FirstRun({
      chooser: this.#chooser,
      l10n,
      onFound: () => this.#refreshComposer(),
      use: (picked) => this.#useModel(picked),
      onError,
    })
    this.#permissionChoice = createPermissionChoice({ permissions: services.permissions, plan: services.plan, editor, l10n })
    this.#rulesPage = createRulesPage({ permissions: services.permissions, l10n })
    this.#artifacts = new Artifacts({ editor, blobs: capabilities.blobs, l10n })
    const drafts = new DraftAttachments({ blobs: capabilities.blobs, machine: capabilities.machine, memento: capabilities.memento, onError })
    this.#attachments = new ComposerAttachments({
      drafts,
      references: services.references,
      l10n,
      place: () => ({ sessionId: this.#shown?.session.id ?? null, cwd: this.#cwd() }),
      imagesRefused: () => this.#imagesRefused(),
      onChange: (attachments) => {
        this.#notices.close('attach')
        this.#model.set('composer', { ...this.#model.get('composer'), attachments })
      },
      say: (problem) => this.#notice('attach', 'warning', problem),
    })
    this.completions = new Completions(onError)
    this.completions.provide('/', commandCompletions({ commands: services.commands, scopeOf: (agent) => agent?.scope ?? services.presets.scopeOf(this.#preset()) }))
    this.completions.provide('@', referenceCompletions({ references: services.references, l10n, clock }))
    this.#prompts = new ApprovalPrompts({
      approvals: services.approvals,
      attention: capabilities.attention,
      editor,
      l10n,
      describe: (request) => {
        const { effect, why } = this.#approvalView(request)
        return { effect: withoutMarks(effect), why: plainText(why) }
      },
      onError,
    })
    this.sessionActions = new SessionActions({
      capabilities,
      services,
      chat: {
        shown: () => this.#shown?.session ?? null,
        open: (sessionId) => this.#open(sessionId),
        startAnew: ({ carriesOn }) => this.#startAnew(carriesOn),
        putDraft: (sessionId, text) => this.#putDraft(sessionId, text),
        putImage: (sessionId, image) => drafts.addImage(sessionId, image),
        notice: (...notice) => this.#notice(...notice),
        refreshList: () => this.#refreshSessions(),
      },
    })
    logger.debug('The chat is composed.')
  }

  /** Begin to follow what happens, and open what was open before the window was loaded again. */
  async start(): Promise<void> {
    const { approvals, projections, questions, settings } = this.#services
    const { secrets, workspace } = this.#world
    this.#undos.push(
      approvals.attach(),
      questions.attach(),
      approvals.onDidChange(() => this.#refreshWaiting()),
      questions.onDidChange(() => this.#refreshWaiting()),
      this.#services.permissions.onDidChange(() => this.#permissionsChanged()),
      this.#services.plan.onDidChange(() => this.#refreshComposer()),
      projections.onDidChange(({ sessionId, key, value }) => {
        if (key === 'todos' && sessionId === this.#shown?.session.id) this.#model.set('tasks', tasksView(value))
        if (key === 'title') this.#refreshSoon()
      }),
      settings.onDidChange(() => this.#settingsChanged()),
      secrets.onDidChange(() => this.#refreshComposer()),
      this.#services.hooks.onDidChange((_cwd, waiting) => this.#hooksWait(waiting.reduce((sum, { hooks }) => sum + hooks.length, 0))),
      workspace.onDidChangeTrust(() => this.#trustChanged()),
      workspace.onDidChangeFolders(() => this.#refreshComposer()),
    )
    this.#settingsChanged()
    this.#refreshWaiting()
    const opened = this.#world.memento.get(OPEN_SESSION_KEY)
    await Promise.all([this.#refreshSessions(), typeof opened === 'string' ? this.#open(opened) : this.#showNothing()])
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true
    this.#end.abort()
    this.#listTimer?.()
    this.#prompts.dispose()
    for (const undo of this.#undos.splice(0)) undo()
    await this.#drafts.flush()
  }

  /** Feed a page until the undo is called. */
  attach(channel: ViewChannel): Undo {
    const undo = createViewFeed({
      channel,
      model: this.#model,
      clock: this.#world.clock,
      onIntent: (message, reply) => {
        this.#intent(message, channel, reply).catch((error: unknown) => this.#tellFailure(error))
      },
      onRefused: (refusal) => this.#refused(refusal),
    })
    const detach = () => {
      undo()
      this.#words.gone(channel)
    }
    this.#undos.push(detach)
    return detach
  }

  // What happens in the sessions; called by the plugin's listeners.

  noteEvent(session: Session, event: SessionEvent): void {
    this.#transcripts.note(session, event)
    if (event.type === 'assistant/chunk') return
    if (session.id === this.#shown?.session.id) {
      this.#refreshSession()
      // The inbox takes a change over once the log holds it, just after this.
      if (event.type === 'agent/inbox/spliced') queueMicrotask(() => this.#refreshQueue())
      if (event.type === 'agent-preset/selected' || event.type === 'command/done') this.#refreshComposer()
    }
    if (event.type === 'turn/end') this.#turnEnded(session, event)
    if (event.type === 'turn/start' || event.type === 'turn/end' || event.type === 'session/title') this.#refreshSoon()
  }

  /** What a session cost changed: that of an agent which the shown one started counts here too. */
  noteCost(): void {
    this.#refreshSession()
  }

  /** Another window took the session over. */
  noteAccess(session: Session): void {
    if (this.#shown?.session.id !== session.id || session.access === 'write') return
    this.#shown = { ...this.#shown, agent: null }
    this.#noticeWriter()
    this.#refreshShown()
  }

  /** Never silently: it may have been the setting of another time. */
  noteExpired(count: number): void {
    const { editor, l10n } = this.#world
    this.#refreshSoon()
    this.#notice('expired', 'info', l10n.t('{count} sessions that nobody touched for long were deleted, as the setting bosun.sessions.retentionDays says.', { count }), [
      { id: 'open', label: l10n.t('Open the settings'), run: () => editor.openSettings('bosun.sessions.retentionDays') },
    ])
  }

  noteProgress(sessionId: string, callId: string, text: string): void {
    this.#transcripts.progress(sessionId, callId, text)
  }

  noteStatus(): void {
    this.#refreshSession()
    this.#refreshQueue()
    this.#refreshSoon()
  }

  noteModels(): void {
    this.#refreshComposer()
  }

  /** A session was closed, by deletion or because another window took it. */
  noteClosed(sessionId: string): void {
    this.#transcripts.forget(sessionId)
    this.#refreshSoon()
    if (this.#shown?.session.id === sessionId && !this.#isDisposed) this.#showNothing().catch((error: unknown) => this.#tellFailure(error))
  }

  /** A command of the palette, the status bar, a key or a menu; `paths`: what the menu was opened on. */
  async run(command: ChatCommand, paths: readonly string[] = []): Promise<void> {
    try {
      await this.#command(command, paths)
    } catch (error) {
      this.#tellFailure(error)
    }
  }

  async #command(command: ChatCommand, paths: readonly string[] = []): Promise<void> {
    switch (command) {
      case 'new-session':
        await this.#showNothing()
        await this.#world.editor.showChat()
        return
      case 'open-session':
        await this.#pickSession()
        return
      case 'rename-session':
        if (this.#shown !== null) await this.#rename(this.#shown.session.id, null)
        return
      case 'delete-session':
        if (this.#shown !== null) await this.#delete(this.#shown.session.id)
        return
      case 'fork-session':
        if (this.#shown !== null) await this.sessionActions.fork(this.#shown.session, null)
        return
      case 'rewind-session':
        if (this.#shown !== null) await this.sessionActions.rewind(this.#shown.session)
        return
      case 'archive-session':
        if (this.#shown !== null) await this.#archive(this.#shown.session.id, true)
        return
      case 'export-session': {
        const saved = this.#shown === null ? null : await this.sessionActions.export(this.#shown.session.id)
        if (saved !== null) this.#notice('session', 'info', saved)
        return
      }
      case 'import-session':
        await this.sessionActions.import()
        return
      case 'run-command':
        await this.#pickCommand()
        return
      case 'compact': {
        const problem = this.#blockedBy() ?? (await this.#runCommand('/compact'))
        if (problem !== null) this.#notice('command', 'warning', problem)
        return
      }
      case 'stop':
        this.#stop()
        return
      case 'continue':
        if (this.#shown?.agent != null) this.#continue(this.#shown.agent)
        return
      case 'choose-model':
        await this.#pickModel()
        return
      case 'choose-preset':
        await this.#pickPreset()
        return
      case 'copy-preset':
        await this.#copyPreset()
        return
      case 'choose-permission':
        await this.#pickPermission()
        return
      case 'show-permissions':
        this.#showRules(true)
        return
      case 'toggle-plan':
        this.#togglePlan()
        return
      case 'set-api-key':
        await this.#setKey()
        return
      case 'check-connection':
        await this.#checkConnection()
        return
      case 'approvals':
        await this.#pickApproval()
        return
      case 'show-instructions':
        await this.#showInstructions()
        return
      case 'review-hooks':
        await this.#reviewHooks()
        return
      case 'ask-about-selection':
        await this.#attachments.attachSelection()
        return await this.#toChat({ type: 'focus-composer' })
      case 'ask-about-terminal':
        return await this.#toChat({ type: 'insert-text', text: '@terminal ' })
      case 'add-files':
        return await this.#toChat({ type: 'insert-text', text: paths.length === 0 ? '@' : this.#attachments.mentions(paths) })
      case 'menu':
        await this.#menu()
        return
      default:
        assertNever(command, 'command')
    }
  }

  /** The instruction files of the conversation on screen, or of the one that would begin now. */
  async #showInstructions(): Promise<void> {
    const { editor, l10n, workspace } = this.#world
    const session = this.#shown?.session
    const report = await this.#services.instructions.report(session === undefined ? { cwd: workspace.folders()[0]?.path ?? '' } : { session })
    await editor.openText({ name: `instructions/${session?.id ?? 'new'}/${l10n.t('Instruction files')}.md`, text: instructionDocument(report, l10n), language: 'markdown' })
  }

  async #reviewHooks(): Promise<void> {
    const cwd = this.#shown?.session.header.cwd ?? this.#world.workspace.folders()[0]?.path ?? ''
    if (await this.#hookReview.review(cwd)) this.#notices.close('hooks')
  }

  /** Commands that the person has not seen wait; the talk goes on without them. */
  #hooksWait(count: number): void {
    if (count === 0) return this.#notices.close('hooks')
    const { t } = this.#world.l10n
    this.#notice('hooks', 'info', t('{count} commands of agent configurations here wait for your consent and do not run.', { count }), [
      { id: 'review', label: t('Review…'), run: () => this.#reviewHooks() },
    ])
  }

  async #toChat(message: HostMessage): Promise<void> {
    this.#words.forgetHidden()
    await this.#world.editor.showChat()
    this.#words.say(message)
  }

  async #intent(message: ViewMessage, channel: ViewChannel, reply: (message: HostMessage) => void): Promise<void> {
    const shown = this.#shown
    const opened = async (open: (shown: Shown) => Promise<string | null>) => {
      const problem = shown === null ? null : await open(shown)
      if (problem !== null) this.#notice('open', 'warning', problem)
    }
    switch (message.type) {
      case 'ready':
        this.#words.ready(channel)
        return
      case 'need-snapshot':
      case 'load-older':
        return
      case 'send':
        reply({ type: 'sent', id: message.id, problem: await this.#send(message.text, message.target) })
        return
      case 'completions':
        return await this.completions.answer(message, { channel, reply, agent: shown?.agent ?? null, cwd: this.#cwd() })
      case 'attach-image':
      case 'attach-selection':
      case 'detach':
      case 'mention':
        return await this.#attachments.handle(message, reply)
      case 'stop':
        this.#stop()
        return
      case 'continue':
      case 'retry':
        if (shown?.agent != null && !this.#services.retries.tryNow(shown.agent)) this.#continue(shown.agent)
        return
      case 'draft':
        this.#keepDraft(message.text)
        return
      case 'queue-edit':
        try {
          return await this.#editQueued(message.id, message.text)
        } catch (error) {
          reply({ type: 'insert-text', text: message.text })
          throw error
        }
      case 'queue-delete':
        shown?.agent?.queue.remove(message.id)
        return
      case 'queue-steer':
        shown?.agent?.queue.steerNow(message.id)
        return
      case 'approval':
        this.#answerApproval(message)
        return
      case 'question': {
        const outcome = this.#services.questions.answer(message.id, message.answers)
        if (!outcome.ok) this.#notice('question', 'warning', outcome.problem)
        return
      }
      case 'open-location':
        return await opened((at) => this.#artifacts.openLocation(at, message.location))
      case 'open-diff':
        return await opened((at) => this.#artifacts.openDiff(at, message.callId, message.path))
      case 'open-output':
        return await opened((at) => this.#artifacts.openOutput(at, message.callId))
      case 'review-turn':
        return await opened((at) => this.#artifacts.reviewTurn(at, message.turn, message.path))
      case 'open-image':
        return await opened((at) => this.#artifacts.openImage(at, message.attachmentId))
      case 'need-image': {
        const waiting = await this.#attachments.bytes(message.attachmentId)
        const bytes = waiting ?? (shown === null ? null : await this.#artifacts.attachment(shown.session, message.attachmentId))
        const kind = bytes === null ? null : imageTypeOf(bytes)
        const uri = bytes === null || kind === null ? null : channel.imageUri(bytes, kind.mediaType)
        reply({ type: 'image', attachmentId: message.attachmentId, uri, byteLength: bytes?.length ?? 0 })
        return
      }
      case 'open-link': {
        const problem = await this.#artifacts.openLink(message.url)
        if (problem !== null) this.#notice('open', 'warning', problem)
        return
      }
      case 'open-log':
        if (shown !== null) await this.#artifacts.openLog(shown)
        return
      case 'copy':
        await this.#world.editor.copy(message.text)
        return
      case 'session-new':
        await this.#showNothing()
        return
      case 'session-open':
        await this.#open(message.id)
        return
      case 'session-rename':
        await this.#rename(message.id, message.title)
        return
      case 'session-delete':
        await this.#delete(message.id)
        return
      case 'session-export':
        await this.#command('export-session')
        return
      case 'session-fork':
        if (shown !== null) await this.sessionActions.fork(shown.session, message.rowId)
        return
      case 'prompt-again':
        if (shown !== null) await this.sessionActions.askAgain(shown.session, seqOfRow(message.rowId) ?? -1)
        return
      case 'session-archive':
        await this.#archive(message.id, message.isArchived)
        return
      case 'pick-model':
        await this.#pickModel()
        return
      case 'pick-preset':
        await this.#pickPreset()
        return
      case 'pick-permission':
        await this.#pickPermission()
        return
      case 'rules-show':
      case 'rules-close':
        this.#showRules(message.type === 'rules-show')
        return
      case 'rule-revoke':
        await this.#rulesPage.revoke(shown?.session.id, message.id)
        this.#showRules(true)
        return
      case 'manage-trust':
        await this.#world.editor.manageTrust()
        return
      case 'open-settings':
        await this.#world.editor.openSettings('bosun')
        return
      case 'reload-view':
        channel.reload()
        return
      case 'view-error':
        this.#world.logger.error('The chat view reported a failure.', { text: message.text.slice(0, 4_000) })
        return
      case 'notice-action':
        await this.#notices.run(message.id, message.action)
        return
      case 'notice-close':
        this.#notices.close(message.id)
        return
      default:
        assertNever(message, 'message of the view')
    }
  }

  // Sending

  /** Words for the person when the message was not taken; their text goes back into the composer then. */
  async #send(text: string, target: 'next-turn' | 'next-step'): Promise<string | null> {
    const { t } = this.#world.l10n
    if (text.trim() === '' && !this.#attachments.hasImages) return t('There is nothing to send yet.')
    if (text.length > MAX_MESSAGE_LENGTH) return t('This message is too long. Put the text into a file and name the file instead.')
    const blocked = this.#blockedBy()
    if (blocked !== null) return blocked
    const typed = typedLine(text)
    try {
      if (typed.kind === 'command') return await this.#runCommand(typed.line)
      const cwd = this.#shown?.session.header.cwd ?? (await this.#chooseFolder())
      if (cwd === null) return t('Choose a folder to work in, then send again.')
      // Looked up before there is a session, so that a failure leaves none behind.
      const content = await this.#services.references.content(typed.text, this.#referencePlace(cwd))
      const refusal = await this.#attachments.refusal()
      if (refusal !== null) return refusal
      const draftOf = this.#shown?.session.id ?? null
      const agent = this.#shown?.agent ?? (await this.#createAgent(cwd))
      const attached = await this.#attachments.blocks(draftOf, agent.id)
      const message: UserMessage = { id: this.#world.machine.randomId(), role: 'user', content: [...content, ...attached], source: { kind: 'user' } }
      if (target === 'next-step') agent.steer(message)
      else agent.followup(message)
      this.#keepDraft('')
      await this.#attachments.sent(draftOf)
      return null
    } catch (error) {
      this.#logError(error)
      return messageOf(error)
    }
  }

  /** Words for the person when the command was refused. Its outcome is a row of the talk; nobody waits for it here. */
  async #runCommand(line: string): Promise<string | null> {
    const { commands, presets } = this.#services
    const open = this.#shown?.agent ?? null
    const refusal = commands.refusal(line, { scope: open?.scope ?? presets.scopeOf(this.#preset()), isIdle: open?.status !== 'running', isBeforeSession: open === null, imageCount: this.#attachments.views().filter(({ kind }) => kind === 'image').length })
    if (refusal !== null) return refusal.message
    const draftOf = this.#shown?.session.id ?? null
    const cwd = open === null ? await this.#chooseFolder() : null
    const agent = open ?? (cwd === null ? null : await this.#createAgent(cwd))
    if (agent === null) return this.#world.l10n.t('Choose a folder to work in, then send again.')
    this.#keepDraft('')
    const images = (await this.#attachments.blocks(draftOf, agent.id)).filter((part) => part.type === 'image')
    if (images.length > 0) await this.#attachments.sent(draftOf)
    commands.run(agent, line, { images }).catch((error: unknown) => this.#tellFailure(error))
    return null
  }

  #cwd(): string | null {
    return this.#shown?.session.header.cwd ?? this.#world.workspace.folders()[0]?.path ?? null
  }

  async #imagesRefused(): Promise<string | null> {
    const { provider, model } = await this.#options()
    const info = provider === undefined || model === undefined ? undefined : await this.#services.models.get(provider)?.resolveModel(model)
    if (info === undefined || info.input.includes('image')) return null
    return this.#world.l10n.t('{model} reads text only. Choose a model that reads images, or send the message without them.', { model: info.name })
  }

  #referencePlace(cwd: string): ReferencePlace {
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(REFERENCE_TIMEOUT_MS)])
    return { cwd, signal, ...(this.#shown === null ? {} : { sessionId: this.#shown.session.id }) }
  }

  /** The words anew, with what they name now; images stay. */
  async #editQueued(id: string, text: string): Promise<void> {
    const agent = this.#shown?.agent
    const waiting = agent === undefined || agent === null ? undefined : [...agent.inbox.nextStep, ...agent.inbox.nextTurn].find((message) => message.id === id)
    if (agent == null || waiting === undefined) return
    const content = await this.#services.references.content(text, this.#referencePlace(agent.session.header.cwd ?? ''))
    // What the words named is looked up anew; what was put beside them stays.
    const isBeside = (part: UserMessage['content'][number]) => part.type === 'image' || (part.source !== undefined && !part.text.startsWith('<reference name="@'))
    agent.queue.edit(id, [...content, ...waiting.content.filter(isBeside)])
  }

  async #createAgent(cwd: string): Promise<Agent> {
    const choices = this.#next
    const options = choices.options ?? (await this.#chooser.defaultModel())?.options
    const agent = await this.#services.agents.create({
      cwd,
      ...(choices.preset === null ? {} : { preset: choices.preset }),
      ...(options === undefined ? {} : { agent: options }),
      ...(choices.isCleared && { isCleared: true as const }),
    })
    if (choices.permission !== null && choices.permission !== this.#services.permissions.modeOf(agent.id)) {
      this.#services.permissions.select(agent.id, choices.permission)
    }
    if (choices.isPlanning) this.#services.plan.enter(agent)
    this.#next = noChoices
    this.#drafts.set(null, '')
    await this.#show(agent.session, agent)
    return agent
  }

  async #chooseFolder(): Promise<string | null> {
    const folders = this.#world.workspace.folders()
    if (folders.length <= 1) return folders[0]?.path ?? null
    return await this.#world.editor.pick({
      title: this.#world.l10n.t('Which folder does Bosun work in?'),
      items: folders.map(({ name, path }) => ({ id: path, label: name, description: path })),
    })
  }

  #blockedBy(): string | null {
    const { t } = this.#world.l10n
    if (this.#shown !== null && this.#shown.agent === null) return t('Another window writes this session. Go on there, or close it and open the session here again.')
    if (this.#shown === null && this.#world.workspace.folders().length === 0) return t('Open a folder first: Bosun works on files.')
    return null
  }

  #stop(): void {
    this.#shown?.agent?.cancel({ kind: 'user' }, { keepInbox: true })
  }

  #keepDraft(text: string): void {
    this.#drafts.set(this.#shown?.session.id ?? null, text)
    // The page that typed knows already; others get it with their next snapshot.
    this.#model.keep('composer', { ...this.#model.get('composer'), draft: text })
  }

  // Sessions

  async #open(id: string): Promise<void> {
    if (this.#shown?.session.id === id && this.#shown.agent !== null) return
    const { agents, sessions } = this.#services
    try {
      const live = agents.live(id)
      // Another window wrote it when it was opened here; it may be gone by now.
      if (live?.session.access === 'read-only') await live.dispose()
      const agent = await agents.resume(id)
      await this.#show(agent.session, agent)
    } catch (error) {
      this.#logError(error)
      const summary = (await sessions.list()).find((entry) => entry.id === id)
      if (this.#world.memento.get(OPEN_SESSION_KEY) === id) await this.#world.memento.set(OPEN_SESSION_KEY, undefined)
      if (this.#shown === null) await this.#showNothing()
      this.#notice(
        'session',
        'error',
        this.#world.l10n.t('“{title}” could not be opened: {problem}', { title: summary?.title ?? id, problem: messageOf(error) }),
      )
    }
  }

  async #show(session: Session, agent: Agent): Promise<void> {
    this.#showing += 1
    const turn = this.#showing
    const transcript = await this.#transcripts.of(session)
    if (turn !== this.#showing) return
    this.#shown = { session, agent: session.access === 'write' ? agent : null, transcript }
    this.#showDraft()
    this.#notices.close('session')
    this.#noticeWriter()
    this.#countStarted(session)
    await this.#world.memento.set(OPEN_SESSION_KEY, session.id)
    this.#refreshShown()
    this.#model.show(transcript)
  }

  /** The welcome page: the next message begins a session. */
  async #showNothing(): Promise<void> {
    this.#showing += 1
    this.#shown = null
    this.#next = noChoices
    this.#showDraft()
    this.#noticeWriter()
    await this.#world.memento.set(OPEN_SESSION_KEY, undefined)
    this.#refreshShown()
    this.#model.show(null)
  }

  /** At once: a page takes the draft over when it hears of the session, which any news of it may tell. */
  #showDraft(): void {
    this.#model.set('composer', { ...this.#model.get('composer'), draft: this.#drafts.get(this.#shown?.session.id ?? null) })
  }

  /** What the person had chosen goes on, but for what it may do: that begins as the settings say. */
  async #startAnew(carriesOn: boolean): Promise<void> {
    const kept = carriesOn && this.#shown?.agent != null ? { preset: this.#preset(), options: await this.#options() } : null
    await this.#showNothing()
    if (kept !== null) this.#next = { ...this.#next, ...kept, isCleared: true }
    this.#refreshComposer()
  }

  /** Before what is typed there already. */
  #putDraft(sessionId: string | null, text: string): void {
    const typed = this.#drafts.get(sessionId)
    const draft = typed.trim() === '' ? text : `${text}\n\n${typed}`
    this.#drafts.set(sessionId, draft)
    if ((this.#shown?.session.id ?? null) === sessionId) this.#model.set('composer', { ...this.#model.get('composer'), draft })
  }

  async #pickCommand(): Promise<void> {
    const { editor, l10n } = this.#world
    const entries = this.#services.commands.entries(this.#shown?.agent?.scope ?? this.#services.presets.scopeOf(this.#preset()))
    const picked = await editor.pick({
      title: l10n.t('Run a command'),
      items: entries.map(({ name, description, hint }) => ({ id: name, label: `/${name}`, description: hint ?? '', detail: description })),
    })
    const entry = entries.find(({ name }) => name === picked)
    if (entry === undefined) return
    const args = entry.hint === null ? '' : await editor.input({ title: `/${entry.name}`, prompt: `${entry.description} (${entry.hint})` })
    if (args === null) return
    const problem = this.#blockedBy() ?? (await this.#runCommand(`/${entry.name} ${args}`.trim()))
    if (problem !== null) this.#notice('command', 'warning', problem)
  }

  async #pickSession(): Promise<void> {
    const { editor, l10n } = this.#world
    await this.#refreshSessions()
    const picked = await editor.pick({
      title: l10n.t('Open a session'),
      items: this.#model.get('sessions').map((item) => ({
        id: item.id,
        label: item.title,
        description: new Date(item.updatedAt).toLocaleString(),
        ...(item.problem === null ? {} : { detail: item.problem }),
        isCurrent: item.id === this.#shown?.session.id,
      })),
    })
    if (picked === null) return
    await this.#open(picked)
    await editor.showChat()
  }

  async #rename(id: string, title: string | null): Promise<void> {
    const { editor, l10n } = this.#world
    const current = this.#model.get('sessions').find((item) => item.id === id)?.title ?? ''
    const wanted = title ?? (await editor.input({ title: l10n.t('Rename this session'), prompt: l10n.t('Its new title'), value: current }))
    if (wanted === null) return
    if (wanted.trim() === '') return this.#notice('session', 'warning', l10n.t('A session needs a title.'))
    await this.#services.sessions.rename(id, wanted.trim())
    await this.#refreshSessions()
    this.#refreshSession()
  }

  async #archive(id: string, isArchived: boolean): Promise<void> {
    await this.#services.sessions.archive(id, isArchived)
    await this.#refreshSessions()
  }

  async #delete(id: string): Promise<void> {
    const { editor, l10n } = this.#world
    const title = this.#model.get('sessions').find((item) => item.id === id)?.title ?? id
    const forks = (await this.#services.sessions.list()).filter(({ forkedFrom }) => forkedFrom === id)
    const isSure = await editor.confirm({
      text: l10n.t('Delete “{title}”?', { title }),
      detail: [
        l10n.t('Its conversation, attachments and kept output go for good. Your files stay as they are.'),
        ...(forks.length === 0 ? [] : [l10n.t('{count} sessions were forked from it: they stay, but long output that they refer to goes.', { count: forks.length })]),
      ].join(' '),
      yes: l10n.t('Delete'),
    })
    if (!isSure) return
    if (this.#shown?.session.id === id) await this.#showNothing()
    await this.#services.agents.live(id)?.dispose()
    await this.#services.sessions.remove(id)
    this.#transcripts.forget(id)
    this.#drafts.set(id, '')
    await this.#refreshSessions()
  }

  // Pickers

  async #pickModel(): Promise<void> {
    const picked = await this.#chooser.pick(await this.#options())
    if (picked === null) return
    this.#useModel(picked)
  }

  #useModel(options: AgentOptions): void {
    // What was said about another model's connection says nothing about this one.
    this.#notices.close('connection')
    if (this.#shown?.agent != null) {
      this.#services.agents.configure(this.#shown.session.id, options)
      const { provider, model } = options
      // A turn that waits for a limit to pass goes on at once.
      if (provider !== undefined && model !== undefined) {
        this.#services.modelRoutes.useNow(this.#shown.agent, { provider, model }).catch((error: unknown) => this.#tellFailure(error))
      }
    } else this.#next = { ...this.#next, options }
    this.#refreshComposer()
  }

  async #options(): Promise<AgentOptions> {
    const chosen = this.#shown?.agent != null ? this.#services.agents.optionsOf(this.#shown.session.id) : this.#next.options
    if (chosen?.provider !== undefined && chosen.model !== undefined) return chosen
    return { ...(await this.#chooser.defaultModel())?.options, ...chosen }
  }

  async #pickPreset(): Promise<void> {
    const picked = await this.#presetChoice.pick(this.#preset())
    if (picked === null) return
    if ('problem' in picked) return this.#notice('preset', 'warning', picked.problem)
    if (this.#shown?.agent != null) this.#services.agents.selectPreset(this.#shown.session.id, picked.id)
    else this.#next = { ...this.#next, preset: picked.id }
    this.#refreshComposer()
  }

  async #copyPreset(): Promise<void> {
    const problem = await this.#presetChoice.copy(this.#shown?.session.header.cwd ?? '')
    if (problem !== null) this.#notice('preset', 'warning', problem)
    this.#refreshComposer()
  }

  #preset(): string {
    if (this.#shown?.agent != null) return this.#services.agents.presetOf(this.#shown.session.id)
    if (this.#shown !== null) return this.#shown.session.header.agentPreset ?? this.#services.presets.defaultId()
    return this.#next.preset ?? this.#services.presets.defaultId()
  }

  async #pickPermission(): Promise<void> {
    const picked = await this.#permissionChoice.pick({ mode: this.#permission(), isPlanning: this.#isPlanning() })
    if (picked === 'rules') this.#showRules(true)
    if (picked === null || picked === 'rules') return
    if (this.#shown?.agent != null) this.#permissionChoice.apply(this.#shown.agent, picked)
    else this.#next = { ...this.#next, permission: picked.mode, isPlanning: picked.isPlanning }
    this.#refreshComposer()
  }

  #togglePlan(): void {
    if (this.#shown?.agent != null) this.#permissionChoice.togglePlan(this.#shown.agent)
    else this.#next = { ...this.#next, isPlanning: !this.#next.isPlanning }
    this.#refreshComposer()
  }

  #isPlanning(): boolean {
    if (this.#shown === null) return this.#next.isPlanning
    return this.#services.plan.pending(this.#shown.session) ?? this.#services.plan.isActive(this.#shown.session)
  }

  #showRules(isOpen: boolean): void {
    this.#model.set('rules', isOpen ? this.#rulesPage.view(this.#shown?.session.id) : null)
  }

  #permissionsChanged(): void {
    if (this.#model.get('rules') !== null) this.#showRules(true)
    this.#refreshComposer()
  }

  #permission(): ComposerView['permission'] {
    if (this.#shown !== null) return this.#services.permissions.modeOf(this.#shown.session.id)
    return this.#next.permission ?? this.#services.permissions.defaultMode()
  }

  async #setKey(): Promise<void> {
    const { provider: current } = await this.#options()
    const provider = await this.#chooser.setKey(current)
    if (provider === null) return
    this.#refreshComposer()
    const report = await this.#chooser.check({ provider })
    this.#tellReport(report)
    const options = await this.#options()
    if (!report.isOk || provider === options.provider) return
    // A provider that has just got its key is wanted: one of its models is chosen next.
    const picked = await this.#chooser.pick(options, provider)
    if (picked !== null) this.#useModel(picked)
  }

  async #checkConnection(): Promise<void> {
    this.#tellReport(await this.#chooser.check(await this.#options()))
  }

  #tellReport({ isOk, message }: { readonly isOk: boolean; readonly message: string }): void {
    this.#notice('connection', isOk ? 'info' : 'error', message, isOk ? [] : this.#modelActions())
    if (!this.#world.editor.isChatVisible()) void this.#tell(isOk ? 'info' : 'error', message)
  }

  #modelActions(): readonly NoticeAction[] {
    const { t } = this.#world.l10n
    return [
      { id: 'key', label: t('Set an API key…'), run: () => this.#setKey() },
      { id: 'model', label: t('Choose a model'), run: () => this.#pickModel() },
    ]
  }

  async #menu(): Promise<void> {
    const { editor, l10n } = this.#world
    const { t } = l10n
    const waiting = this.#services.approvals.pending().length
    const picked = await editor.pick({
      title: t('Bosun'),
      items: [
        { id: 'chat', label: t('Open the chat') },
        ...(this.#shown?.agent?.status === 'running' ? [{ id: 'stop', label: t('Stop') }] : []),
        { id: 'new-session', label: t('New session') },
        ...(waiting > 0 ? [{ id: 'approvals', label: t('Approvals ({count})', { count: waiting }) }] : []),
        { id: 'open-session', label: t('Sessions…') },
        { id: 'choose-model', label: t('Choose a model…') },
        { id: 'check-connection', label: t('Check the connection') },
      ],
    })
    if (picked === 'chat') await editor.showChat()
    else if (picked !== null) await this.#command(picked as ChatCommand)
  }

  // Approvals and questions

  #answerApproval(message: Extract<ViewMessage, { type: 'approval' }>): void {
    const { approvals } = this.#services
    if (message.answer === 'deny') {
      approvals.answer(message.id, { outcome: 'rejected', ...(message.note === undefined ? {} : { note: message.note }) })
      return
    }
    const request = approvals.pending().find(({ id }) => id === message.id)
    const edited = request === undefined || message.edited === undefined ? null : editedArguments(this.#services.permissions, request, message.edited)
    const answer = message.always === undefined ? ({ outcome: 'allowed-once', ...(edited !== null && { arguments: edited }) } as const) : alwaysAnswer(request?.details?.always ?? [], message.always)
    if (answer !== null) approvals.answer(message.id, answer)
  }

  async #pickApproval(): Promise<void> {
    const { editor, l10n } = this.#world
    const { t } = l10n
    const waiting = this.#services.approvals.pending()
    if (waiting.length === 0) return
    const picked =
      waiting.length === 1
        ? waiting[0]?.id
        : await editor.pick({
            title: t('Waiting for you'),
            items: waiting.map((request) => {
              const { effect, why } = this.#approvalView(request)
              return { id: request.id, label: withoutMarks(effect), detail: plainText(why) }
            }),
          })
    const request = waiting.find(({ id }) => id === picked)
    if (request === undefined) return
    const { effect, why } = this.#approvalView(request)
    const always = request.details?.always ?? []
    const answer = await editor.pick({
      title: withoutMarks(effect),
      placeholder: plainText(why),
      items: [
        { id: 'deny', label: t('Deny') },
        { id: 'allow', label: t('Allow once') },
        ...always.map(({ label }, index) => ({ id: `always:${index}`, label: plainText(label) })),
      ],
    })
    if (answer === 'deny') this.#services.approvals.answer(request.id, { outcome: 'rejected' })
    else if (answer === 'allow') this.#services.approvals.answer(request.id, { outcome: 'allowed-once' })
    else if (answer !== null) {
      const granted = alwaysAnswer(always, Number(answer.slice('always:'.length)))
      if (granted !== null) this.#services.approvals.answer(request.id, granted)
    }
  }

  #approvalView(request: ApprovalRequest) {
    const isElsewhere = request.agent.id !== this.#shown?.session.id
    return approvalView(request, {
      editable: editableText(this.#services.permissions, request),
      find: this.#findPresenters(request.agent.id),
      l10n: this.#world.l10n,
      who: isElsewhere ? this.#titleOf(request.agent.session) : null,
    })
  }

  #refreshWaiting(): void {
    const approvals = this.#services.approvals.pending()
    const questions = this.#services.questions.pending()
    this.#model.set('approvals', approvals.map((request) => this.#approvalView(request)))
    this.#model.set('questions', questions.map(questionSetView))
    const notified = this.#services.settings.get(specs.notificationsWhenHidden)
    this.#prompts.update(notified.includes('approvals'))
    this.#askForAnswers(notified.includes('questions'))
    for (const { agent, callId } of questions) if (callId !== undefined) this.#transcripts.setWaiting(agent.id, callId, true)
    const waiting = approvals.length + questions.length
    this.#world.editor.setBadge(waiting === 0 ? null : { count: waiting, tooltip: this.#world.l10n.t('{count} waiting for you', { count: waiting }) })
    this.#refreshSession()
    this.#refreshSoon()
  }

  readonly #askedQuestions = new Map<string, AbortController>()

  /** A notification leads to the question while the chat is hidden; it is answered in the chat. */
  #askForAnswers(isOn: boolean): void {
    const { attention, editor, l10n } = this.#world
    const pending = this.#services.questions.pending()
    for (const [id, controller] of this.#askedQuestions) {
      if (pending.some((set) => set.id === id)) continue
      this.#askedQuestions.delete(id)
      controller.abort()
    }
    for (const set of pending) {
      if (!isOn || editor.isChatVisible() || this.#askedQuestions.has(set.id)) continue
      const controller = new AbortController()
      this.#askedQuestions.set(set.id, controller)
      const text = l10n.t('Bosun asks: {question}', { question: set.questions[0]?.question ?? '' })
      attention
        .ask({ text, buttons: [{ id: 'open', label: l10n.t('Answer') }], signal: controller.signal })
        .then((choice) => (choice === 'open' ? editor.showChat() : undefined))
        .catch((error: unknown) => this.#logError(error))
    }
  }

  /** What a hook held back is the person's to change: it comes back into an empty composer. */
  #returnPrompt(session: Session): void {
    if (this.#drafts.get(session.id).trim() !== '') return
    const taken = session.milestones().findLast((event) => event.type === 'agent/inbox/spliced' && event.data.inserted.length > 0)
    const text = taken?.type === 'agent/inbox/spliced' ? taken.data.inserted.filter(({ source }) => source.kind === 'user').map(textOf).join('\n\n') : ''
    if (text === '') return
    this.#drafts.set(session.id, text)
    if (session.id === this.#shown?.session.id) this.#refreshComposer()
  }

  #turnEnded(session: Session, { data }: SessionEvent<'turn/end'>): void {
    if (data.reason.kind === 'blocked') this.#returnPrompt(session)
    const { editor, l10n } = this.#world
    if (editor.isChatVisible() || !this.#services.settings.get(specs.notificationsWhenHidden).includes('turnEnd')) return
    const { reason } = data
    if (reason.kind === 'aborted' || reason.kind === 'interrupted') return
    const title = this.#titleOf(session)
    if (reason.kind === 'completed') void this.#tell('info', l10n.t('Bosun has finished: {title}', { title }))
    else if (reason.kind === 'error') void this.#tell('error', l10n.t('Bosun stopped: {problem}', { problem: reason.failure.message }))
    else void this.#tell('warning', l10n.t('Bosun paused: {title}', { title }))
  }

  async #tell(level: 'info' | 'warning' | 'error', text: string): Promise<void> {
    const { attention, editor, l10n } = this.#world
    const open: AttentionButton = { id: 'open', label: l10n.t('Open the chat') }
    try {
      if ((await attention.tell({ level, text, actions: [open] })) === 'open') await editor.showChat()
    } catch (error) {
      this.#logError(error)
    }
  }

  // View state

  #refreshShown(): void {
    const shown = this.#shown
    const todos = shown === null ? undefined : this.#services.projections.snapshot(shown.session.id).values['todos']
    this.#model.set('tasks', tasksView(todos))
    this.#refreshSession()
    this.#refreshQueue()
    this.#refreshWaiting()
    this.#refreshComposer()
  }

  #refreshSession(): void {
    const shown = this.#shown
    const waiting = this.#services.approvals.pending().length + this.#services.questions.pending().length
    const view: SessionView | null =
      shown === null
        ? null
        : {
            id: shown.session.id,
            title: this.#titleOf(shown.session),
            cwd: shown.session.header.cwd ?? '',
            access: shown.agent === null ? 'read-only' : 'write',
            ...(shown.agent === null ? { writer: writerOf(shown.session) } : {}),
            status: this.#stateOf(shown.session.id),
            usage: shown.transcript.usage,
            ...this.#usageOf(shown.session),
          }
    this.#model.set('session', view)
    const model = this.#model.get('composer').model
    const isRunning = this.#services.agents.list().some(({ status }) => status === 'running')
    this.#world.editor.setStatus(
      statusOf(
        {
          state: waiting > 0 ? 'waiting' : isRunning ? 'running' : 'idle',
          waiting,
          model: model?.label ?? null,
          isScripted: model?.isScripted ?? false,
          contextShare: view?.contextShare ?? null,
          details: usageLines(view?.window ?? null, view?.cost ?? null, this.#world.l10n),
          title: view?.title ?? null,
        },
        this.#world.l10n,
      ),
    )
  }

  /** What agents that it started cost in earlier windows is read behind the first look. */
  #countStarted(session: Session): void {
    this.#services.costs
      .treeCost(session.id)
      .then(() => (this.#shown?.session === session ? this.#refreshSession() : undefined))
      .catch((error: unknown) => this.#logError(error))
  }

  #usageOf(session: Session): Pick<SessionView, 'contextShare' | 'window' | 'cost'> {
    const { budgets, costs } = this.#services
    const window = windowView(session.projections().values)
    const own = costs.ownCost(session.id)?.total ?? noCost
    return {
      window,
      contextShare: window === null || window.windowTokens === null || window.windowTokens <= 0 ? null : Math.min(1, window.usedTokens / window.windowTokens),
      cost: costView(costs.knownTreeCost(session.id), own, budgets.uses(session), this.#world.l10n),
    }
  }

  /** The person's own words to go on: a limit that stopped it is raised first. */
  #continue(agent: Agent): void {
    this.#services.budgets.goOn(agent.session)
    agent.continueTurn()
  }

  #stateOf(sessionId: string): 'idle' | 'running' | 'waiting' {
    const waits =
      this.#services.approvals.pending().some(({ agent }) => agent.id === sessionId) ||
      this.#services.questions.pending().some(({ agent }) => agent.id === sessionId)
    if (waits) return 'waiting'
    return this.#services.agents.live(sessionId)?.status ?? 'idle'
  }

  #titleOf(session: Session): string {
    const title = session.projections().values['title']
    return typeof title === 'string' && title !== '' ? title : this.#world.l10n.t('New session')
  }

  #refreshQueue(): void {
    const agent = this.#shown?.agent
    this.#model.set('queue', agent == null ? [] : queueView(agent.inbox))
  }

  #refreshComposer(): void {
    this.#refreshComposerNow().catch((error: unknown) => this.#logError(error))
  }

  async #refreshComposerNow(): Promise<void> {
    const shown = this.#shown
    const standIn = shown === null && this.#next.options === null ? await this.#chooser.defaultModel() : null
    const options = await this.#options()
    const model = await this.#chooser.view(options)
    if (this.#isDisposed || shown !== this.#shown) return
    const blockedBy = this.#blockedBy()
    this.#model.set('composer', {
      draft: this.#drafts.get(shown?.session.id ?? null),
      canSend: blockedBy === null,
      blockedBy,
      preset: this.#preset(),
      presets: this.#services.presets.list().flatMap(({ problem, ...preset }) => (problem === undefined ? [preset] : [])),
      permission: this.#permission(),
      ...(this.#isPlanning() && { isPlanning: true as const }),
      model,
      attachments: this.#attachments.views(),
    })
    this.#refreshSession()
    this.#noticeModel(standIn?.isStandIn === true, model === null)
    this.#noticeFolder()
  }

  #noticeModel(isStandIn: boolean, isMissing: boolean): void {
    const { t } = this.#world.l10n
    if (isStandIn) {
      const found = this.#firstRun.servers()
      const text = t('No model is set up yet. Bosun plays a scripted tour, which is no model: it answers the same to everything.')
      this.#notice('model', 'info', [text, ...found.map(({ text: words }) => words)].join(' '), [...found.map(({ action }) => action), ...this.#modelActions()])
    } else if (isMissing) {
      this.#notice('model', 'warning', t('The model that the settings name is not there. Choose a model.'), this.#modelActions())
    } else {
      this.#notices.close('model')
    }
  }

  #noticeWriter(): void {
    const { t } = this.#world.l10n
    const shown = this.#shown
    if (shown === null || shown.agent !== null) return this.#notices.close('writer')
    const { id } = shown.session
    this.#notice('writer', 'info', t('Another window writes this session ({writer}); here it can only be read.', { writer: writerOf(shown.session) }), [
      { id: 'again', label: t('Try again'), run: () => this.#open(id) },
    ])
  }

  #noticeFolder(): void {
    const { editor, l10n, workspace } = this.#world
    if (this.#shown !== null || workspace.folders().length > 0) return this.#notices.close('folder')
    this.#notice('folder', 'info', l10n.t('Bosun works on the files of a folder, and none is open.'), [
      { id: 'open', label: l10n.t('Open a folder…'), run: () => editor.openFolder() },
    ])
  }

  #settingsChanged(): void {
    const { editor, l10n } = this.#world
    const problems = settingProblems(this.#services)
    if (problems.length === 0) this.#notices.close('settings')
    else {
      this.#notice('settings', 'warning', problems.map(({ message }) => message).join('\n'), [
        { id: 'open', label: l10n.t('Open the settings'), run: () => editor.openSettings(`bosun.${problems[0]?.key ?? ''}`) },
      ])
    }
    this.#refreshComposer()
  }

  #trustChanged(): void {
    this.#model.set('isTrusted', this.#world.workspace.isTrusted())
    this.#refreshComposer()
  }

  #refreshSoon(): void {
    if (this.#isDisposed) return
    this.#listTimer ??= this.#world.clock.schedule(LIST_AFTER_MS, () => {
      this.#listTimer = null
      this.#refreshSessions().catch((error: unknown) => this.#logError(error))
    })
  }

  async #refreshSessions(): Promise<void> {
    const summaries = await this.#services.sessions.list()
    const titles = new Map(summaries.map(({ id, title }) => [id, title]))
    this.#model.set('sessions', summaries.map((summary) => this.#listItem(summary, titles)))
  }

  #listItem({ id, title, updatedAt, problem, isArchived, forkedFrom }: SessionSummary, titles: ReadonlyMap<string, string>): SessionListItem {
    const lineage = forkedFrom === undefined ? null : (titles.get(forkedFrom) ?? this.#world.l10n.t('a deleted session'))
    return { id, title, updatedAt, state: problem === undefined ? this.#stateOf(id) : 'broken', problem: problem ?? null, isArchived, forkedFrom: lineage }
  }

  #findPresenters(sessionId: string): FindPresenters {
    const { tools, agents } = this.#services
    // A tool that the session may not use (any more) still draws what it did.
    return (name) => tools.get(name, agents.live(sessionId)?.scope ?? null) ?? tools.get(name, null)
  }

  #refused(refusal: Exclude<ParsedMessage, { ok: true }>): void {
    const { l10n, logger } = this.#world
    logger.warn('A message of the chat view was refused.', { ...refusal })
    const text =
      refusal.reason === 'too-large'
        ? l10n.t('This is too large to send: {size} MB. Put it into a file and name the file instead.', { size: (refusal.bytes / 1e6).toFixed(1) })
        : l10n.t('The chat view sent something that Bosun does not understand; nothing was done. Reload the view if it happens again.')
    this.#notice('refused', 'warning', text)
  }

  #tellFailure(error: unknown): void {
    this.#logError(error)
    this.#notice('failure', 'error', messageOf(error))
  }

  #notice(id: string, level: 'info' | 'warning' | 'error', text: string, actions: readonly NoticeAction[] = []): void {
    this.#notices.show({ id, level, text, actions })
  }

  #logError(error: unknown): void {
    this.#world.logger.error('The chat met a failure.', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

/** Native lists and notifications draw no code marks. */
const plainText = (text: string) => text.replaceAll('`', '')

const writerOf = ({ writer }: Session) => (writer === undefined ? '' : `${writer.host}, process ${writer.pid}`)

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
