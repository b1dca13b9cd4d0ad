import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { escapeTo } from './form-keys.ts'

export interface BubbleProps {
  readonly label: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A small box under the button that opened it. Escape, or a click elsewhere, closes it. */
export function Bubble({ label, onClose, children }: BubbleProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    box.current?.focus()
    const onDown = (event: Event) => {
      if (box.current?.parentElement?.contains(event.target as Node) !== true) onClose()
    }
    document.addEventListener('pointerdown', onDown)
    return () => {
      document.removeEventListener('pointerdown', onDown)
      if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return (
    <div
      class="bubble"
      role="dialog"
      aria-label={label}
      tabIndex={-1}
      ref={box}
      onKeyDown={escapeTo(onClose)}
    >
      {children}
    </div>
  )
}
