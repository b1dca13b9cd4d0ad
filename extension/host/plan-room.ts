import { firstHeading } from '../base/first-heading.ts'
import { clipped } from '../base/text.ts'
import type { ShownComment } from '../capabilities/plan-surface.ts'
import type { Session } from '../core/session/session.ts'
import { settings as specs } from '../core/settings/specs.ts'
import type { PendingQuestions, Question } from '../features/questions/service.ts'
import type { PlanAction } from '../protocol/messages.ts'
import type { PlanReviewView } from '../protocol/view-state.ts'
import type { ChatState } from './chat-state.ts'
import { keptNameFrom, keptNames } from './kept-names.ts'
import { WaitingDrafts } from './waiting-drafts.ts'

/** Characters of a plan that the dock draws; the document has it whole. */
const MAX_SHOWN_CHARS = 8_000

/** A plan that waits for the person. */
interface Review {
  readonly set: PendingQuestions & { readonly callId: string }
  readonly question: Question & Required<Pick<Question, 'detail' | 'intent'>>
  /** Of its document. */
  readonly name: string
}

/** One question with a plan is a review; it has a document and a dock of its own. */
export const isPlanReview = ({ callId, questions }: PendingQuestions): boolean => callId !== undefined && questions.length === 1 && questions[0]?.intent?.kind === 'plan-review' && questions[0].detail !== undefined

/** Plans under review: their documents, the dock, the notification, and the sign of plan mode. */
export class PlanRoom {
  readonly #chat: ChatState
  readonly #asked = new Map<string, AbortController>()
  readonly #opened = new Map<string, string>()

  constructor(chat: ChatState) {
    this.#chat = chat
  }

