import { withoutMarks } from '../base/marked-code.ts'
import type { ApprovalRequest } from '../core/policy/approval.ts'
import { settings as specs } from '../core/settings/specs.ts'
import type { UserMessage } from '../core/log/message.ts'
import type { Agent } from '../core/session/agent.ts'
import type { Answer, PendingQuestions } from '../features/questions/service.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { ViewMessage } from '../protocol/messages.ts'
import type { ApprovalView, WaitingDraft } from '../protocol/view-state.ts'
import { editableText, editedArguments, scriptOf } from './approval-edits.ts'
import { ApprovalPrompts, alwaysAnswer } from './approval-prompts.ts'
import { separateContext } from '../features/references/separate-context.ts'
import { pickAnswers } from './question-picks.ts'
import { sidesOf } from './request-sides.ts'
import { QuestionPrompts } from './question-prompts.ts'
import { WaitingDrafts } from './waiting-drafts.ts'
import { plainText, type ChatState } from './chat-state.ts'
import { approvalView, questionSetView } from './docks.ts'
import { isPlanReview, type PlanRoom } from './plan-room.ts'

/** What an answer names is looked up within this time, or it waits on. */
const REFERENCE_TIMEOUT_MS = 15_000

interface Parts {
  readonly plans: Pick<PlanRoom, 'refresh' | 'act'>
  /** Show a session in the chat. */
  readonly open: (sessionId: string) => Promise<void>
}

/** All that waits for the person, of every session: in the chat, in notifications, in native lists, in the badge. Whoever answers first wins. */
export class WaitingRequests {
  readonly #chat: ChatState
  readonly #prompts: ApprovalPrompts
  readonly #questionPrompts: QuestionPrompts
  readonly #drafts: WaitingDrafts
  readonly #parts: Parts
  /** What waited at the last look, by id, with whether its agent is still there. */
  #known = new Map<string, Agent>()

