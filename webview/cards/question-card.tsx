import type { ToolResultView } from '../../extension/protocol/cards.ts'
import { Icon } from '../components/icon.tsx'
import { t } from '../l10n.ts'

/** What was asked, the options as they were, and what was answered. */
export const QuestionCard = ({ result }: { readonly result: Extract<ToolResultView, { card: 'question' }> }) => (
  <ul class="asked">
    {result.items.map(({ question, options, selected, custom }, index) => (
      <li key={index}>
        <div class="asked-question" dir="auto">
          {question}
        </div>
        <ul class="asked-options">
          {options.map((option) => (
            <li key={option} class={selected.includes(option) ? 'is-chosen' : ''} dir="auto">
              <Icon name={selected.includes(option) ? 'pass-filled' : 'circle-large-outline'} />
              {option}
              {selected.includes(option) && <span class="sr-only">{t('(chosen)')}</span>}
            </li>
          ))}
          {custom !== undefined && (
            <li class="is-chosen" dir="auto">
              <Icon name="comment" />
              {custom}
            </li>
          )}
        </ul>
        {selected.length === 0 && custom === undefined && <div class="asked-skipped">{t('Skipped')}</div>}
      </li>
    ))}
  </ul>
)