  dispose(): void {
    for (const controller of this.#asked.values()) controller.abort()
    this.#asked.clear()
    this.#chat.world.planSurface.setWaiting([])
    this.#chat.world.planSurface.showMode(null)
  }

  /** Also from the composer: what is chosen for the session on screen. */
  refreshMode(): void {
    const { l10n, planSurface } = this.#chat.world
    const { shown, services } = this.#chat
    const isHeld = shown === null ? this.#chat.next.isPlanning : services.plan.isHeld(shown.session) || services.plan.pending(shown.session) !== null
    const pending = shown === null ? null : services.plan.pending(shown.session)
    const tooltip = pending === false ? l10n.t('Plan mode ends with the next step.') : l10n.t('Plan mode is on: Bosun reads and plans, and changes nothing. Click to turn it off.')
    planSurface.showMode(isHeld ? { text: `$(checklist) ${l10n.t('Plan')}`, tooltip } : null)
  }

  refresh(): void {
    const { planSurface } = this.#chat.world
    const reviews = this.#reviews()
    const [first] = reviews
    this.#chat.model.set('planReview', first === undefined ? null : this.#view(first))
    planSurface.setWaiting(reviews.map(({ name }) => name))
    for (const [id, name] of this.#opened) {
      if (reviews.some(({ set }) => set.id === id)) continue
      this.#opened.delete(id)
      planSurface.close(name).catch((error: unknown) => this.#chat.logError(error))
    }
    for (const review of reviews) {
      if (this.#opened.has(review.set.id)) continue
      this.#opened.set(review.set.id, review.name)
      this.#open(review, true).catch((error: unknown) => this.#chat.logError(error))
    }
    this.#notify(reviews)
    this.refreshMode()
  }

  async act(id: string, action: PlanAction): Promise<void> {
    const review = this.#reviews().find(({ set }) => set.id === id)
    if (review === undefined) return this.#tellDecided()
    switch (action.do) {
      case 'open':
        return await this.#open(review, false)
      case 'approve':
        return await this.#approve(review)
      case 'refuse':
        return await this.#refuse(review, action.feedback)
      default:
        return await this.#discuss(review)
    }
  }

  /** From the title of its editor, or the palette: the one that is looked at, else the oldest that waits. */
  async run(action: 'open' | 'approve' | 'refuse' | 'discuss', path: string | undefined): Promise<void> {
    const reviews = this.#reviews()
    const review = reviews.find(({ name }) => path !== undefined && decodeURIComponent(path).endsWith(`/${name}`)) ?? reviews[0]
    const { l10n } = this.#chat.world
    if (review === undefined) return this.#chat.notice('plan', 'info', l10n.t('No plan waits for you.'))
    if (action !== 'refuse') return await this.act(review.set.id, { do: action })
    const feedback = await this.#askFeedback()
    if (feedback !== null) await this.act(review.set.id, { do: 'refuse', feedback })
  }

  // Its document

  /** Errors: `Error` in words for the person. */
  read(name: string): { readonly text: string; readonly isOpen: boolean } {
    const document = this.#document(name)
    const { session, callId, proposed } = document
    return { text: this.#chat.services.planReviews.draft(session, callId, proposed).plan, isOpen: this.#reviewOf(document) !== undefined }
  }

  /** Errors: `Error` in words for the person. */
  write(name: string, text: string): void {
    const { l10n } = this.#chat.world
    const document = this.#document(name)
    const { session, callId, proposed } = document
    if (this.#reviewOf(document) === undefined) throw new Error(l10n.t('This plan is decided on, so its document stays as it is.'))
    const { planReviews } = this.#chat.services
    planReviews.edit(session, callId, proposed, { plan: text, comments: planReviews.draft(session, callId, proposed).comments })
    this.refresh()
  }

  commented(name: string, comments: readonly ShownComment[]): void {
    const document = this.#document(name)
    const { session, callId, proposed } = document
    if (this.#reviewOf(document) === undefined) return
    const { planReviews } = this.#chat.services
    planReviews.edit(session, callId, proposed, { plan: planReviews.draft(session, callId, proposed).plan, comments })
    this.refresh()
  }

  #document(name: string): { readonly session: Session; readonly callId: string; readonly proposed: string } {
    const [sessionId = '', callId = ''] = keptNameFrom(name).parts
    const { services, shown, world } = this.#chat
    const session = shown?.session.id === sessionId ? shown.session : services.sessions.live(sessionId)
    if (session === undefined) throw new Error(world.l10n.t('Open the session that this plan belongs to, then open the plan again.'))
    const proposed = this.#reviewOf({ session, callId })?.question.detail ?? proposedIn(session, callId)
    if (proposed === null) throw new Error(world.l10n.t('This plan is not in its session any more.'))
    return { session, callId, proposed }
  }

  // Decisions

  async #approve({ set, question, name }: Review): Promise<void> {
    const { planReviews, questions } = this.#chat.services
    await this.#chat.world.planSurface.settle(name)
    // Somebody else may have decided while it was saved; what a late yes brings about must not come over their no.
    if (!questions.pending().some(({ id }) => id === set.id)) return this.#tellDecided()
    // The call does not wait any more: the window was closed over it, so what its answer decides is done here.
    if (hasResult(set.agent.session, set.callId)) planReviews.approveLate(set.agent, set.callId, question.detail)
    this.#tell(questions.answer(set.id, [{ id: question.id, selected: [question.intent.approve] }]))
  }

  async #refuse({ set, question, name }: Review, words: string): Promise<void> {
    const { planReviews, questions } = this.#chat.services
    await this.#chat.world.planSurface.settle(name)
    const custom = planReviews.feedback(set.agent.session, set.callId, question.detail, words)
    const no = question.options?.find(({ label }) => label !== question.intent.approve)?.label
    this.#tell(questions.answer(set.id, [custom.trim() === '' ? { id: question.id, selected: no === undefined ? [] : [no] } : { id: question.id, selected: [], custom }]))
  }

  async #discuss({ set, name }: Review): Promise<void> {
    await this.#chat.world.planSurface.settle(name)
    this.#tell(this.#chat.services.questions.answer(set.id, null))
    await this.#chat.world.editor.showChat()
  }

  #tellDecided(): void {
    this.#chat.notice('plan', 'info', this.#chat.world.l10n.t('This plan waits for no decision any more.'))
  }

  #tell(outcome: { readonly ok: true } | { readonly ok: false; readonly problem: string }): void {
    if (!outcome.ok) this.#chat.notice('plan', 'warning', outcome.problem)
  }

