import type { CardContent, ToolCallView, ToolResultView } from '../../extension/protocol/cards.ts'
import { Markdown } from '../components/markdown.tsx'
import { t } from '../l10n.ts'
import { BodyPart, BodyText } from './body-text.tsx'

interface PlanCardProps {
  readonly call: Extract<ToolCallView, { card: 'generic' }>
  readonly result: Extract<ToolResultView, { card: 'generic' }> | null
  /** Its reason stands under the line already. */
  readonly hasFailed: boolean
}

/** A plan as it was proposed, and what came of it. */
export const PlanCard = ({ call, result, hasFailed }: PlanCardProps) => (
  <>
    <div class="plan-card">
      <Markdown text={textOf(call.content)} isStreaming={false} />
    </div>
    {result !== null && !hasFailed && (
      <BodyPart title={t('Review')}>
        <BodyText text={textOf(result.content)} label={t('Review')} onShowAll={undefined} />
      </BodyPart>
    )}
  </>
)

const textOf = (content: readonly CardContent[] = []): string => content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
