import { useLayoutEffect, useRef } from 'preact/hooks'
import type { CompletionItem } from '../../extension/protocol/messages.ts'
import { t } from '../l10n.ts'
import { useApp } from './app-context.ts'
import { Icon } from './icon.tsx'

export const COMPLETIONS_ID = 'completions'
export const completionId = (index: number): string => `${COMPLETIONS_ID}-${index}`

/** What may be meant, over the box. The focus stays in the box; the box says which line is active. */
export function CompletionList({ onPick }: { readonly onPick: (index: number) => void }) {
  const { completion } = useApp()
  const items = completion.items.value
  const active = completion.active.value
  const query = completion.query.value
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  }, [active, items])
  if (items.length === 0) return null
  return (
    <div
      class="completions"
      id={COMPLETIONS_ID}
      role="listbox"
      aria-label={completion.kind.value === '/' ? t('Commands') : t('What to refer to')}
      // For those who read by other means than keys and mouse; Tab takes the active line, and a click leaves the focus in the box.
      tabIndex={0}
      onMouseDown={(event) => event.preventDefault()}
      ref={list}
    >
      {items.map((item, index) => (
        <div
          key={`${item.insert} ${item.detail}`}
          id={completionId(index)}
          class={index === active ? 'completion is-active' : 'completion'}
          role="option"
          aria-selected={index === active}
          title={item.detail === '' ? item.label : `${item.label}: ${item.detail}`}
          // The box keeps the focus.
          onPointerDown={(event) => event.preventDefault()}
          onPointerMove={() => completion.point(index)}
          onClick={() => onPick(index)}
        >
          <Icon name={item.icon} />
          <span class="completion-label">
            <Matched text={item.label} query={query} />
          </span>
          <Detail item={item} />
        </div>
      ))}
    </div>
  )
}

/** A path loses its middle, words lose their end: what tells two lines apart stays. */
function Detail({ item: { kind, detail } }: { readonly item: CompletionItem }) {
  if (detail === '') return null
  if (kind !== 'file' && kind !== 'folder' && kind !== 'symbol') return <span class="completion-detail">{detail}</span>
  const cut = detail.lastIndexOf('/')
  return (
    <span class="completion-detail is-path" dir="ltr">
      {cut > 0 && <span class="completion-folder">{detail.slice(0, cut)}</span>}
      <span>{cut > 0 ? detail.slice(cut) : detail}</span>
    </span>
  )
}

/** The letters that were typed stand out, where they stand together. */
function Matched({ text, query }: { readonly text: string; readonly query: string }) {
  const words = query.slice(query.lastIndexOf('/') + 1).replace(/^\w+:/, '')
  const at = words === '' ? -1 : text.toLowerCase().indexOf(words.toLowerCase())
  if (at === -1) return <>{text}</>
  return (
    <>
      {text.slice(0, at)}
      <b>{text.slice(at, at + words.length)}</b>
      {text.slice(at + words.length)}
    </>
  )
}
