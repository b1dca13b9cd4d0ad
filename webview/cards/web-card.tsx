import type { ToolResultView } from '../../extension/protocol/cards.ts'
import { useApp } from '../components/app-context.ts'
import { Markdown } from '../components/markdown.tsx'
import { t } from '../l10n.ts'
import { hostOf } from '../text/format.ts'
import { BodyText } from './body-text.tsx'

/** Pages that were found or fetched. Opening one asks first. */
export function WebCard({ result, output, onShowAll }: { readonly result: Extract<ToolResultView, { card: 'web' }>; readonly output: string | null; readonly onShowAll: () => void }) {
  if (result.kind === 'fetch') {
    return (
      <>
        <WebLink url={result.url} text={result.url} />
        {output !== null && output !== '' && <BodyText text={output} label={t('Content')} onShowAll={onShowAll} />}
      </>
    )
  }
  return (
    <>
      {result.answer !== undefined && <Markdown text={result.answer} isStreaming={false} />}
      <ol class="sources">
        {result.sources.map(({ url, title, snippet, publishedAt }) => (
          <li key={url}>
            <WebLink url={url} text={title ?? url} />
            <span class="source-host">{[hostOf(url), publishedAt].filter((part) => part !== undefined).join(' · ')}</span>
            {snippet !== undefined && (
              <div class="source-snippet" dir="auto">
                {snippet}
              </div>
            )}
          </li>
        ))}
      </ol>
      {result.truncated && <div class="body-more">{t('There were more results than are shown.')}</div>}
    </>
  )
}

function WebLink({ url, text }: { readonly url: string; readonly text: string }) {
  const { actions } = useApp()
  return (
    <button type="button" class="link web-link" title={url} dir="auto" onClick={() => actions.openLink(url)}>
      {text}
    </button>
  )
}
