import { noCost } from '../core/cost/cost-projection.ts'
import type { Session } from '../core/session/session.ts'
import type { ChildSessionView, SessionView } from '../protocol/view-state.ts'
import { writerOf, type ChatState, type ShownChild } from './chat-state.ts'
import { queueView } from './docks.ts'
import { isLive } from './job-words.ts'
import { statusOf } from './status.ts'
import { costView, usageLines, windowView } from './usage-view.ts'

/** The head of the session on screen, what waits in its queue, and the status bar. */
export class SessionHead {
  readonly #chat: ChatState

  constructor(chat: ChatState) {
    this.#chat = chat
  }

  refresh(): void {
    const shown = this.#chat.shown
    const waiting = this.#chat.services.approvals.pending().length + this.#chat.services.questions.pending().length
    const view: SessionView | null =
      shown === null
        ? null
        : {
            id: shown.session.id,
            title: shown.child?.label.trim() ? shown.child.label : this.#chat.titleOf(shown.session),
            cwd: shown.session.header.cwd ?? '',
            access: shown.agent === null ? 'read-only' : 'write',
            ...(shown.session.writer === undefined ? {} : { writer: writerOf(shown.session) }),
            status: this.#chat.stateOf(shown.session.id),
            ...(shown.child !== undefined && { child: this.#childView(shown.session.id, shown.child) }),
            usage: shown.transcript.usage,
            ...this.#usageOf(shown.session),
          }
    this.#chat.model.set('session', view)
    const model = this.#chat.model.get('composer').model
    // One that waits for the person does not work.
    const running = this.#chat.services.agents.list().filter(({ id }) => this.#chat.stateOf(id) === 'running').length
    this.#chat.world.editor.setStatus(
      statusOf(
        {
          state: waiting > 0 ? 'waiting' : running > 0 ? 'running' : 'idle',
          waiting,
          running,
          jobs: this.#chat.services.jobs.all().filter(isLive).length,
          model: model?.label ?? null,
          isScripted: model?.isScripted ?? false,
          contextShare: view?.contextShare ?? null,
          details: usageLines(view?.window ?? null, view?.cost ?? null, this.#chat.world.l10n),
          title: view?.title ?? null,
        },
        this.#chat.world.l10n,
      ),
    )
  }

  /** What agents that it started cost in earlier windows is read behind the first look. */
  countStarted(session: Session): void {
    this.#chat.services.costs
      .treeCost(session.id)
      .then(() => (this.#chat.shown?.session === session ? this.refresh() : undefined))
      .catch((error: unknown) => this.#chat.logError(error))
  }

  refreshQueue(): void {
    const agent = this.#chat.worker()
    this.#chat.model.set('queue', agent === null ? [] : queueView(agent.inbox))
  }

  #childView(id: string, { parentId, parentTitle, isKept }: ShownChild): ChildSessionView {
    const blockedBy = this.#chat.blockedBy()
    // One that gives one answer is its caller's until it gave it.
    return { parentId, parentTitle, canWrite: blockedBy === null, blockedBy, canTakeOver: isKept || this.#chat.services.agents.live(id) === undefined }
  }

  #usageOf(session: Session): Pick<SessionView, 'contextShare' | 'window' | 'cost'> {
    const { budgets, costs } = this.#chat.services
    const window = windowView(session.projections().values)
    const own = costs.ownCost(session.id)?.total ?? noCost
    return {
      window,
      contextShare: window === null || window.windowTokens === null || window.windowTokens <= 0 ? null : Math.min(1, window.usedTokens / window.windowTokens),
      cost: costView(costs.knownTreeCost(session.id), own, budgets.uses(session), this.#chat.world.l10n),
    }
  }
}
