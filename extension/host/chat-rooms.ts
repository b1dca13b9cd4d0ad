import { assertNever } from '../base/assert-never.ts'
import type { PageKey } from '../protocol/editor-page.ts'
import type { PageSource } from './page-feed.ts'
import { Artifacts } from './artifacts.ts'
import { ChatConfiguration } from './chat-configuration.ts'
import { AgentRoom } from './agent-room.ts'
import type { ChatCapabilities, ChatServices } from './chat-services.ts'
import { ChatState } from './chat-state.ts'
import { ChildWorkRoom } from './child-work.ts'
import { commandCompletions } from './command-completions.ts'
import { Completions } from './completions.ts'
import { ComposerAttachments } from './composer-attachments.ts'
import { ComposerState } from './composer-state.ts'
import { DraftAttachments } from './draft-attachments.ts'
import { GoalRoom } from './goal-room.ts'
import { JobRoom } from './job-room.ts'
import { KeptPages } from './kept-pages.ts'
import { McpRoom } from './mcp-room.ts'
import { ModeChoices } from './mode-choices.ts'
import { ModelSettings } from './model-settings.ts'
import { PlanRoom } from './plan-room.ts'
import { PluginRoom } from './plugin-room.ts'
import { PageWords } from './page-words.ts'
import { Review } from './review.ts'
import { referenceCompletions } from './reference-completions.ts'
import { Sending } from './sending.ts'
import { RemindersRoom } from './reminders-room.ts'
import { SessionActions } from './session-actions.ts'
import { SessionHead } from './session-head.ts'
import { SessionList } from './session-list.ts'
import { SessionOpening } from './session-opening.ts'
import { SessionSearchRoom } from './session-search.ts'
import { TaskRoom } from './task-room.ts'
import { TurnEnds } from './turn-ends.ts'
import { TeamRoom } from './team-room.ts'
import { WorkflowRoom } from './workflow-room.ts'
import { WaitingRequests } from './waiting-requests.ts'

/** Everything behind the chat, one room for each thing that changes by itself. */
export class ChatRooms {
  readonly chat: ChatState
  readonly words = new PageWords()
  readonly artifacts: Artifacts
  readonly review: Review
  readonly waiting: WaitingRequests
  readonly turnEnds: TurnEnds
  readonly configuration: ChatConfiguration
  readonly pages: KeptPages
  readonly head: SessionHead
  readonly models: ModelSettings
  readonly modes: ModeChoices
  readonly attachments: ComposerAttachments
  readonly composer: ComposerState
  readonly completions: Completions
  readonly opening: SessionOpening
  readonly list: SessionList
  readonly search: SessionSearchRoom
  readonly sending: Sending
  readonly actions: SessionActions
  readonly agents: AgentRoom
  readonly jobs: JobRoom
  readonly mcp: McpRoom
  readonly workflows: WorkflowRoom
  readonly teams: TeamRoom
  readonly tasks: TaskRoom
  readonly plans: PlanRoom
  readonly plugins: PluginRoom
  readonly reminders: RemindersRoom
  readonly childWork: ChildWorkRoom
  readonly goal: GoalRoom

