import { expect, it } from 'vitest'
import { visibleText } from '../../../extension/base/visible-text.ts'

it.each([
  ['npm test -- été 漢字 مرحبا 🎉', 'npm test -- été 漢字 مرحبا 🎉'],
  ['one\n\ttwo', 'one\n\ttwo'],
  ['rm \u202egpj.exe', 'rm \\u{202e}gpj.exe'],
  ['a\u200bb\u2066c\ufeffd', 'a\\u{200b}b\\u{2066}c\\u{feff}d'],
  ['a\rb\u001b[8m', 'a\\u{d}b\\u{1b}[8m'],
  ['tag \u{e0041}', 'tag \\u{e0041}'],
])('%j is seen as %j', (text, seen) => expect(visibleText(text)).toBe(seen))
