import { useSignal } from '@preact/signals'
import type { SearchResultView } from '../../extension/protocol/cards.ts'
import { useApp } from '../components/app-context.ts'
import { FileLink } from '../components/file-link.tsx'
import { formatNumber, t } from '../l10n.ts'

/** Places that an open card shows at first, and with one more click. */
const FIRST_ROWS = 12
const MORE_ROWS = 200

/** What a search found, by file; a click goes there. */
export function SearchCard({ result, onOpenSearch }: { readonly result: SearchResultView; readonly onOpenSearch: () => void }) {
  const { actions } = useApp()
  const limit = useSignal(FIRST_ROWS)
  const rows = result.shape === 'paths' ? result.paths.length : result.files.reduce((sum, { matches }) => sum + matches.length + 1, 0)
  return (
    <div class="found">
      {result.shape === 'paths' ? (
        <ul class="found-paths">
          {result.paths.slice(0, limit.value).map((path) => (
            <li key={path}>
              <FileLink location={{ path }} text={path} onOpen={actions.openLocation} />
            </li>
          ))}
        </ul>
      ) : (
        <FoundFiles files={result.files} limit={limit.value} />
      )}
      {rows > limit.value && (
        <button type="button" class="body-more link" onClick={() => (limit.value += MORE_ROWS)}>
          {t('Show more')}
        </button>
      )}
      {result.truncated && rows <= limit.value && (
        <div class="body-more">{t('There is more than the {0} found: the search was cut.', formatNumber(result.total))}</div>
      )}
      {rows === 0 && <div class="body-more">{t('Nothing was found.')}</div>}
      {result.shape === 'matches' && result.query !== undefined && (
        <button type="button" class="body-more link" title={t('Search again in the editor’s own Search view')} onClick={onOpenSearch}>
          {t('Open in Search view')}
        </button>
      )}
    </div>
  )
}

type MatchFiles = Extract<SearchResultView, { shape: 'matches' }>['files']

function FoundFiles({ files, limit }: { readonly files: MatchFiles; readonly limit: number }) {
  const { actions } = useApp()
  let left = limit
  const shown = files.flatMap((file) => {
    if (left <= 1) return []
    const matches = file.matches.slice(0, left - 1)
    left -= matches.length + 1
    return [{ ...file, matches }]
  })
  return (
    <>
      {shown.map(({ path, matches }) => (
        <div class="found-file" key={path}>
          <FileLink location={{ path }} text={path} onOpen={actions.openLocation} />
          <ul class="found-matches">
            {matches.map(({ lineNumber, line, column }) => (
              <li key={lineNumber}>
                <button type="button" class="found-match" title={t('{0}, line {1}', path, lineNumber)} onClick={() => actions.openLocation({ path, line: lineNumber, ...(column !== undefined && { column }) })}>
                  <span class="line-number">{lineNumber}</span>
                  <span class="found-line" dir="ltr">
                    {line.trim().slice(0, 300)}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  )
}
