import { signal } from '@preact/signals'
import { render } from 'preact'
import type { PageHostMessage, PageKey, PageMessage, PageView } from '../../extension/protocol/editor-page.ts'
import { PROTOCOL_VERSION } from '../../extension/protocol/messages.ts'
import { ErrorBoundary } from '../components/error-boundary.tsx'
import { t } from '../l10n.ts'
import { createTickingClock } from '../store/ticking-clock.ts'
import teamStyles from '../styles/team.css' with { type: 'text' }
import workflowStyles from '../styles/workflow.css' with { type: 'text' }
import type { VscodeApi } from '../vscode-api.ts'
import { TeamPage } from './team-page.tsx'
import { WorkflowPage } from './workflow-page.tsx'

/** Draw a page of the editor area: it shows the newest view that the host said and sends what the person wants. */
export function drawPage(key: PageKey, vscode: VscodeApi): void {
  // They come with this part of the script, so that the chat does not load what it never shows.
  document.adoptedStyleSheets.push(...[teamStyles, workflowStyles].map(styleSheetOf))
  const post: (message: PageMessage) => void = vscode.postMessage.bind(vscode)
  const view = signal<PageView | null>(null)
  const isForeign = signal(false)
  const now = createTickingClock(Date.now)
  // By this the editor knows after a reload of the window what the page was about.
  vscode.setState({ page: key })
  // Only the host can post to this page: its frame accepts messages from nowhere else.
  window.addEventListener('message', ({ data }: MessageEvent<PageHostMessage>) => {
    if (data.version === PROTOCOL_VERSION) view.value = data.view
    else isForeign.value = true
  })
  const onError = (text: string) => post({ type: 'view-error', text: text.slice(0, 20_000) })
  window.addEventListener('error', ({ message }) => onError(message))
  const Page = () => {
    if (isForeign.value) return <p class="page-empty">{t('Bosun was updated')}</p>
    const shown = view.value
    if (shown === null) return <div class="loading" role="progressbar" aria-label={t('Loading')} />
    return shown.kind === 'team' ? <TeamPage board={shown.board} post={post} /> : <WorkflowPage run={shown.run} post={post} now={now} />
  }
  const root = document.getElementById('root')
  if (root !== null)
    render(
      <ErrorBoundary scope="view" onError={onError} onReload={() => post({ type: 'reload-view' })}>
        <Page />
      </ErrorBoundary>,
      root,
    )
  post({ type: 'ready', version: PROTOCOL_VERSION })
}

function styleSheetOf(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  return sheet
}
