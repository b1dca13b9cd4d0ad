import type { FileLocation } from '../../extension/protocol/cards.ts'

const withLine = /^(.+?)(?:#L(\d+)(?:-L?\d+)?|:(\d+)(?::\d+)?(?:-\d+)?)?$/

/** A path with an optional line, as models and tools write them: `a.ts`, `a.ts:12`, `a.ts:12:3`, `a.ts#L12`. */
export function locationFrom(text: string): FileLocation {
  const match = withLine.exec(text)
  const line = Number(match?.[2] ?? match?.[3])
  return match?.[1] !== undefined && line >= 1 ? { path: match[1], line } : { path: match?.[1] ?? text }
}

/** True for inline code that is most likely a file: it has a folder or a line, and a name with an ending. */
export const looksLikeFile = (text: string): boolean =>
  text.length <= 300 && /^(?=.*(?:[/\\]|:\d))(?:[A-Za-z]:)?[\w.@~+\-/\\[\]()]*\w\.[A-Za-z]\w{0,9}(?::\d+(?::\d+)?|#L\d+)?$/.test(text)

const scheme = /^[a-z][a-z0-9+.-]+:/i

/** What a link in a message leads to: a page outside, a file here, or nothing that may be opened. */
export function linkTarget(href: string): { readonly url: string } | { readonly location: FileLocation } | null {
  const trimmed = href.trim()
  if (/^(?:https?|mailto|vscode|vscode-insiders):/i.test(trimmed)) return { url: trimmed }
  if (/^file:\/\//i.test(trimmed)) return { location: locationFrom(decoded(trimmed.replace(/^file:\/\/(?:localhost)?/i, ''))) }
  // A drive letter is one letter; everything longer before a colon names a scheme that is not for us.
  if (scheme.test(trimmed) && !/^[^:]+\.\w+:\d/.test(trimmed)) return null
  return trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith('//') ? null : { location: locationFrom(decoded(trimmed)) }
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    // A stray percent sign is part of the name.
    return path
  }
}
