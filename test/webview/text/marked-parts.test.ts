import { expect, it } from 'vitest'
import { markedParts } from '../../../webview/text/marked-parts.ts'

it.each<[string, readonly string[], string]>([
  ['the Needle in hay', ['needle'], 'the [Needle] in hay'],
  ['a (b) c', ['(b)'], 'a [(b)] c'],
  ['one two', ['two', 'one'], '[one] [two]'],
  ['nothing', ['x'], 'nothing'],
  ['no words', [], 'no words'],
])('%j with %j', (text, words, marked) => expect(markedParts(text, words).map((part) => (part.isMarked ? `[${part.text}]` : part.text)).join('')).toBe(marked))
