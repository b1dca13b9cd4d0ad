import { afterEach, describe, expect, it } from 'vitest'
import { pieces, plural, t, useTexts } from '../../../webview/l10n.ts'
import { fileName, firstLine, formatAge, formatBytes, formatDuration, formatShare, formatTokens, hostOf } from '../../../webview/text/format.ts'

describe('durations', () => {
  for (const [ms, text] of [[0, '0 ms'], [840, '840 ms'], [3_240, '3.2 s'], [9_960, '10 s'], [59_400, '59 s'], [60_000, '1 min'], [185_000, '3 min 5 s'], [3_840_000, '1 h 4 min'], [-5, '0 ms']] as const)
    it(`${ms} ms`, () => expect(formatDuration(ms)).toBe(text))
})

describe('tokens', () => {
  for (const [tokens, text] of [[0, '0'], [950, '950'], [8_123, '8.1k'], [119_960, '120k'], [999_600, '1M'], [1_240_000, '1.2M']] as const)
    it(`${tokens}`, () => expect(formatTokens(tokens)).toBe(text))
})

describe('sizes', () => {
  for (const [bytes, text] of [[12, '12 B'], [14_500, '14 KB'], [2_400_000, '2.3 MB']] as const) it(`${bytes} bytes`, () => expect(formatBytes(bytes)).toBe(text))
})

describe('ages', () => {
  const now = Date.UTC(2026, 2, 29, 12)
  for (const [minutes, text] of [[0, 'now'], [5, '5 min'], [180, '3 h'], [1_500, 'yesterday'], [4_000, 'Mar 26']] as const)
    it(`${minutes} minutes`, () => expect(formatAge(now - minutes * 60_000, now, 'en')).toBe(text))
})

describe('names', () => {
  it('of a path', () => expect([fileName('a/b.ts'), fileName('a\\b.ts'), fileName('a/b/'), fileName('/')]).toEqual(['b.ts', 'b.ts', 'b', '/']))
  it('of a host', () => expect([hostOf('https://a.example.org:8/x'), hostOf('no address')]).toEqual(['a.example.org:8', 'no address']))
})

describe('a first line', () => {
  it('is the first that says something', () => expect(firstLine('\n  \n one \n two', 10)).toBe('one'))
  it('is cut between characters', () => expect(firstLine('🎉🎉🎉', 2)).toBe('🎉🎉…'))
})

describe('texts', () => {
  afterEach(() => useTexts({}))
  it('stay English without a translation', () => expect(t('Ran {0}', 'ls')).toBe('Ran ls'))
  it('are translated with their places', () => {
    useTexts({ 'Read {0} {1}': '{0} {1} gelesen', '{0} files': '{0} Dateien' })
    expect([t('Read {0} {1}', 'a.ts', '1–2'), plural(2, '{0} file', '{0} files'), pieces('Read {0} {1}')]).toEqual(['a.ts 1–2 gelesen', '2 Dateien', [0, ' ', 1, ' gelesen']])
  })
  it('leave a value that looks like a place alone', () => expect(t('Ran {0}', 'echo {1}')).toBe('Ran echo {1}'))
})

describe('shares', () => {
  it.each([
    [1, 3, '33%'],
    [1, 1000, '<1%'],
    [0, 5, '0%'],
    [5, 0, '0%'],
  ])('%d of %d', (part, whole, text) => expect(formatShare(part, whole)).toBe(text))
})
