import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { QuestionSetView } from '../../../extension/protocol/view-state.ts'
import { plural, t } from '../../l10n.ts'
import { answersOf, emptyAnswer, isAnswered, isSettled, nextOpen, recommendation, withChoice, withWords, type FilledAnswer, type Question } from '../../store/question-form.ts'
import { useApp } from '../app-context.ts'
import { Icon } from '../icon.tsx'
import { IconButton } from '../icon-button.tsx'

/** The questions of one call as a form; later calls wait behind it. */
export function QuestionsDock() {
  const { store } = useApp()
  const [first, ...later] = store.state.questions.value
  return first === undefined ? null : <QuestionForm key={first.id} set={first} laterCount={later.length} />
}

function QuestionForm({ set, laterCount }: { readonly set: QuestionSetView; readonly laterCount: number }) {
  const { actions } = useApp()
  const { questions } = set
  const filled = useSignal<readonly FilledAnswer[]>(questions.map(() => emptyAnswer))
  const current = useSignal(0)
  const isFolded = useSignal(false)
  const openCount = filled.value.filter((answer) => !isSettled(answer)).length
  const change = (index: number, answer: FilledAnswer) => (filled.value = filled.value.map((held, at) => (at === index ? answer : held)))
  const advance = (index: number) => {
    const next = nextOpen(filled.value, index)
    if (next >= 0) current.value = next
  }
  const submit = () => {
    if (openCount === 0) actions.answerQuestions(set.id, answersOf(questions, filled.value))
    else advance(current.value)
  }
  return (
    <section class="dock questions" role="region" aria-label={t('Questions')}>
      <div class="dock-head">
        <Icon name="question" />
        <button type="button" class="dock-title" aria-expanded={!isFolded.value} onClick={() => (isFolded.value = !isFolded.value)}>
          {plural(questions.length, 'Bosun asks', 'Bosun asks {0} questions')}
          <Icon name={isFolded.value ? 'chevron-up' : 'chevron-down'} />
        </button>
        {laterCount > 0 && <span class="outcome outcome-quiet">{plural(laterCount, '{0} more waits', '{0} more wait')}</span>}
        <IconButton icon="close" label={t('Close the questions without an answer')} onPress={() => actions.closeQuestions(set.id)} />
      </div>
      {!isFolded.value && (
        <form
          class="question-form"
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
          onKeyDown={(event) => {
            // Enter that ends the composition of a character belongs to the input method.
            if (event.key !== 'Enter' || event.isComposing || event.keyCode === 229 || event.target instanceof HTMLButtonElement) return
            event.preventDefault()
            submit()
          }}
        >
          {questions.map((question, index) => (
            <QuestionFields
              key={question.id}
              question={question}
              answer={filled.value[index] ?? emptyAnswer}
              isCurrent={current.value === index}
              isOnly={questions.length === 1}
              onShow={() => (current.value = index)}
              onChoose={(label) => change(index, withChoice(question, filled.value[index] ?? emptyAnswer, label))}
              onSettleByMouse={() => {
                if (!question.isMultiSelect) advance(index)
              }}
              onWords={(words) => change(index, withWords(question, filled.value[index] ?? emptyAnswer, words))}
              onSkip={() => {
                change(index, { ...emptyAnswer, isSkipped: true })
                advance(index)
              }}
            />
          ))}
          <div class="buttons">
            <button type="submit" class="button-primary" disabled={openCount > 0}>
              {t('Answer')}
            </button>
            <button type="button" class="button-secondary" onClick={() => actions.answerQuestions(set.id, answersOf(questions, questions.map((_, index) => (isAnswered(filled.value[index] ?? emptyAnswer) ? filled.value[index]! : { ...emptyAnswer, isSkipped: true }))))}>
              {questions.length === 1 ? t('Skip') : t('Skip the rest')}
            </button>
            {openCount > 0 && questions.length > 1 && <span class="outcome outcome-quiet">{plural(openCount, '{0} open', '{0} open')}</span>}
          </div>
        </form>
      )}
    </section>
  )
}

