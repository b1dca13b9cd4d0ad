import { isErrorOf } from '../base/harness-error.ts'
import { messageOf } from '../base/message-of.ts'
import type { AttentionButton } from '../capabilities/attention.ts'
import type { ScopeKey } from '../core/kernel/plugin.ts'
import type { AgentOptions } from '../core/loop/points.ts'
import { PresetError } from '../core/presets/preset.ts'
import type { Agent } from '../core/session/agent.ts'
import type { Session } from '../core/session/session.ts'
import type { ComposerView } from '../protocol/view-state.ts'
import type { ShownSession } from './artifacts.ts'
import type { ChatCapabilities, ChatServices } from './chat-services.ts'
import { Drafts } from './drafts.ts'
import { Notices, type NoticeAction } from './notices.ts'
import type { FindPresenters } from './present-tool.ts'
import { SessionTranscripts } from './session-transcripts.ts'
import { ViewModel } from './view-model.ts'

interface Parts {
  readonly world: ChatCapabilities
  readonly services: ChatServices
  readonly refresh: Refresh
}

/** Make a part of what the pages see anew. Each is cheap when nothing of it changed. */
export interface Refresh {
  session(): void
  queue(): void
  /** Approvals and questions. */
  waiting(): void
  composer(): void
  /** All that belongs to the session on screen. */
  shown(): void
  list(): Promise<void>
  /** The list, with other changes of the moment. */
  listSoon(): void
}

export interface Shown extends ShownSession {
  /** Null for a session that another window writes. */
  readonly agent: Agent | null
  /** Present for one that another agent started and drives; `agent` is null then. */
  readonly child?: ShownChild
}

/** Whose agent a session on screen is. */
export interface ShownChild {
  readonly parentId: string
  readonly parentTitle: string
  readonly label: string
  readonly isKept: boolean
}

/** Choices for the session that the next message begins. */
export interface NextSession {
  readonly preset: string | null
  readonly permission: ComposerView['permission'] | null
  readonly isPlanning: boolean
  readonly options: AgentOptions | null
  /** It takes the place of one that was cleared. */
  readonly isCleared: boolean
}

export const noChoices: NextSession = { preset: null, permission: null, isPlanning: false, options: null, isCleared: false }

/** What the rooms of the chat share: the world, the services, which session is on screen, and what the pages see. */
export class ChatState {
  readonly world: ChatCapabilities
  readonly services: ChatServices
  readonly refresh: Refresh
  readonly model: ViewModel
  readonly transcripts: SessionTranscripts
  readonly drafts: Drafts
  readonly notices: Notices
  shown: Shown | null = null
  next: NextSession = noChoices
  isDisposed = false

