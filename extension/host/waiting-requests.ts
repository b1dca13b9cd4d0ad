import { withoutMarks } from '../base/marked-code.ts'
import type { ApprovalRequest } from '../core/policy/approval.ts'
import { settings as specs } from '../core/settings/specs.ts'
import type { ViewMessage } from '../protocol/messages.ts'
import { editableText, editedArguments } from './approval-edits.ts'
import { ApprovalPrompts, alwaysAnswer } from './approval-prompts.ts'
import { plainText, type ChatState } from './chat-state.ts'
import { approvalView, questionSetView } from './docks.ts'

/** Approvals and questions that wait for the person: in the chat, in notifications, in the badge. */
export class WaitingRequests {
  readonly #chat: ChatState
  readonly #prompts: ApprovalPrompts
  readonly #askedQuestions = new Map<string, AbortController>()

  constructor(chat: ChatState) {
    this.#chat = chat
    const { attention, editor, l10n } = chat.world
    this.#prompts = new ApprovalPrompts({
      approvals: chat.services.approvals,
      attention,
      editor,
      l10n,
      describe: (request) => {
        const { effect, why } = this.#approvalView(request)
        return { effect: withoutMarks(effect), why: plainText(why) }
      },
      onError: (error) => chat.logError(error),
    })
  }

  dispose(): void {
    this.#prompts.dispose()
  }

  refresh(): void {
    const approvals = this.#chat.services.approvals.pending()
    const questions = this.#chat.services.questions.pending()
    this.#chat.model.set('approvals', approvals.map((request) => this.#approvalView(request)))
    this.#chat.model.set('questions', questions.map(questionSetView))
    const notified = this.#chat.services.settings.get(specs.notificationsWhenHidden)
    this.#prompts.update(notified.includes('approvals'))
    this.#askForAnswers(notified.includes('questions'))
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

  /** Show in the editor what the call would change: of one file, or of all in one multi-file diff. */
  async preview(id: string, path?: string): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const request = this.#chat.services.approvals.pending().find((one) => one.id === id)
    const changes = (request?.details?.changes ?? []).filter((change) => path === undefined || change.path === path)
    const title = l10n.t('{effect} (proposed)', { effect: withoutMarks(request?.details?.effect ?? '') })
    const files = changes.map((change) => ({
      path: change.target,
      before: { name: change.path, text: change.before, side: `${sideOf(id)}-before` },
      after: { name: change.path, text: change.after, side: `${sideOf(id)}-proposed` },
    }))
    const [only] = files
    if (only !== undefined && files.length === 1) await editor.openDiff({ title, ...only })
    else if (files.length > 0) await editor.openDiffs({ title, files })
  }

  async pickApproval(): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    const waiting = this.#chat.services.approvals.pending()
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
    if (answer === 'deny') this.#chat.services.approvals.answer(request.id, { outcome: 'rejected' })
    else if (answer === 'allow') this.#chat.services.approvals.answer(request.id, { outcome: 'allowed-once' })
    else if (answer !== null) {
      const granted = alwaysAnswer(always, Number(answer.slice('always:'.length)))
      if (granted !== null) this.#chat.services.approvals.answer(request.id, granted)
    }
  }

  #approvalView(request: ApprovalRequest) {
    const isElsewhere = request.agent.id !== this.#chat.shown?.session.id
    return approvalView(request, {
      editable: editableText(this.#chat.services.permissions, request),
      find: this.#chat.findPresenters(request.agent.id),
      l10n: this.#chat.world.l10n,
      who: isElsewhere ? this.#chat.titleOf(request.agent.session) : null,
    })
  }

  /** A notification leads to the question while the chat is hidden; it is answered in the chat. */
  #askForAnswers(isOn: boolean): void {
    const { attention, editor, l10n } = this.#chat.world
    const pending = this.#chat.services.questions.pending()
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
        .catch((error: unknown) => this.#chat.logError(error))
    }
  }
}

const sideOf = (id: string) => id.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-')
