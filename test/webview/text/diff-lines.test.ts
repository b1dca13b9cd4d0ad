import { describe, expect, it } from 'vitest'
import { diffBody, type DiffLine } from '../../../webview/text/diff-lines.ts'

/** Lines as text: sign, number, words, changed words in brackets. */
const shown = (line: DiffLine): string => {
  if (line.kind === 'gap') return `… ${line.count}`
  if (line.kind === 'same') return `  ${line.oldNumber}/${line.newNumber} ${line.text}`
  const words = line.pieces.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')
  return line.kind === 'removed' ? `- ${line.oldNumber} ${words}` : `+ ${line.newNumber} ${words}`
}
const check = (oldText: string | null, newText: string, lines: readonly string[], starts: { oldStart?: number; newStart?: number } = {}) =>
  expect(diffBody({ path: 'a', oldText, newText, ...starts }).lines.map(shown)).toEqual(lines)

describe('word marks', () => {
  it('show what changed within a line', () =>
    check('const d = new Date(2026, 2, 29)\n', 'const d = new Date(Date.UTC(2026, 2, 29))\n', ['- 1 const d = new Date(2026, 2, 29)', '+ 1 const d = new Date([Date.UTC(]2026, 2, 29)[)]']))
  it('find the line that became another among several', () =>
    check('  const d = local()\n', '  // About zones.\n  const d = utc()\n', ['- 1   const d = [local]()', '+ 1   // About zones.', '+ 2   const d = [utc]()']))
  it('are left out for lines that have little in common', () => check('alpha beta\n', 'one two three\n', ['- 1 alpha beta', '+ 1 one two three']))
  it('are left out for very long lines', () => check(`${'x '.repeat(300)}a\n`, `${'x '.repeat(300)}b\n`, [`- 1 ${'x '.repeat(300)}a`, `+ 1 ${'x '.repeat(300)}b`]))
})

describe('numbers', () => {
  it('begin where the region begins', () => check('a\nb\n', 'a\nc\nb\n', ['  10/20 a', '+ 21 c', '  11/22 b'], { oldStart: 10, newStart: 20 }))
  it('count a new file from one', () => check(null, 'a\nb\n', ['+ 1 a', '+ 2 b']))
  it('count a deleted one', () => check('a\nb', '', ['- 1 a', '- 2 b']))
})

it('leaves out unchanged lines far from a change', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`)
  check(lines.join('\n'), lines.with(14, 'other').join('\n'), [
    '… 11',
    ...[12, 13, 14].map((number) => `  ${number}/${number} line ${number}`),
    '- 15 line 15',
    '+ 15 other',
    ...[16, 17, 18].map((number) => `  ${number}/${number} line ${number}`),
    '… 12',
  ])
})

it('counts', () => {
  const { added, removed } = diffBody({ path: 'a', oldText: 'a\nb\nc\n', newText: 'a\nx\ny\nc\n' })
  expect({ added, removed }).toEqual({ added: 2, removed: 1 })
})

it('takes any line end', () => check('a\r\nb\r\n', 'a\r\nc\r\n', ['  1/1 a', '- 2 b', '+ 2 c']))

it('shows a region that is too large to compare as gone and come', () => {
  const { added, removed } = diffBody({ path: 'a', oldText: 'old line\n'.repeat(30_000), newText: 'new line\n'.repeat(30_000) })
  expect({ added, removed }).toEqual({ added: 30_000, removed: 30_000 })
})
