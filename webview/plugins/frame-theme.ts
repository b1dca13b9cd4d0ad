import { language } from '../l10n.ts'
import type { FrameTheme } from './frame-messages.ts'

/** The editor writes its theme into the style of the page and the classes of its body. */
export function readTheme(): FrameTheme {
  const { style } = document.documentElement
  const names = Array.from(style).filter((name) => name.startsWith('--vscode-'))
  return { classes: document.body.className, language: language(), variables: Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)])) }
}

/** Call `listener` at each change of the theme until the undo is called. */
export function onThemeChanged(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributeFilter: ['style'] })
  observer.observe(document.body, { attributeFilter: ['class'] })
  return () => observer.disconnect()
}

/** Scripts of the page's frames need it too. Empty in a page without one. */
export const pageNonce = (): string => document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
