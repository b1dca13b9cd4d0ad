import { recommendation } from '../base/recommendation.ts'
import type { Attention, AttentionButton } from '../capabilities/attention.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Answer, PendingQuestions } from '../features/questions/service.ts'
import { plainText } from './chat-state.ts'

interface Parts {
  readonly attention: Attention
  readonly l10n: Localization
  readonly answer: (set: PendingQuestions, answers: readonly Answer[]) => void
  /** Lead the person to where the set can be answered in full. */
  readonly open: (set: PendingQuestions) => Promise<void>
  readonly onError: (error: unknown) => void
}

/** More buttons, or longer ones, and a notification cannot be read at a glance. */
const MAX_BUTTONS = 3
const MAX_LABEL = 30

/** Ask for each waiting set of questions in a notification of the editor, while the person does not see the chat. */
export class QuestionPrompts {
  readonly #parts: Parts
  readonly #asking = new Map<string, AbortController>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Follow what waits; of `wanted`, what is not asked yet is asked. Nothing is taken back but by an answer. */
  update(pending: readonly PendingQuestions[], isWanted: (set: PendingQuestions) => boolean): void {
    for (const [id, controller] of this.#asking) {
      if (pending.some((set) => set.id === id)) continue
      this.#asking.delete(id)
      controller.abort()
    }
    for (const set of pending) {
      if (this.#asking.has(set.id) || !isWanted(set)) continue
      const controller = new AbortController()
      this.#asking.set(set.id, controller)
      this.#ask(set, controller.signal).catch(this.#parts.onError)
    }
  }

  dispose(): void {
    for (const controller of this.#asking.values()) controller.abort()
    this.#asking.clear()
  }

  async #ask(set: PendingQuestions, signal: AbortSignal): Promise<void> {
    const { attention, l10n, answer, open } = this.#parts
    const { t } = l10n
    const [first, ...more] = set.questions
    if (first === undefined) return
    const text = t('Bosun asks: {question}', { question: plainText(first.question) })
    const detail = more.length === 0 ? {} : { detail: t('and {count} more', { count: more.length }) }
    const choice = await attention.ask({ text, ...detail, buttons: buttonsOf(set, t), signal })
    if (choice === null) return
    if (choice === 'open') return await open(set)
    if (choice === 'skip') return answer(set, set.questions.map(({ id }) => ({ id, selected: [] })))
    answer(set, [{ id: first.id, selected: [first.options?.[Number(choice)]?.label ?? ''] }])
  }
}

/** A single short choice stands on the buttons; anything else is answered where there is room. */
function buttonsOf({ questions }: PendingQuestions, t: Localization['t']): readonly AttentionButton[] {
  const [only] = questions
  const labels = only?.options?.map(({ label }) => recommendation(label).text) ?? []
  const isShort = questions.length === 1 && only?.multi_select !== true && labels.length > 0 && labels.length <= MAX_BUTTONS && labels.every((label) => label.length <= MAX_LABEL)
  if (isShort) return [...labels.map((label, index) => ({ id: String(index), label })), { id: 'open', label: t('Other…') }]
  return [{ id: 'open', label: t('Answer') }, { id: 'skip', label: t('Skip') }]
}
