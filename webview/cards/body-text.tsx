import type { ComponentChildren } from 'preact'
import { Code } from '../components/code-block.tsx'
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
export function BodyText({ text, onShowAll, label, language }: { readonly text: string; readonly onShowAll?: (() => void) | undefined; readonly label: string; /** Of code. */ readonly language?: string | undefined }) {
  const { shown, hidden } = firstLines(text)
  return (
    <>
      <pre class="body-text" dir={language === undefined ? 'auto' : 'ltr'} tabIndex={0} aria-label={label} role="group">
        {language === undefined ? shown : <Code text={shown} language={language} isComplete />}
      </pre>
      <BodyMore hidden={hidden} onShowAll={onShowAll} />
    </>
  )
}

/** What an open card shows of a text, and how many lines it does not. */
export function firstLines(text: string): { readonly shown: string; readonly hidden: number } {
  const lines = text.replace(/\n+$/, '').split('\n')
  return { shown: lines.slice(0, BODY_LINES).join('\n'), hidden: Math.max(0, lines.length - BODY_LINES) }
}

/** A part of a card with a small heading; null for one that stands alone. */
export const BodyPart = ({ title, children }: { readonly title: string | null; readonly children: ComponentChildren }) => (
  <div class="body-part">
    {title !== null && <div class="body-title">{title}</div>}
    {children}
  </div>
)
