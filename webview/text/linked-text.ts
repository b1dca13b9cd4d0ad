import type { FileLocation } from '../../extension/protocol/cards.ts'
import { locationFrom, looksLikeFile } from './file-path.ts'

export type TextPart =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'file'; readonly text: string; readonly location: FileLocation }
  | { readonly kind: 'url'; readonly text: string; readonly url: string }

/** A line of plain words with what can be opened in it: files with a folder or a line, web addresses; marked code as code. */
export function linkedParts(line: string): readonly TextPart[] {
  const parts: TextPart[] = []
  const plain = (text: string) => {
    const last = parts.at(-1)
    if (last?.kind === 'text') parts[parts.length - 1] = { kind: 'text', text: last.text + text }
    else if (text !== '') parts.push({ kind: 'text', text })
  }
  for (const piece of line.match(/`[^`]+`|\s+|[^\s`]+|`/g) ?? []) {
    const code = /^`([^`]+)`$/.exec(piece)?.[1]
    if (code !== undefined) {
      parts.push(looksLikeFile(code) ? { kind: 'file', text: code, location: locationFrom(code) } : { kind: 'code', text: code })
      continue
    }
    // Signs around a word are not of it.
    const [, before = '', word = '', after = ''] = /^([("'“‘[]*)(.*?)([)"'”’\],.;!?:]*)$/s.exec(piece) ?? []
    const part = linkIn(word)
    if (part === null) plain(piece)
    else {
      plain(before)
      parts.push(part)
      plain(after)
    }
  }
  return parts
}

function linkIn(word: string): TextPart | null {
  if (/^https?:\/\/\S+$/i.test(word)) return { kind: 'url', text: word, url: word }
  return looksLikeFile(word) ? { kind: 'file', text: word, location: locationFrom(word) } : null
}
