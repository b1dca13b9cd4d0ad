import { Artifacts } from './artifacts.ts'
import { ChatConfiguration } from './chat-configuration.ts'
import type { ChatCapabilities, ChatServices } from './chat-services.ts'
import { ChatState } from './chat-state.ts'
import { commandCompletions } from './command-completions.ts'
import { Completions } from './completions.ts'
import { ComposerAttachments } from './composer-attachments.ts'
import { ComposerState } from './composer-state.ts'
import { tasksView } from './docks.ts'
import { DraftAttachments } from './draft-attachments.ts'
import { JobRoom } from './job-room.ts'
import { KeptPages } from './kept-pages.ts'
import { ModeChoices } from './mode-choices.ts'
import { ModelSettings } from './model-settings.ts'
import { PageWords } from './page-words.ts'
import { Review } from './review.ts'
import { referenceCompletions } from './reference-completions.ts'
import { Sending } from './sending.ts'
import { SessionActions } from './session-actions.ts'
import { SessionHead } from './session-head.ts'
import { SessionList } from './session-list.ts'
import { SessionOpening } from './session-opening.ts'
import { TurnEnds } from './turn-ends.ts'
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
  readonly sending: Sending
  readonly actions: SessionActions
  readonly jobs: JobRoom

  constructor(world: ChatCapabilities, services: ChatServices) {
    const { blobs, clock, editor, l10n, machine, memento } = world
    const chat = new ChatState({
      world,
      services,
      refresh: {
        session: () => this.head.refresh(),
        queue: () => this.head.refreshQueue(),
        waiting: () => this.waiting.refresh(),
        composer: () => this.composer.refresh(),
        shown: () => this.#refreshShown(),
        list: () => this.list.refresh(),
        listSoon: () => this.list.refreshSoon(),
      },
    })
    const onError = (error: unknown) => chat.logError(error)
    this.chat = chat
    this.artifacts = new Artifacts({ editor, blobs, l10n })
    this.review = new Review(chat, this.artifacts)
    this.waiting = new WaitingRequests(chat)
    this.turnEnds = new TurnEnds(chat)
    this.configuration = new ChatConfiguration(chat)
    this.pages = new KeptPages({ chat, artifacts: this.artifacts, configuration: this.configuration })
    this.head = new SessionHead(chat)
    this.models = new ModelSettings(chat)
    this.modes = new ModeChoices(chat)
    const drafts = new DraftAttachments({ blobs, machine, memento, onError })
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
    this.completions.provide('/', commandCompletions({ commands: services.commands, scopeOf: (agent) => agent?.scope ?? services.presets.scopeOf(chat.preset()) }))
    this.completions.provide('@', referenceCompletions({ references: services.references, l10n, clock }))
    this.opening = new SessionOpening({ chat, head: this.head, models: this.models })
    this.list = new SessionList(chat, this.opening)
    this.sending = new Sending({ chat, models: this.models, opening: this.opening, attachments: this.attachments })
    this.jobs = new JobRoom(chat)
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

  /** Nothing begins any more; what waits for a time or for the person is let go. */
  end(): void {
    this.chat.isDisposed = true
    this.sending.dispose()
    this.list.dispose()
    this.waiting.dispose()
    this.review.dispose()
  }

  #refreshShown(): void {
    const { model, services, shown } = this.chat
    const todos = shown === null ? undefined : services.projections.snapshot(shown.session.id).values['todos']
    model.set('tasks', tasksView(todos))
    this.head.refresh()
    this.head.refreshQueue()
    this.waiting.refresh()
    this.jobs.refresh()
    this.review.refresh()
    this.composer.refresh()
  }
}
