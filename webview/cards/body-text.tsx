import type { ComponentChildren } from 'preact'
import { plural, t } from '../l10n.ts'

/** Lines that an open card shows before it points to the editor. */
export const BODY_LINES = 8

export interface BodyMoreProps {
  /** Lines that are not shown. */
  readonly hidden: number
  readonly onShowAll?: (() => void) | undefined
}

/** Under a body that is cut: how much more there is, and the way to it. */
export function BodyMore({ hidden, onShowAll }: BodyMoreProps) {
  if (hidden <= 0) return null
  const count = plural(hidden, '{0} more line', '{0} more lines')
  return onShowAll === undefined ? (
    <div class="body-more">{count}</div>
  ) : (
    <button type="button" class="body-more link" onClick={onShowAll}>
      {t('{0}, show all in editor', count)}
    </button>
  )
}

/** Plain output: its first lines, and the way to the rest. */
export function BodyText({ text, onShowAll, label }: { readonly text: string; readonly onShowAll?: (() => void) | undefined; readonly label: string }) {
  const lines = text.replace(/\n+$/, '').split('\n')
  return (
    <>
      <pre class="body-text" dir="auto" tabIndex={0} aria-label={label} role="group">
        {lines.slice(0, BODY_LINES).join('\n')}
      </pre>
      <BodyMore hidden={lines.length - BODY_LINES} onShowAll={onShowAll} />
    </>
  )
}

/** A part of a card with a small heading; null for one that stands alone. */
export const BodyPart = ({ title, children }: { readonly title: string | null; readonly children: ComponentChildren }) => (
  <div class="body-part">
    {title !== null && <div class="body-title">{title}</div>}
    {children}
  </div>
)
