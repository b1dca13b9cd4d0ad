import type { ToolResultView } from '../../extension/protocol/cards.ts'
import { useApp } from '../components/app-context.ts'
import { Code } from '../components/code-block.tsx'
import { t } from '../l10n.ts'
import { BODY_LINES, BodyMore } from './body-text.tsx'
import { CardContents } from './generic-card.tsx'

/** Lines that were read, numbered and coloured. */
export function ReadCard({ result }: { readonly result: Extract<ToolResultView, { card: 'read' }> }) {
  const { actions } = useApp()
  const shown = result.lines.slice(0, BODY_LINES)
  const ending = /\.(\w+)$/.exec(result.path)?.[1]?.toLowerCase() ?? ''
  const first = result.lines[0]?.number
  const open = () => actions.openLocation(first === undefined ? { path: result.path } : { path: result.path, line: first })
  return (
    <>
      <CardContents content={result.content ?? []} />
      {shown.length > 0 && (
        <div class="numbered" tabIndex={0} role="group" aria-label={t('Lines of {0}', result.path)} dir="ltr">
          <pre class="numbers" aria-hidden="true">
            {shown.map(({ number }) => `${number}\n`)}
          </pre>
          <pre class="numbered-text">
            <Code text={shown.map(({ text }) => text).join('\n')} language={result.lang ?? ending} isComplete />
          </pre>
        </div>
      )}
      <BodyMore hidden={result.lines.length - shown.length} onShowAll={open} />
    </>
  )
}