  constructor(chat: ChatState, parts: Parts) {
    this.#chat = chat
    this.#parts = parts
    this.#drafts = new WaitingDrafts(chat.drafts)
    const { attention, editor, l10n } = chat.world
    this.#prompts = new ApprovalPrompts({
      approvals: chat.services.approvals,
      attention,
      editor,
      l10n,
      describe: (request) => {
        const { effect, who, canPreview = false, ...view } = this.#approvalView(request)
        const why = whyOf(view)
        return { effect: withoutMarks(effect), why: plainText(who === null ? why : `${l10n.t('For {who}.', { who })} ${why}`), canPreview, isCode: this.#isCode(request) }
      },
      preview: (id) => this.preview(id),
      onError: (error) => chat.logError(error),
    })
    this.#questionPrompts = new QuestionPrompts({
      attention,
      l10n,
      answer: (set, answers) => this.#settleQuestions(set.id, answers),
      open: (set) => this.#lead(set),
      onError: (error) => chat.logError(error),
    })
  }

  dispose(): void {
    this.#prompts.dispose()
    this.#questionPrompts.dispose()
  }

  refresh(): void {
    const approvals = this.#chat.services.approvals.pending()
    const questions = this.#chat.services.questions.pending()
    this.#chat.model.set('approvals', approvals.map((request) => this.#approvalView(request)))
    this.#chat.model.set('questions', questions.filter((set) => !isPlanReview(set)).map((set) => this.#questionView(set)))
    this.#parts.plans.refresh()
    const notified = this.#chat.services.settings.get(specs.notificationsWhenHidden)
    this.#prompts.update(notified.includes('approvals'))
    const isHidden = !this.#chat.world.editor.isChatVisible()
    this.#questionPrompts.update(questions.filter((set) => !isPlanReview(set)), () => isHidden && notified.includes('questions'))
    this.#letGo([...approvals, ...questions])
    for (const { agent, callId } of questions) if (callId !== undefined) this.#chat.transcripts.setWaiting(agent.id, callId, true)
    const waiting = approvals.length + questions.length
    this.#chat.world.editor.setBadge(waiting === 0 ? null : { count: waiting, tooltip: this.#chat.world.l10n.t('{count} waiting for you', { count: waiting }) })
    this.#chat.refresh.session()
    this.#chat.refresh.listSoon()
  }

  answerApproval(message: Extract<ViewMessage, { type: 'approval' }>): void {
    const { approvals } = this.#chat.services
    if (message.answer === 'deny') {
      approvals.answer(message.id, { outcome: 'rejected', ...(message.note === undefined ? {} : { note: message.note }) })
      return
    }
    const request = approvals.pending().find(({ id }) => id === message.id)
    const edited = request === undefined || message.edited === undefined ? null : editedArguments(this.#chat.services.permissions, request, message.edited)
    // What the person wrote is never dropped for what the model wrote, nor put under a rule that was offered for that.
    if (message.edited !== undefined && (edited === null || message.always !== undefined)) return
    const answer = message.always === undefined ? ({ outcome: 'allowed-once', ...(edited !== null && { arguments: edited }) } as const) : alwaysAnswer(request?.details?.always ?? [], message.always)
    if (answer !== null) approvals.answer(message.id, answer)
  }

  /** Show in the editor what the call would change: of one file, or of all in one multi-file diff. It closes again with the answer. */
  async preview(id: string, path?: string): Promise<void> {
    const pending = () => this.#chat.services.approvals.pending().find((one) => one.id === id)
    const request = pending()
    if (request === undefined) return
    await this.#show(request, path)
    // Answered while it opened.
    if (pending() === undefined) await this.#closeTexts(id)
  }

  async #show(request: ApprovalRequest, path: string | undefined): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const sides = sidesOf(request.id)
    const script = scriptOf(this.#chat.services.permissions, request)
    if (script !== null) return await editor.openText({ name: 'workflow.js', text: script, side: sides.proposed, language: 'javascript' })
    const changes = (request.details?.changes ?? []).filter((change) => path === undefined || change.path === path)
    const title = l10n.t('{effect} (proposed)', { effect: withoutMarks(request.details?.effect ?? '') })
    const files = changes.map((change) => ({
      path: change.target,
      before: { name: change.path, text: change.before, side: sides.before },
      after: { name: change.path, text: change.after, side: sides.proposed },
    }))
    const [only] = files
    if (only !== undefined && files.length === 1) await editor.openDiff({ title, ...only })
    else if (files.length > 0) await editor.openDiffs({ title, files })
  }

  /** What is being filled in, so that it is there again after a reload; a time-out answers nothing that a person has begun. */
  keepDraft(id: string, draft: WaitingDraft): void {
    this.#drafts.set(id, draft)
    this.#chat.services.questions.touch(id)
    this.#chat.model.keep('questions', this.#chat.services.questions.pending().filter((one) => !isPlanReview(one)).map((set) => this.#questionView(set)))
    this.#chat.model.keep('approvals', this.#chat.services.approvals.pending().map((request) => this.#approvalView(request)))
  }

  /** The palette's way to all that waits, by keyboard alone. */
  async pick(): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    const approvals = this.#chat.services.approvals.pending()
    const questions = this.#chat.services.questions.pending()
    const items = [
      ...approvals.map((request) => {
        const { effect, who, ...view } = this.#approvalView(request)
        return { id: request.id, label: withoutMarks(effect), ...(who !== null && { description: who }), detail: plainText(whyOf(view)) }
      }),
      ...questions.map((set) => {
        const { who } = this.#questionView(set)
        return { id: set.id, label: questionLine(set, t), ...(who !== undefined && { description: who }) }
      }),
    ]
    if (items.length === 0) return this.#chat.notice('waiting', 'info', t('Nothing waits for you.'))
    const picked = items.length === 1 ? items[0]?.id : await editor.pick({ title: t('Waiting for you'), items })
    const set = questions.find(({ id }) => id === picked)
    if (set !== undefined) return await this.#pickAnswers(set)
    const request = approvals.find(({ id }) => id === picked)
    if (request !== undefined) await this.#pickApproval(request)
  }

  /** Errors go to the person; what was not taken waits on. */
  async answerQuestions(id: string, answers: readonly Answer[] | null): Promise<void> {
    const set = this.#chat.services.questions.pending().find((one) => one.id === id)
    const contexts = set === undefined || answers === null ? [] : await this.#contextsOf(set, answers)
    this.#settleQuestions(id, answers, contexts)
  }

  /** What the words of the answers name with an `@`, looked up now. Errors: `UnresolvedReference`; nothing was answered then. */
  async #contextsOf({ agent }: PendingQuestions, answers: readonly Answer[]): Promise<readonly UserMessage[]> {
    const { machine } = this.#chat.world
    const newId = () => machine.randomId()
    const place = { cwd: agent.session.header.cwd ?? '', sessionId: agent.id, signal: AbortSignal.timeout(REFERENCE_TIMEOUT_MS) }
    const contexts: UserMessage[] = []
    for (const { custom } of answers) {
      if (custom === undefined || !custom.includes('@')) continue
      const content = await this.#chat.services.references.content(custom, place)
      contexts.push(...separateContext({ id: newId(), role: 'user', content, source: { kind: 'user' } }, newId).filter(({ source }) => source.kind !== 'user'))
    }
    return contexts
  }

  async #pickAnswers(set: PendingQuestions): Promise<void> {
    if (isPlanReview(set)) return await this.#pickVerdict(set)
    this.#chat.services.questions.touch(set.id)
    const outcome = await pickAnswers(this.#chat.world, set, this.#drafts.get(set.id))
    if ('answers' in outcome) return await this.answerQuestions(set.id, outcome.answers)
    this.#drafts.set(set.id, outcome.draft)
    this.refresh()
  }

  /** Over the plan's own document, as in its dock. */
  async #pickVerdict({ id, questions: [question] }: PendingQuestions): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { plans } = this.#parts
    await plans.act(id, { do: 'open' })
    const verdict = await editor.pick({
      title: plainText(question?.question ?? ''),
      stays: true,
      items: [{ id: 'refuse', label: l10n.t('Refuse with Feedback…') }, { id: 'discuss', label: l10n.t('Discuss') }, { id: 'approve', label: l10n.t('Approve') }],
    })
    if (verdict === null) return
    if (verdict !== 'refuse') return await plans.act(id, { do: verdict === 'approve' ? 'approve' : 'discuss' })
    const feedback = await editor.input({ title: l10n.t('Refuse the Plan'), prompt: l10n.t('What should be different? Your comments and edits in the document go along.') })
    if (feedback !== null) await plans.act(id, { do: 'refuse', feedback })
  }

  #settleQuestions(id: string, answers: readonly Answer[] | null, contexts: readonly UserMessage[] = []): void {
    const outcome = this.#chat.services.questions.answer(id, answers, contexts)
    if (!outcome.ok) this.#chat.notice('question', 'warning', outcome.problem)
  }

  /** To the session that asks, in the chat. */
  async #lead({ agent }: { readonly agent: Agent }): Promise<void> {
    if (agent.id !== this.#chat.shown?.session.id) await this.#parts.open(agent.id)
    await this.#chat.world.editor.showChat()
  }

  /** Of what waits no more: what was filled in, and what was opened for it. What goes with its window keeps both. */
  #letGo(waiting: readonly { readonly id: string; readonly agent: Agent }[]): void {
    const now = new Map(waiting.map(({ id, agent }) => [id, agent]))
    for (const [id, agent] of this.#known) {
      if (now.has(id) || this.#chat.isDisposed) continue
      if (!agent.isDisposed) this.#drafts.forget(id)
      this.#closeTexts(id).catch((error: unknown) => this.#chat.logError(error))
    }
    this.#known = now
  }

  async #closeTexts(id: string): Promise<void> {
    await this.#chat.world.editor.closeTexts(Object.values(sidesOf(id)))
  }

  #questionView(set: PendingQuestions) {
    return questionSetView(set, { who: this.#whoAsks(set.agent), draft: this.#drafts.get(set.id) })
  }

  async #pickApproval(request: ApprovalRequest): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    const { effect, canPreview, ...view } = this.#approvalView(request)
    const always = request.details?.always ?? []
    // Over its text, as in the dock.
    const isOverText = canPreview === true && this.#isCode(request)
    if (isOverText) await this.preview(request.id)
    const answer = await editor.pick({
      title: withoutMarks(effect),
      placeholder: plainText(whyOf(view)),
      ...(isOverText && { stays: true }),
      items: [
        { id: 'deny', label: t('Deny') },
        { id: 'allow', label: t('Allow once') },
        ...always.map(({ label }, index) => ({ id: `always:${index}`, label: plainText(label) })),
      ],
    })
    if (answer === 'deny') this.#chat.services.approvals.answer(request.id, { outcome: 'rejected' })
    else if (answer === 'allow') this.#chat.services.approvals.answer(request.id, { outcome: 'allowed-once' })
    else if (answer !== null) {
      const granted = alwaysAnswer(always, Number(answer.slice('always:'.length)))
      if (granted !== null) this.#chat.services.approvals.answer(request.id, granted)
    }
  }

  /** A program of the model, which acts by itself once it is let run. */
  #isCode({ toolName, arguments: args, agent }: ApprovalRequest): boolean {
    return this.#chat.services.permissions.effectOf(toolName, args ?? null, agent.scope).kind === 'script'
  }

  #approvalView(request: ApprovalRequest) {
    return approvalView(request, {
      hasScript: scriptOf(this.#chat.services.permissions, request) !== null,
      editable: editableText(this.#chat.services.permissions, request),
      find: this.#chat.findPresenters(request.agent.id),
      l10n: this.#chat.world.l10n,
      who: this.#whoAsks(request.agent),
      draft: this.#drafts.get(request.id),
    })
  }

  /** Null for the agent of the session that is shown. One that an agent started is known by its task. */
  #whoAsks(agent: Agent): string | null {
    const { services, shown, world } = this.#chat
    if (agent.id === shown?.session.id) return null
    const label = services.subagents.facts(agent.id)?.label
    if (label === undefined || agent.owner === undefined) return this.#chat.titleOf(agent.session)
    let root = agent.owner
    while (root.owner !== undefined) root = root.owner
    return root.id === shown?.session.id
      ? world.l10n.t('the agent “{label}”', { label })
      : world.l10n.t('the agent “{label}” of “{title}”', { label, title: this.#chat.titleOf(root.session) })
  }
}

const whyOf = ({ why, covers }: Pick<ApprovalView, 'why' | 'covers'>): string => [why, covers].filter((words) => words !== undefined && words !== '').join(' ')

/** One line for a set of questions. */
const questionLine = ({ questions: [first, ...more] }: PendingQuestions, t: Localization['t']): string => {
  const words = plainText(first?.question ?? '')
  if (first?.intent?.kind === 'plan-review') return t('Review the plan')
  return more.length === 0 ? words : t('{question} and {count} more', { question: words, count: more.length })
}
