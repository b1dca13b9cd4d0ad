import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

export interface FoldLineProps {
  readonly icon: string
  readonly isRunning?: boolean
  readonly tone?: 'plain' | 'bad' | 'quiet'
  /** The whole line as words, for the button that opens it. */
  readonly name: string
  readonly text: ComponentChildren
  /** Shown on hover. */
  readonly hint?: string | undefined
  readonly outcome?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly isOpen: boolean
  /** Absent: there is nothing to open. */
  readonly onToggle?: (() => void) | undefined
  /** Drawn when open. */
  readonly children?: ComponentChildren
}

/** A line that says what happened, and opens to show it. */
export function FoldLine({ icon, isRunning = false, tone = 'plain', name, text, hint, outcome, actions, isOpen, onToggle, children }: FoldLineProps) {
  const shown = isRunning ? <Icon name="loading" spin /> : <Icon name={icon} />
  return (
    <div class={`line-block tone-${tone}${isOpen ? ' is-open' : ''}`}>
      <div class={onToggle === undefined ? 'line' : 'line can-open'} title={hint} onClick={onToggle}>
        {onToggle === undefined ? (
          <span class="line-icon">{shown}</span>
        ) : (
          <button
            type="button"
            class="line-icon line-toggle"
            aria-expanded={isOpen}
            aria-label={name}
            onClick={(event) => {
              event.stopPropagation()
              onToggle()
            }}
          >
            <span class={isRunning ? 'line-shape is-running' : 'line-shape'}>{shown}</span>
            <span class="line-chevron">
              <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
            </span>
          </button>
        )}
        <span class="line-text" dir="auto">
          {text}
        </span>
        {outcome !== undefined && <span class="line-outcome">{outcome}</span>}
        {actions !== undefined && (
          <span class="line-actions" onClick={(event) => event.stopPropagation()}>
            {actions}
          </span>
        )}
      </div>
      {isOpen && <div class="line-body">{children}</div>}
    </div>
  )
}