  constructor({ world, services, refresh }: Parts) {
    this.world = world
    this.services = services
    this.refresh = refresh
    const { clock, l10n, memento, workspace } = world
    const onError = (error: unknown) => this.logError(error)
    this.model = new ViewModel(
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
        droppedTasks: [],
        planReview: null,
        reminders: { items: [], problem: null },
        goal: null,
        sessions: [],
        notices: [],
        rules: null,
        commands: [],
        workflows: [],
        agents: [],
        plugins: [],
        review: null,
        isTrusted: workspace.isTrusted(),
      },
      onError,
    )
    this.transcripts = new SessionTranscripts({
      clock,
      l10n,
      isKnownEvent: (type) => services.eventTypes.get(type) !== undefined,
      find: (sessionId) => this.findPresenters(sessionId),
      onRows: (sessionId, changes) => {
        if (sessionId === this.shown?.session.id) this.model.rowsChanged(changes)
      },
    })
    this.drafts = new Drafts({ memento, clock, onError })
    this.notices = new Notices((views) => this.model.set('notices', views))
  }

  // The session on screen, or the one that the next message begins

  cwd(): string | null {
    return this.shown?.session.header.cwd ?? this.world.workspace.folders()[0]?.path ?? null
  }

  preset(): string {
    if (this.shown?.agent != null) return this.services.agents.presetOf(this.shown.session.id)
    if (this.shown !== null) return this.shown.session.header.agentPreset ?? this.services.presets.defaultId()
    return this.next.preset ?? this.services.presets.defaultId()
  }

  /** The layer whose commands stand before the person; null, what all share, while the preset of the next session cannot be used. */
  scope(): ScopeKey | null {
    const open = this.shown?.agent
    if (open != null) return open.scope
    try {
      return this.services.presets.scopeOf(this.preset())
    } catch (error) {
      if (isErrorOf(PresetError, error)) return null
      throw error
    }
  }

  permission(): ComposerView['permission'] {
    if (this.shown !== null) return this.services.permissions.modeOf(this.shown.session.id)
    return this.next.permission ?? this.services.permissions.defaultMode(this.preset())
  }

  isPlanning(): boolean {
    if (this.shown === null) return this.next.isPlanning
    return this.services.plan.pending(this.shown.session) ?? this.services.plan.isActive(this.shown.session)
  }

  /** The agent whose inbox is on screen, the person's own or one that another agent started. */
  worker(): Agent | null {
    const { shown } = this
    if (shown?.child === undefined) return shown?.agent ?? null
    const agent = this.services.agents.live(shown.session.id)
    return agent === undefined || agent.isDisposed || agent.session.access !== 'write' ? null : agent
  }

  /** Words for the person when no message can be sent now. */
  blockedBy(): string | null {
    const { t } = this.world.l10n
    const child = this.shown?.child
    if (child !== undefined) {
      if (!child.isKept) return t('This agent gives one answer and takes no messages.')
      if (this.services.agents.live(child.parentId)?.session.access !== 'write') return t('Open “{title}” first: messages reach this agent while the session that started it is open.', { title: child.parentTitle })
      return null
    }
    const obstacle = this.shown?.session.obstacle
    if (obstacle !== undefined) return t('This session can only be read here. {problem}', { problem: obstacle })
    if (this.shown !== null && this.shown.agent === null) return t('Another window writes this session. Go on there, or close it and open the session here again.')
    if (this.shown === null && this.world.workspace.folders().length === 0) return t('Open a folder first: Bosun works on files.')
    return null
  }

  titleOf(session: Session): string {
    const title = session.projections().values['title']
    return typeof title === 'string' && title !== '' ? title : this.world.l10n.t('New session')
  }

  stateOf(sessionId: string): 'idle' | 'running' | 'waiting' {
    const waits =
      this.services.approvals.pending().some(({ agent }) => agent.id === sessionId) ||
      this.services.questions.pending().some(({ agent }) => agent.id === sessionId)
    if (waits) return 'waiting'
    return this.services.agents.live(sessionId)?.status ?? 'idle'
  }

  findPresenters(sessionId: string): FindPresenters {
    const { tools, agents } = this.services
    // A tool that the session may not use (any more) still draws what it did.
    return (name) => tools.get(name, agents.live(sessionId)?.scope ?? null) ?? tools.get(name, null)
  }

  // The draft

  keepDraft(text: string): void {
    this.drafts.set(this.shown?.session.id ?? null, text)
    // The page that typed knows already; others get it with their next snapshot.
    this.model.keep('composer', { ...this.model.get('composer'), draft: text })
  }

  /** Before what is typed there already. */
  putDraft(sessionId: string | null, text: string): void {
    const typed = this.drafts.get(sessionId)
    const draft = typed.trim() === '' ? text : `${text}\n\n${typed}`
    this.drafts.set(sessionId, draft)
    if ((this.shown?.session.id ?? null) === sessionId) this.model.set('composer', { ...this.model.get('composer'), draft })
  }

  /** At once: a page takes the draft over when it hears of the session, which any news of it may tell. */
  showDraft(): void {
    this.model.set('composer', { ...this.model.get('composer'), draft: this.drafts.get(this.shown?.session.id ?? null) })
  }

  // Words for the person

  /** A line over the composer; the next one with this `id` takes its place. */
  notice(id: string, level: 'info' | 'warning' | 'error', text: string, actions: readonly NoticeAction[] = []): void {
    this.notices.show({ id, level, text, actions })
  }

  /** A notification of the editor, for when the chat may be hidden. */
  async tell(level: 'info' | 'warning' | 'error', text: string): Promise<void> {
    const { attention, editor, l10n } = this.world
    const open: AttentionButton = { id: 'open', label: l10n.t('Open the chat') }
    try {
      if ((await attention.tell({ level, text, actions: [open] })) === 'open') await editor.showChat()
    } catch (error) {
      this.logError(error)
    }
  }

  tellFailure(error: unknown): void {
    this.logError(error)
    this.notice('failure', 'error', messageOf(error))
  }

  logError(error: unknown): void {
    this.world.logger.error('The chat met a failure.', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

/** Native lists and notifications draw no code marks. */
export const plainText = (text: string): string => text.replaceAll('`', '')

/** The window that writes a session which is only read here. */
export const writerOf = ({ writer }: Session): string => (writer === undefined ? '' : `${writer.host}, process ${writer.pid}`)