  constructor(world: ChatCapabilities, services: ChatServices) {
    const { blobs, clock, editor, l10n, machine, memento } = world
    const chat = new ChatState({
      world,
      services,
      refresh: {
        session: () => this.head.refresh(),
        queue: () => this.head.refreshQueue(),
        waiting: () => this.waiting.refresh(),
        composer: () => {
          this.composer.refresh()
          this.plans.refreshMode()
        },
        shown: () => this.#refreshShown(),
        list: () => this.list.refresh(),
        listSoon: () => this.list.refreshSoon(),
      },
    })
    const onError = (error: unknown) => chat.logError(error)
    this.chat = chat
    this.artifacts = new Artifacts({ editor, blobs, l10n })
    this.review = new Review(chat, this.artifacts)
    this.plans = new PlanRoom(chat)
    this.plugins = new PluginRoom(chat)
    this.childWork = new ChildWorkRoom(chat)
    this.waiting = new WaitingRequests(chat, { plans: this.plans, open: (sessionId) => this.opening.open(sessionId) })
    this.turnEnds = new TurnEnds(chat)
    this.configuration = new ChatConfiguration(chat)
    this.tasks = new TaskRoom(chat)
    this.head = new SessionHead(chat)
    this.models = new ModelSettings(chat)
    this.modes = new ModeChoices(chat)
    const drafts = new DraftAttachments({ blobs, machine, memento, l10n, onError })
    this.attachments = new ComposerAttachments({
      drafts,
      references: services.references,
      l10n,
      place: () => ({ sessionId: chat.shown?.session.id ?? null, cwd: chat.cwd() }),
      imagesRefused: () => this.models.imagesRefused(),
      onChange: (attachments) => {
        chat.notices.close('attach')
        chat.model.set('composer', { ...chat.model.get('composer'), attachments })
      },
      say: (problem) => chat.notice('attach', 'warning', problem),
    })
    this.composer = new ComposerState({ chat, models: this.models, attachments: this.attachments })
    this.completions = new Completions(onError)
    this.completions.provide('/', commandCompletions({ commands: services.commands, scopeOf: (agent) => agent?.scope ?? chat.scope() }))
    this.completions.provide('@', referenceCompletions({ references: services.references, l10n, clock }))
    this.opening = new SessionOpening({ chat, head: this.head, models: this.models, onOpened: (session) => void this.goal.opened(session).catch(onError) })
    this.list = new SessionList(chat, this.opening)
    this.search = new SessionSearchRoom({ chat, opening: this.opening, words: this.words, artifacts: this.artifacts })
    this.pages = new KeptPages({ workflows: { resultText: (...asked) => this.workflows.resultText(...asked) }, chat, search: this.search, artifacts: this.artifacts, tasks: this.tasks, configuration: this.configuration })
    this.agents = new AgentRoom({ chat, opening: this.opening, childWork: this.childWork })
    this.sending = new Sending({ chat, models: this.models, opening: this.opening, attachments: this.attachments, agents: this.agents })
    this.jobs = new JobRoom(chat)
    this.mcp = new McpRoom(chat)
    this.reminders = new RemindersRoom(chat, this.opening)
    this.goal = new GoalRoom({ chat, words: this.words, sending: this.sending })
    this.workflows = new WorkflowRoom(chat, (sessionId) => this.opening.open(sessionId))
    this.teams = new TeamRoom(chat, (sessionId) => this.opening.open(sessionId))
    this.actions = new SessionActions({
      capabilities: world,
      services,
      chat: {
        shown: () => chat.shown?.session ?? null,
        titleOf: (session) => chat.titleOf(session),
        open: (sessionId) => this.opening.open(sessionId),
        startAnew: ({ carriesOn }) => this.opening.startAnew(carriesOn),
        putDraft: (sessionId, text) => chat.putDraft(sessionId, text),
        putImage: (sessionId, image) => drafts.addImage(sessionId, image),
        notice: (...notice) => chat.notice(...notice),
        refreshList: () => this.list.refresh(),
      },
    })
  }

  /** What stands behind a page of the editor area. */
  pageSource(key: PageKey): PageSource {
    switch (key.kind) {
      case 'workflow':
        return this.workflows.source(key)
      case 'team':
        return this.teams.source(key)
      default:
        return assertNever(key.kind, 'kind of page')
    }
  }

  /** Nothing begins any more; what waits for a time or for the person is let go. */
  end(): void {
    this.chat.isDisposed = true
    this.sending.dispose()
    this.workflows.dispose()
    this.teams.dispose()
    this.list.dispose()
    this.opening.dispose()
    this.waiting.dispose()
    this.plans.dispose()
    this.review.dispose()
  }

  #refreshShown(): void {
    this.tasks.refresh()
    this.childWork.refresh()
    this.head.refresh()
    this.head.refreshQueue()
    this.waiting.refresh()
    this.jobs.refresh()
    this.agents.refresh()
    this.reminders.refresh()
    this.goal.refresh()
    this.workflows.refresh()
    this.plugins.refresh()
    this.review.refresh()
    this.composer.refresh()
  }
}
