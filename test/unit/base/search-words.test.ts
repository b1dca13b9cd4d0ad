import { describe, expect, it } from 'vitest'
import { countPhrase, foldWords, snippetAround } from '../../../extension/base/search-words.ts'

describe('words', () => {
  it.each([
    ['Hello, World', 'hello world'],
    ['  a\n\tb-c_d ', 'a b c d'],
    ['Crème brûlée', 'creme brulee'],
    ['e\u0301te\u0301', 'ete'],
    ['ﬁne Ⅷ', 'fine viii'],
    ['修复 fix测试', '修 复 fix 测 试'],
    ['日本語テキスト', '日 本 語 テ キ ス ト'],
    ['한국어 검색', '한국어 검색'.normalize('NFKD')],
    ['—…«»', ''],
    ['', ''],
    [`${'x'.repeat(200)} y`, `${'x'.repeat(128)} y`],
    [`${'é'.repeat(200)} y`, `${'e'.repeat(128)} y`],
  ])('%j folds to %j', (text, folded) => expect(foldWords(text)).toBe(folded))
  it('folds what was folded to itself', () => {
    for (const text of ['Hello, World', 'Crème brûlée', '修复 fix测试', '한국어']) expect(foldWords(foldWords(text))).toBe(foldWords(text))
  })
})

it.each([
  ['a b a', 'a', 'words', 2],
  ['ab a', 'a', 'words', 1],
  ['a a a', 'a a', 'words', 2],
  ['ab abc', 'ab', 'prefix', 2],
  ['xab ab', 'ab', 'prefix', 1],
  ['xab ab', 'ab', 'substring', 2],
  ['', 'a', 'words', 0],
] as const)('in %j the phrase %j stands as %s %i times', (text, phrase, mode, count) => expect(countPhrase(text, phrase, mode)).toBe(count))

describe('a snippet', () => {
  it.each([
    ['short', 'short', 20, 'short'],
    ['one two three four five six', 'four', 12, '…ee four fi…'],
    ['no such word here', 'absent', 10, 'no such w…'],
    ['line one\n\nline two', 'two', 40, 'line one line two'],
  ])('of %j around %j in %i characters is %j', (text, phrase, max, cut) => expect(snippetAround(text, phrase, 'words', max)).toBe(cut))
  it('holds at most as many code points as it may, whatever they are', () => {
    for (const text of ['😀'.repeat(500), `${'a '.repeat(400)}needle${' b'.repeat(400)}`, `\n\n   needle${' \n'.repeat(90)}end`, `${' '.repeat(500)}needle`])
      for (const max of [3, 10, 240]) expect(Array.from(snippetAround(text, 'needle', 'words', max)).length).toBeLessThanOrEqual(max)
  })
})