interface QuestionFieldsProps {
  readonly question: Question
  readonly answer: FilledAnswer
  readonly isCurrent: boolean
  readonly isOnly: boolean
  readonly onShow: () => void
  readonly onChoose: (label: string) => void
  /** A choice was made by pointer: the next question may come. With the keyboard, arrows pass over options on their way. */
  readonly onSettleByMouse: () => void
  readonly onWords: (words: string) => void
  readonly onSkip: () => void
}

function QuestionFields({ question, answer, isCurrent, isOnly, onShow, onChoose, onSettleByMouse, onWords, onSkip }: QuestionFieldsProps) {
  const box = useRef<HTMLFieldSetElement>(null)
  const wasCurrent = useRef(isCurrent)
  useEffect(() => {
    // Follow the person to the next question, but never take the focus from elsewhere.
    if (isCurrent && !wasCurrent.current && box.current?.closest('form')?.contains(document.activeElement) === true) {
      box.current.querySelector<HTMLElement>('input')?.focus()
    }
    wasCurrent.current = isCurrent
  }, [isCurrent])
  const said = answer.isSkipped ? t('Skipped') : [...answer.selected.map((label) => recommendation(label).text), ...(answer.custom.trim() === '' ? [] : [answer.custom.trim()])].join(', ')
  if (!isCurrent) {
    return (
      <button type="button" class="question-folded" onClick={onShow}>
        <Icon name={isSettled(answer) ? 'pass-filled' : 'circle-large-outline'} />
        <span class="question-folded-text" dir="auto">
          {question.header ?? question.question}
        </span>
        <span class="outcome outcome-quiet" dir="auto">
          {said}
        </span>
      </button>
    )
  }
  return (
    <fieldset class="question" ref={box}>
      <legend dir="auto">
        {question.header !== null && <span class="question-header">{question.header}</span>}
        {question.question}
      </legend>
      {question.options.map(({ label, description }) => (
        <Option key={label} question={question} label={label} description={description} isChosen={answer.selected.includes(label)} onChoose={() => onChoose(label)} onPointer={onSettleByMouse} />
      ))}
      <input
        class="input"
        dir="auto"
        value={answer.custom}
        maxLength={20_000}
        aria-label={question.options.length === 0 ? t('Your answer') : t('Or in your own words')}
        placeholder={question.options.length === 0 ? t('Your answer') : t('Or in your own words')}
        onInput={({ currentTarget }) => onWords(currentTarget.value)}
      />
      {!isOnly && (
        <button type="button" class="link question-skip" onClick={onSkip}>
          {t('Skip this one')}
        </button>
      )}
    </fieldset>
  )
}

interface OptionProps {
  readonly question: Question
  readonly label: string
  readonly description: string | null
  readonly isChosen: boolean
  readonly onChoose: () => void
  readonly onPointer: () => void
}

function Option({ question, label, description, isChosen, onChoose, onPointer }: OptionProps) {
  const { text, isRecommended } = recommendation(label)
  const isByPointer = useRef(false)
  return (
    <label
      class={isChosen ? 'option is-chosen' : 'option'}
      onPointerDown={() => (isByPointer.current = true)}
      onKeyDown={() => (isByPointer.current = false)}
    >
      <input
        type={question.isMultiSelect ? 'checkbox' : 'radio'}
        name={question.id}
        checked={isChosen}
        onChange={() => {
          onChoose()
          if (isByPointer.current) onPointer()
        }}
      />
      <span class="option-words">
        <span class="option-label" dir="auto">
          {text}
          {isRecommended && <span class="badge">{t('Recommended')}</span>}
        </span>
        {description !== null && (
          <span class="option-description" dir="auto">
            {description}
          </span>
        )}
      </span>
    </label>
  )
}