  async #askFeedback(): Promise<string | null> {
    const { editor, l10n } = this.#chat.world
    return await editor.input({ title: l10n.t('Refuse the Plan'), prompt: l10n.t('What should be different? Your comments and edits in the document go along.') })
  }

  // What is shown

  #reviews(): readonly Review[] {
    return this.#chat.services.questions.pending().flatMap((set) => {
      const [question] = set.questions
      if (!isPlanReview(set) || set.callId === undefined || question?.detail === undefined || question.intent === undefined) return []
      const { callId } = set
      return [{ set: { ...set, callId }, question: { ...question, detail: question.detail, intent: question.intent }, name: keptNames.plan(set.agent.session.id, callId, titleOf(question.detail)) }]
    })
  }

  /** Models name their calls as they like, so two sessions may hold one of the same name. */
  #reviewOf({ session, callId }: { readonly session: Session; readonly callId: string }): Review | undefined {
    return this.#reviews().find(({ set }) => set.callId === callId && set.agent.session.id === session.id)
  }

  #view({ set, question }: Review): PlanReviewView {
    const { agent, callId, id } = set
    const draft = this.#chat.services.planReviews.draft(agent.session, callId, question.detail)
    const begun = new WaitingDrafts(this.#chat.drafts).get(id)
    return {
      id,
      callId,
      title: titleOf(draft.plan),
      text: draft.plan.length <= MAX_SHOWN_CHARS ? draft.plan : `${draft.plan.slice(0, MAX_SHOWN_CHARS)}…`,
      isEdited: draft.plan.trim() !== question.detail.trim(),
      comments: draft.comments.length,
      ...(agent.id === this.#chat.shown?.session.id ? { who: null } : { who: this.#chat.titleOf(agent.session), sessionId: agent.id }),
      ...(begun !== undefined && { draft: begun }),
    }
  }

  async #open({ set, question, name }: Review, isQuiet: boolean): Promise<void> {
    const { comments } = this.#chat.services.planReviews.draft(set.agent.session, set.callId, question.detail)
    await this.#chat.world.planSurface.open({ name, comments, isQuiet })
  }

  /** Beside the chat, as an approval is: whoever decides first wins, and closing it decides nothing. */
  #notify(reviews: readonly Review[]): void {
    for (const [id, controller] of this.#asked) {
      if (reviews.some(({ set }) => set.id === id)) continue
      this.#asked.delete(id)
      controller.abort()
    }
    if (!this.#chat.services.settings.get(specs.notificationsWhenHidden).includes('planReviews')) return
    for (const review of reviews) {
      if (this.#asked.has(review.set.id)) continue
      const controller = new AbortController()
      this.#asked.set(review.set.id, controller)
      this.#ask(review, controller.signal).catch((error: unknown) => this.#chat.tellFailure(error))
    }
  }

  async #ask({ set, question }: Review, signal: AbortSignal): Promise<void> {
    const { attention, l10n } = this.#chat.world
    const buttons = [
      { id: 'approve', label: l10n.t('Approve') },
      { id: 'refuse', label: l10n.t('Refuse with Feedback…') },
      { id: 'discuss', label: l10n.t('Discuss') },
    ]
    while (!signal.aborted) {
      const choice = await attention.ask({ text: l10n.t('Bosun has a plan: {title}', { title: titleOf(question.detail) }), buttons, signal })
      if (choice === null) return
      if (choice !== 'refuse') return await this.act(set.id, { do: choice === 'approve' ? 'approve' : 'discuss' })
      const feedback = await this.#askFeedback()
      // Backing out is no answer: it is asked again.
      if (feedback !== null) return await this.act(set.id, { do: 'refuse', feedback })
    }
  }
}

/** It names a document too, so nothing in it is invisible. */
function titleOf(plan: string): string {
  const words = firstHeading(plan)?.replaceAll(/\p{C}+/gu, ' ').trim() ?? ''
  return words === '' ? 'Plan' : clipped(words, 80)
}

const hasResult = (session: Session, callId: string): boolean => session.milestones().some(({ type, data }) => type === 'tool/result' && data.message.content[0].callId === callId)

/** As the model submitted it. */
function proposedIn(session: Session, callId: string): string | null {
  const asked = session.milestones().findLast(({ type, data }) => type === 'question/asked' && data.callId === callId)
  return asked?.type === 'question/asked' ? (asked.data.questions[0]?.detail ?? null) : null
}
