import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { PlanReviewView, WaitingDraft } from '../../../extension/protocol/view-state.ts'
import { plural, t } from '../../l10n.ts'
import { useApp } from '../app-context.ts'
import { escapeTo } from '../form-keys.ts'
import { Icon } from '../icon.tsx'
import { IconButton } from '../icon-button.tsx'
import { Markdown } from '../markdown.tsx'
import { ForSession } from './for-session.tsx'

interface PlanReviewProps {
  readonly plan: PlanReviewView
  /** What waits beside it. */
  readonly list: ComponentChildren
  readonly draft: WaitingDraft | undefined
  readonly onDraft: (draft: WaitingDraft) => void
}

/** The plan that waits for the person. Its document in the editor offers the same. */
export function PlanReview({ plan, list, draft, onDraft }: PlanReviewProps) {
  const { actions } = useApp()
  const isRefusing = useSignal(draft?.note !== undefined)
  const isFolded = useSignal(false)
  const feedback = useSignal(draft?.note ?? '')
  const { id, title, text, isEdited, comments, who, sessionId } = plan
  const input = useRef<HTMLInputElement>(null)
  const refuseByHand = () => {
    isRefusing.value = true
    // Once it is drawn; what comes back after a reload takes no focus.
    requestAnimationFrame(() => input.current?.focus())
  }
  const refuse = () => actions.actOnPlan(id, { do: 'refuse', feedback: feedback.value })
  return (
    <section class="dock plan-review" role="region" aria-label={t('Plan')} tabIndex={-1}>
      {list}
      <div class="dock-head">
        <Icon name="checklist" />
        <button type="button" class="dock-title" aria-expanded={!isFolded.value} title={title} onClick={() => (isFolded.value = !isFolded.value)}>
          <span class="plan-title" dir="auto">
            {title}
          </span>
          <Icon name={isFolded.value ? 'chevron-up' : 'chevron-down'} />
        </button>
        <IconButton icon="open-preview" label={t('Open the plan in the editor')} onPress={() => actions.actOnPlan(id, { do: 'open' })} />
      </div>
      {!isFolded.value && (
        <div class="plan-text" tabIndex={0} role="group" aria-label={t('The plan')} dir="auto">
          <Markdown text={withoutTitle(text)} isStreaming={false} />
        </div>
      )}
      <ForSession who={who} sessionId={sessionId} />
      {(isEdited || comments > 0) && (
        <div class="plan-facts">
          {[...(isEdited ? [t('You changed it.')] : []), ...(comments > 0 ? [plural(comments, '{0} comment of yours.', '{0} comments of yours.')] : [])].join(' ')}
        </div>
      )}
      {isRefusing.value ? (
        <form
          class="deny-form"
          onSubmit={(event) => {
            event.preventDefault()
            refuse()
          }}
        >
          <input
            class="input"
            dir="auto"
            ref={input}
            value={feedback.value}
            maxLength={20_000}
            aria-label={t('What should be different?')}
            placeholder={comments > 0 || isEdited ? t('What else should be different?') : t('What should be different?')}
            onInput={({ currentTarget }) => {
              feedback.value = currentTarget.value
              onDraft({ note: feedback.value })
            }}
            onKeyDown={escapeTo(() => {
              isRefusing.value = false
              onDraft({})
            })}
          />
          <button type="submit" class="button-primary">
            {t('Keep planning')}
          </button>
          <button type="button" class="button-secondary" onClick={() => (isRefusing.value = false)}>
            {t('Back')}
          </button>
        </form>
      ) : (
        <div class="buttons">
          <button type="button" class="button-primary" onClick={() => actions.actOnPlan(id, { do: 'approve' })}>
            {isEdited ? t('Approve with your changes') : t('Approve')}
          </button>
          <button type="button" class="button-secondary" onClick={refuseByHand}>
            {t('Refuse…')}
          </button>
          <button type="button" class="button-secondary" title={t('Decide nothing yet, and talk about it')} onClick={() => actions.actOnPlan(id, { do: 'discuss' })}>
            {t('Discuss')}
          </button>
        </div>
      )}
    </section>
  )
}

/** The head says it already. */
const withoutTitle = (text: string): string => text.replace(/^\s*#[ \t]+.*\n+/, '')
