import { describe, expect, it } from 'vitest'
import { changesOf, commentsOf, feedbackWords, lineOf } from '../../../../extension/features/plan/plan-words.ts'

describe('what the person did to a plan, in words for the model', () => {
  it('a patch of what changed, nothing for blank ends', () => {
    expect([changesOf('# P\na\nb\n', '# P\na\nc\n'), changesOf('# P\n', '# P')]).toEqual(['@@ -1,3 +1,3 @@\n # P\n a\n-b\n+c', ''])
  })
  it('a plan that was written anew is one change, said at once', () => {
    const lines = (word: string) => Array.from({ length: 8_000 }, (_, index) => `${word} ${index}`)
    const begin = performance.now()
    const words = changesOf(['# P', ...lines('old'), 'end'].join('\n'), ['# P', ...lines('new'), 'end'].join('\n')).split('\n')
    expect(performance.now() - begin).toBeLessThan(20_000)
    expect([words[0], words[1], words.at(-1), words.length]).toEqual(['@@ -2,8000 +2,8000 @@', '-old 0', '+new 7999', 16_001])
  })
  it('comments in the order of the lines, with the nearest heading over each', () => {
    const plan = '# P\n\nintro\n\n## Steps\n1. one\n2. two'
    const at = (line: number, quote: string, text: string) => ({ id: text, line, quote, text })
    expect(commentsOf(plan, [at(7, '2. two', 'B'), at(3, 'intro', 'A\n'), at(2, '', 'C')])).toBe('- P, line 2: C\n- P, line 3 (“intro”): A\n- Steps, line 7 (“2. two”): B')
  })
  const rows: readonly [name: string, lines: string[], line: number, quote: string, found: number][] = [
    ['where it was', ['a', 'b'], 2, 'b', 2],
    ['moved down', ['new', 'a', 'b'], 2, 'b', 3],
    ['the nearest of several', ['b', 'x', 'x', 'x', 'b'], 4, 'b', 5],
    ['gone: where it was', ['a', 'c'], 2, 'b', 2],
    ['gone with the end of the text', ['a'], 9, 'b', 1],
  ]
  it.each(rows)('a commented line is found: %s', (_name, lines, line, quote, found) => expect(lineOf(lines, { line, quote })).toBe(found))
  it('a refusal keeps the person’s words as they are, and leaves out what is not there', () => {
    expect([feedbackWords({ words: ' So? ', comments: '', changes: '' }), feedbackWords({ words: '', comments: '- x', changes: '@@' })]).toEqual([' So? ', 'Comments on the plan:\n- x\n\nThe person changed the plan:\n@@'])
  })
})
