import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { recommendation } from '../../../extension/base/recommendation.ts'
import { visibleText } from '../../../extension/base/visible-text.ts'
import type { QuestionSetView, WaitingDraft } from '../../../extension/protocol/view-state.ts'
import { plural, t } from '../../l10n.ts'
import { answersOf, emptyAnswer, isAnswered, isSettled, nextOpen, withChoice, withWords, type FilledAnswer, type Question } from '../../store/question-form.ts'
import { useApp } from '../app-context.ts'
import { COMPLETIONS_ID, CompletionList, completionId } from '../completion-list.tsx'
import { isComposing } from '../form-keys.ts'
import { Icon } from '../icon.tsx'
import { IconButton } from '../icon-button.tsx'
import { Markdown } from '../markdown.tsx'
import { writeInto } from '../write-into.ts'
import { ForSession } from './for-session.tsx'

interface QuestionFormProps {
  readonly set: QuestionSetView
  readonly draft: WaitingDraft | undefined
  readonly onDraft: (draft: WaitingDraft) => void
}

/** The questions of one call as a form. */
export function QuestionForm({ set, draft, onDraft }: QuestionFormProps) {
  const { actions } = useApp()
  const { questions } = set
  // Whoever asks through Bosun, such as a server, says so once for all of its questions.
  const detail = questions[0]?.detail
  const header = questions[0]?.header
  const filled = useSignal<readonly FilledAnswer[]>(questions.map((_, index) => draft?.filled?.[index] ?? emptyAnswer))
  const current = useSignal(draft?.current !== undefined && draft.current < questions.length ? draft.current : 0)
  const isFolded = useSignal(false)
  const isTouched = useSignal(draft !== undefined)
  const openCount = filled.value.filter((answer) => !isSettled(answer)).length
  const keep = () => {
    isTouched.value = true
    onDraft({ filled: filled.value, current: current.value })
  }
  const change = (index: number, answer: FilledAnswer) => {
    filled.value = filled.value.map((held, at) => (at === index ? answer : held))
    keep()
  }
  /** The person is here: nothing is answered in their place any more. */
  const touch = () => {
    if (!isTouched.value && set.answersAt !== undefined) keep()
  }
  const advance = (index: number) => {
    const next = nextOpen(filled.value, index)
    if (next < 0) return
    current.value = next
    keep()
  }
  const submit = () => {
    if (openCount === 0) actions.answerQuestions(set.id, answersOf(questions, filled.value))
    else advance(current.value)
  }
  return (
    <div class="questions-body" onFocusIn={touch} onPointerDown={touch}>
      <div class="dock-head">
        <Icon name="question" />
        <button type="button" class="dock-title" aria-expanded={!isFolded.value} onClick={() => (isFolded.value = !isFolded.value)}>
          {detail !== undefined && header != null ? t('{0} asks', visibleText(header)) : plural(questions.length, 'Bosun asks', 'Bosun asks {0} questions')}
          <Icon name={isFolded.value ? 'chevron-up' : 'chevron-down'} />
        </button>
        <IconButton icon="close" label={t('Close the questions without an answer')} onPress={() => actions.closeQuestions(set.id)} />
      </div>
      <ForSession who={set.who} sessionId={set.sessionId} />
      {!isFolded.value && detail !== undefined && (
        <div class="question-detail" tabIndex={0} role="group" aria-label={t('What is asked')}>
          <Markdown text={visibleText(detail)} isStreaming={false} />
        </div>
      )}
      {!isFolded.value && (
        <form
          class="question-form"
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || isComposing(event) || event.target instanceof HTMLButtonElement) return
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
              header={detail === undefined ? question.header : null}
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
            {set.answersAt !== undefined && !isTouched.value && <Countdown at={set.answersAt} />}
            {openCount > 0 && questions.length > 1 && <span class="outcome outcome-quiet">{plural(openCount, '{0} open', '{0} open')}</span>}
          </div>
        </form>
      )}
    </div>
  )
}

/** When the recommended options are taken; it ends with the first touch of the form. */
function Countdown({ at }: { readonly at: number }) {
  const leftS = Math.max(0, Math.ceil((at - useApp().now.value) / 1_000))
  return (
    <span class="outcome outcome-quiet" role="timer">
      {t('Takes the recommended in {0} s', leftS)}
    </span>
  )
}

