import type { Attention } from '../capabilities/attention.ts'
import type { Editor } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { ApprovalAnswer, ApprovalRequest, Approvals } from '../core/policy/approval.ts'

interface Parts {
  readonly approvals: Pick<Approvals, 'pending' | 'answer'>
  readonly attention: Attention
  readonly editor: Pick<Editor, 'pick'>
  readonly l10n: Localization
  /** `isCode`: a program of the model, of which nobody says yes before its text was on screen. */
  readonly describe: (request: ApprovalRequest) => { readonly effect: string; readonly why: string; readonly canPreview: boolean; readonly isCode: boolean }
  /** Show in the editor what the call would change or run. */
  readonly preview: (id: string) => Promise<void>
  readonly onError: (error: unknown) => void
}

/**
 * Ask for each waiting approval in an editor notification, beside the chat.
 *
 * Whoever answers first wins: an answer elsewhere takes the notification away. Broken notifications answer nothing,
 * so the question goes on waiting in the chat.
 */
export class ApprovalPrompts {
  readonly #parts: Parts
  readonly #asking = new Map<string, AbortController>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Follow what waits. `isOn` false asks nothing new and takes nothing back. */
  update(isOn: boolean): void {
    const pending = this.#parts.approvals.pending()
    for (const [id, controller] of this.#asking) {
      if (pending.some((request) => request.id === id)) continue
      this.#asking.delete(id)
      controller.abort()
    }
    if (!isOn) return
    for (const request of pending) {
      if (this.#asking.has(request.id)) continue
      const controller = new AbortController()
      this.#asking.set(request.id, controller)
      this.#ask(request, controller.signal).catch(this.#parts.onError)
    }
  }

  dispose(): void {
    for (const controller of this.#asking.values()) controller.abort()
    this.#asking.clear()
  }

  async #ask(request: ApprovalRequest, signal: AbortSignal): Promise<void> {
    const { t } = this.#parts.l10n
    const { effect, why, canPreview, isCode } = this.#parts.describe(request)
    const always = request.details?.always ?? []
    const review = canPreview ? [{ id: 'review', label: t('Review') }] : []
    const deny = { id: 'deny', label: t('Deny') }
    const answers = [{ id: 'allow', label: t('Allow once') }, ...(always.length > 0 ? [{ id: 'always', label: t('Always allow…') }] : []), deny, ...review]
    let wasShown = false
    while (!signal.aborted) {
      const buttons = isCode && canPreview && !wasShown ? [...review, deny] : answers
      const choice = await this.#parts.attention.ask({ text: t('Bosun: {effect}', { effect }), detail: why, buttons, signal })
      if (choice === null) return
      if (choice === 'review') {
        wasShown = (await this.#isShown(request.id)) || wasShown
        continue
      }
      const answer = await this.#answerFor(choice, always, effect)
      // Backing out of the list of rules is no answer: the question is raised again.
      if (answer === null) continue
      this.#parts.approvals.answer(request.id, answer)
      return
    }
  }

  async #isShown(id: string): Promise<boolean> {
    try {
      await this.#parts.preview(id)
      return true
    } catch (error) {
      this.#parts.onError(error)
      return false
    }
  }

  async #answerFor(choice: string, always: readonly AlwaysChoice[], effect: string): Promise<ApprovalAnswer | null> {
    if (choice === 'allow') return { outcome: 'allowed-once' }
    if (choice !== 'always') return { outcome: 'rejected' }
    const picked = await this.#parts.editor.pick({
      title: this.#parts.l10n.t('Always allow'),
      placeholder: effect,
      items: always.map(({ label }, index) => ({ id: String(index), label: label.replaceAll('`', '') })),
    })
    return picked === null ? null : alwaysAnswer(always, Number(picked))
  }
}

type AlwaysChoice = NonNullable<NonNullable<ApprovalRequest['details']>['always']>[number]

/** A grant that keeps the chosen rule, or null for a choice that is not offered. */
export function alwaysAnswer(always: readonly AlwaysChoice[], index: number): ApprovalAnswer | null {
  const choice = always[index]
  return choice === undefined ? null : { outcome: 'allowed-once', rule: choice.rule }
}
