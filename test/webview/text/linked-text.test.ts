import { expect, it } from 'vitest'
import { linkedParts, type TextPart } from '../../../webview/text/linked-text.ts'

const file = (text: string, path: string, line?: number): TextPart => ({ kind: 'file', text, location: line === undefined ? { path } : { path, line } })
const words = (text: string): TextPart => ({ kind: 'text', text })
const url = (text: string): TextPart => ({ kind: 'url', text, url: text })

const rows: readonly [name: string, line: string, parts: readonly TextPart[]][] = [
  ['plain words are one part', 'Run the whole suite', [words('Run the whole suite')]],
  ['a file in a folder', 'Mend src/a.ts now', [words('Mend '), file('src/a.ts', 'src/a.ts'), words(' now')]],
  ['the place of a problem, with signs around it', 'See (src/a.ts:12:5).', [words('See ('), file('src/a.ts:12:5', 'src/a.ts', 12), words(').')]],
  ['marked code that is a file', 'In `src/a.ts:3`', [words('In '), file('src/a.ts:3', 'src/a.ts', 3)]],
  ['marked code that is none', 'Use `Date.UTC(2026)`', [words('Use '), { kind: 'code', text: 'Date.UTC(2026)' }]],
  ['a web address', 'See https://ci.example/412, then go on', [words('See '), url('https://ci.example/412'), words(', then go on')]],
  ['an address of another kind is words', 'javascript:alert(1) command:x', [words('javascript:alert(1) command:x')]],
  ['a lone mark is a sign', 'a ` b', [words('a ` b')]],
  ['nothing', '', []],
]
it.each(rows)('%s', (_name, line, parts) => expect(linkedParts(line)).toEqual(parts))