interface QuestionFieldsProps {
  readonly question: Question
  readonly answer: FilledAnswer
  readonly isCurrent: boolean
  readonly isOnly: boolean
  readonly header: string | null
  readonly onShow: () => void
  readonly onChoose: (label: string) => void
  /** A choice was made by pointer: the next question may come. With the keyboard, arrows pass over options on their way. */
  readonly onSettleByMouse: () => void
  readonly onWords: (words: string) => void
  readonly onSkip: () => void
}

function QuestionFields({ question, answer, isCurrent, isOnly, header, onShow, onChoose, onSettleByMouse, onWords, onSkip }: QuestionFieldsProps) {
  const box = useRef<HTMLFieldSetElement>(null)
  const wasCurrent = useRef(isCurrent)
  useEffect(() => {
    // Follow the person to the next question, but never take the focus from elsewhere.
    if (isCurrent && !wasCurrent.current && box.current?.closest('form')?.contains(document.activeElement) === true) {
      box.current.querySelector<HTMLElement>('input')?.focus()
    }
    wasCurrent.current = isCurrent
  }, [isCurrent])
  const said = answer.isSkipped ? t('Skipped') : [...answer.selected.map((label) => visibleText(recommendation(label).text)), ...(answer.custom.trim() === '' ? [] : [answer.custom.trim()])].join(', ')
  if (!isCurrent) {
    return (
      <button type="button" class="question-folded" onClick={onShow}>
        <Icon name={isSettled(answer) ? 'pass-filled' : 'circle-large-outline'} />
        <span class="question-folded-text" dir="auto">
          {visibleText(header ?? question.question)}
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
        {header !== null && <span class="question-header">{visibleText(header)}</span>}
        {visibleText(question.question)}
      </legend>
      {question.options.map(({ label, description }) => (
        <Option key={label} question={question} label={label} description={description} isChosen={answer.selected.includes(label)} onChoose={() => onChoose(label)} onPointer={onSettleByMouse} />
      ))}
      <AnswerBox words={answer.custom} label={question.options.length === 0 ? t('Your answer') : t('Or in your own words')} onWords={onWords} />
      {!isOnly && (
        <button type="button" class="link question-skip" onClick={onSkip}>
          {t('Skip this one')}
        </button>
      )}
    </fieldset>
  )
}

/** Own words, with the menu of `@` as the composer has it. */
function AnswerBox({ words, label, onWords }: { readonly words: string; readonly label: string; readonly onWords: (words: string) => void }) {
  const { completion } = useApp()
  const box = useRef<HTMLInputElement>(null)
  const hasMenu = completion.box.value === 'answer' && completion.items.value.length > 0
  const look = () => {
    if (box.current !== null) completion.look(box.current.value, box.current.selectionStart ?? 0, 'answer')
  }
  const pick = (index?: number) => {
    const taken = completion.accept(index)
    if (taken === null || box.current === null) return
    writeInto(box.current, taken)
    look()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!hasMenu || isComposing(event)) return
    if (event.key === 'ArrowDown') completion.move(1)
    else if (event.key === 'ArrowUp') completion.move(-1)
    else if (event.key === 'Enter' || event.key === 'Tab') pick()
    else if (event.key === 'Escape') completion.close()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div class="answer-box">
      <input
        class="input"
        ref={box}
        dir="auto"
        value={words}
        maxLength={20_000}
        aria-label={label}
        placeholder={label}
        aria-autocomplete="list"
        aria-controls={hasMenu ? COMPLETIONS_ID : undefined}
        aria-activedescendant={hasMenu ? completionId(completion.active.value) : undefined}
        onInput={({ currentTarget }) => {
          onWords(currentTarget.value)
          look()
        }}
        onClick={look}
        onBlur={() => completion.close()}
        onKeyDown={onKeyDown}
      />
      {hasMenu && <CompletionList onPick={pick} />}
    </div>
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
          {visibleText(text)}
          {isRecommended && <span class="badge">{t('Recommended')}</span>}
        </span>
        {description !== null && (
          <span class="option-description" dir="auto">
            {visibleText(description)}
          </span>
        )}
      </span>
    </label>
  )
}
