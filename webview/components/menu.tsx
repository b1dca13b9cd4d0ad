import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

export interface MenuEntry {
  readonly label: string
  readonly icon?: string
  readonly isDangerous?: boolean
  readonly onPick: () => void
}

export interface MenuProps {
  readonly label: string
  readonly entries: readonly MenuEntry[]
  readonly onClose: () => void
  readonly align?: 'start' | 'end'
  readonly opens?: 'up' | 'down'
}

/** A list of things to do, under or over the button that opened it. Arrows move, Escape closes and gives the focus back. */
export function Menu({ label, entries, onClose, align = 'end', opens = 'down' }: MenuProps) {
  const list = useRef<HTMLDivElement>(null)
  const opener = useRef<Element | null>(null)
  useLayoutEffect(() => {
    opener.current = document.activeElement
    items(list.current)[0]?.focus()
  }, [])
  useEffect(() => {
    const onDown = (event: Event) => {
      if (list.current?.parentElement?.contains(event.target as Node) !== true) onClose()
    }
    document.addEventListener('pointerdown', onDown)
    return () => document.removeEventListener('pointerdown', onDown)
  }, [onClose])
  const close = () => {
    onClose()
    focusOn(opener.current)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const all = items(list.current)
    const at = all.indexOf(document.activeElement as HTMLElement)
    const moves: Readonly<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }
    const next = moves[event.key]
    if (event.key === 'Escape' || event.key === 'Tab') close()
    else if (next !== undefined) all[next % all.length]?.focus()
    else return
    event.stopPropagation()
    event.preventDefault()
  }
  return (
    <div class={`menu menu-${align} menu-${opens}`} role="menu" aria-label={label} ref={list} onKeyDown={onKeyDown}>
      {entries.map((entry) => (
        <button
          key={entry.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          class={entry.isDangerous === true ? 'menu-item is-dangerous' : 'menu-item'}
          onClick={() => {
            close()
            entry.onPick()
          }}
        >
          {entry.icon !== undefined && <span class={`codicon codicon-${entry.icon}`} aria-hidden="true" />}
          <span>{entry.label}</span>
        </button>
      ))}
    </div>
  )
}

/** A button and the menu or bubble that it opens, placed together; a wide one is placed by the bar the button stands in. */
export const MenuAnchor = ({ children, isWide = false }: { readonly children: ComponentChildren; readonly isWide?: boolean }) => (
  <span class={isWide ? 'menu-anchor is-wide' : 'menu-anchor'}>{children}</span>
)

const items = (list: HTMLElement | null): readonly HTMLElement[] => [...(list?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]

/** Focus may go back to any element that takes it. */
const focusOn = (element: Element | null): void => (element instanceof HTMLElement ? element.focus() : undefined)
