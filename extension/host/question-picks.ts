import { recommendation } from '../base/recommendation.ts'
import type { Editor } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Answer, PendingQuestions, Question } from '../features/questions/service.ts'
import type { WaitingDraft } from '../protocol/view-state.ts'
import { plainText } from './chat-state.ts'
import { sidesOf } from './request-sides.ts'

type Filled = NonNullable<WaitingDraft['filled']>[number]

interface Parts {
  readonly editor: Pick<Editor, 'pick' | 'pickMany' | 'input' | 'openText'>
  readonly l10n: Localization
}

/** What came of asking in native lists: whole answers, or what was filled in when the person closed one. */
export type PickedAnswers = { readonly answers: readonly Answer[] } | { readonly draft: WaitingDraft }

/**
 * Ask the questions of a set one after the other in the editor's own lists, beginning with what was filled in before.
 *
 * A list that is closed answers nothing: what was filled in is given back, and the set goes on waiting.
 */
export async function pickAnswers({ editor, l10n }: Parts, { id, questions }: PendingQuestions, before: WaitingDraft | undefined): Promise<PickedAnswers> {
  const filled = questions.map((_, index) => before?.filled?.[index] ?? untouched)
  for (const [index, question] of questions.entries()) {
    if (question.detail !== undefined) await editor.openText({ name: `${question.header ?? question.id}.md`, text: question.detail, side: sidesOf(id).proposed, language: 'markdown' })
    const answer = await pickAnswer({ editor, l10n }, question, { held: filled[index]!, step: { at: index + 1, of: questions.length } })
    if (answer === null) return { draft: { filled, current: index } }
    filled[index] = answer
  }
  return { answers: questions.map((question, index) => answerFrom(question, filled[index]!)) }
}

const untouched: Filled = { selected: [], custom: '', isSkipped: false }
const skipped: Filled = { ...untouched, isSkipped: true }
const OTHER = 'other'
const SKIP = 'skip'

interface PickPlace {
  readonly held: Filled
  readonly step: { readonly at: number; readonly of: number }
}

async function pickAnswer(parts: Parts, question: Question, place: PickPlace): Promise<Filled | null> {
  const { options = [], multi_select: isMultiSelect = false } = question
  if (options.length === 0) return await ownWords(parts, question, place, [])
  return await (isMultiSelect ? pickSeveral(parts, question, place) : pickOne(parts, question, place))
}

async function pickOne(parts: Parts, question: Question, place: PickPlace): Promise<Filled | null> {
  const { t } = parts.l10n
  const picked = await parts.editor.pick({
    ...listOf(question, place),
    items: [...optionItems(parts, question, place.held), { id: OTHER, label: t('Other…'), description: t('In your own words') }, { id: SKIP, label: t('Skip') }],
  })
  if (picked === null) return null
  if (picked === SKIP) return skipped
  if (picked === OTHER) return await ownWords(parts, question, place, [])
  return { selected: [labelAt(question, picked)], custom: '', isSkipped: false }
}

/** Nothing ticked skips the question. */
async function pickSeveral(parts: Parts, question: Question, place: PickPlace): Promise<Filled | null> {
  const { t } = parts.l10n
  const picked = await parts.editor.pickMany({
    ...listOf(question, place),
    items: [...optionItems(parts, question, place.held), { id: OTHER, label: t('Other…'), description: t('In your own words'), isCurrent: place.held.custom !== '' }],
  })
  if (picked === null) return null
  const selected = picked.filter((id) => id !== OTHER).map((id) => labelAt(question, id))
  if (picked.includes(OTHER)) return await ownWords(parts, question, place, selected)
  return selected.length === 0 ? skipped : { selected, custom: '', isSkipped: false }
}

async function ownWords({ editor, l10n }: Parts, question: Question, { held, step }: PickPlace, selected: readonly string[]): Promise<Filled | null> {
  const words = await editor.input({ title: titleOf(question, step), prompt: l10n.t('Your answer; nothing skips the question'), value: held.custom })
  if (words === null) return null
  return words.trim() === '' && selected.length === 0 ? skipped : { selected, custom: words.trim(), isSkipped: false }
}

const listOf = (question: Question, { step }: PickPlace) => ({
  title: question.header ?? plainText(question.question),
  placeholder: plainText(question.question),
  stays: true,
  ...(step.of > 1 && { step }),
})

const titleOf = ({ question }: Question, { at, of }: PickPlace['step']) => (of > 1 ? `${plainText(question)} (${at}/${of})` : plainText(question))

const optionItems = ({ l10n }: Parts, { options = [] }: Question, { selected }: Filled) =>
  options.map(({ label, description }, index) => {
    const { text, isRecommended } = recommendation(label)
    return {
      id: String(index),
      label: text,
      ...(isRecommended && { description: l10n.t('Recommended') }),
      ...(description !== undefined && { detail: description }),
      ...(selected.includes(label) && { isCurrent: true }),
    }
  })

const labelAt = ({ options = [] }: Question, id: string): string => options[Number(id)]?.label ?? ''

const answerFrom = ({ id }: Question, { selected, custom, isSkipped }: Filled): Answer =>
  isSkipped ? { id, selected: [] } : { id, selected, ...(custom !== '' && { custom }) }
