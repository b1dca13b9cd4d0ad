import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { GoalForm as GoalFormData } from '../../../extension/protocol/messages.ts'
import { t } from '../../l10n.ts'
import { goalFormOf, type GoalDraft, type GoalField } from '../../store/goal-form.ts'
import { formKeys } from '../form-keys.ts'

interface Props {
  readonly draft: GoalDraft
  readonly canCheckErrors: boolean
  readonly submit: string
  readonly onSubmit: (form: GoalFormData) => void
  readonly onCancel: () => void
}

/** A goal to set or to change: what to reach, what it may use, what has to hold. */
export function GoalForm({ draft: begun, canCheckErrors, submit, onSubmit, onCancel }: Props) {
  const draft = useSignal(begun)
  const bad = useSignal<GoalField | null>(null)
  const objective = useRef<HTMLTextAreaElement>(null)
  // Before the next key comes: what is typed right after the click belongs here.
  useLayoutEffect(() => objective.current?.focus(), [])
  const set = (field: GoalField, value: string | boolean) => {
    draft.value = { ...draft.value, [field]: value }
    if (bad.value === field) bad.value = null
  }
  const send = () => {
    const outcome = goalFormOf(draft.value)
    if ('bad' in outcome) bad.value = outcome.bad
    else onSubmit(outcome.form)
  }
  const number = (field: 'maxRounds' | 'maxTokens' | 'maxCost' | 'maxMinutes', label: string, empty: string) => (
    <label class="goal-field">
      <span>{label}</span>
      <input class="input" inputMode="decimal" value={draft.value[field]} placeholder={empty} aria-invalid={bad.value === field} onInput={({ currentTarget }) => set(field, currentTarget.value)} />
    </label>
  )
  return (
    <form
      class="goal-form"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onKeyDown={formKeys(send, onCancel)}
    >
      <label class="goal-field is-wide">
        <span>{t('What to reach')}</span>
        <textarea class="input" ref={objective} dir="auto" rows={3} value={draft.value.objective} aria-invalid={bad.value === 'objective'} onInput={({ currentTarget }) => set('objective', currentTarget.value)} />
      </label>
      <label class="goal-field is-wide">
        <span>{t('Checks before it counts as complete, one command a line')}</span>
        <textarea class="input goal-checks-text" dir="ltr" rows={2} spellcheck={false} value={draft.value.checks} placeholder="npm test" onInput={({ currentTarget }) => set('checks', currentTarget.value)} />
      </label>
      {(canCheckErrors || draft.value.noNewErrors) && (
        <label class="goal-check-box">
          <input type="checkbox" checked={draft.value.noNewErrors} onChange={({ currentTarget }) => set('noNewErrors', currentTarget.checked)} />
          <span>{t('No new errors in the editor')}</span>
        </label>
      )}
      <div class="goal-numbers">
        {number('maxRounds', t('Rounds'), t('as set'))}
        {number('maxTokens', t('Tokens'), t('no limit'))}
        {number('maxCost', t('Dollars'), t('no limit'))}
        {number('maxMinutes', t('Minutes'), t('no limit'))}
      </div>
      {bad.value !== null && (
        <p class="goal-bad" role="alert">
          {problemOf(bad.value)}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="button-primary">
          {submit}
        </button>
        <button type="button" class="button-secondary" onClick={onCancel}>
          {t('Back')}
        </button>
      </div>
    </form>
  )
}

function problemOf(field: GoalField): string {
  switch (field) {
    case 'objective':
      return t('Say what to reach.')
    case 'maxRounds':
    case 'maxTokens':
      return t('Rounds and tokens are whole numbers from 1, or empty.')
    default:
      return t('Dollars and minutes are numbers above 0, or empty.')
  }
}
