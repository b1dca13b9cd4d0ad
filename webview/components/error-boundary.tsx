import { Component, type ComponentChildren } from 'preact'
import { messageOf } from '../../extension/base/message-of.ts'
import { t } from '../l10n.ts'

export interface ErrorBoundaryProps {
  readonly children: ComponentChildren
  /** What could not be drawn, as the end of a sentence; `view` fills the panel. */
  readonly scope: 'row' | 'view'
  readonly onError: (text: string) => void
  readonly onReload: () => void
  /** A new value tries again. */
  readonly resetOn?: unknown
}

/** Keeps a failure in what it draws: the rest of the panel goes on, and the person can load the view anew. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly message: string | null }> {
  override state = { message: null }

  override componentDidCatch(error: unknown): void {
    this.props.onError(error instanceof Error ? `${error.message}\n${error.stack ?? ''}` : String(error))
    this.setState({ message: messageOf(error) })
  }

  override componentDidUpdate(before: ErrorBoundaryProps): void {
    if (before.resetOn !== this.props.resetOn && this.state.message !== null) this.setState({ message: null })
  }

  override render() {
    const { children, scope, onReload } = this.props
    if (this.state.message === null) return children
    return (
      <div class={`broken broken-${scope}`} role="alert">
        <span class="codicon codicon-warning" aria-hidden="true" />
        <span class="broken-text" title={this.state.message}>
          {scope === 'row' ? t('This part could not be drawn. Nothing is lost.') : t('The view could not be drawn. Nothing is lost.')}
        </span>
        <button type="button" class="button-secondary" onClick={onReload}>
          {t('Reload view')}
        </button>
      </div>
    )
  }
}
