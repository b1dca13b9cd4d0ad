import { expect, it } from 'vitest'
import type { FileVersion } from '../../../../extension/capabilities/file-system.ts'
import { createSeenTexts } from '../../../../extension/features/observation/seen-texts.ts'

const version = (name: string) => name as FileVersion

it('keeps as many characters as it may, and lets go of what was used least recently', () => {
  const texts = createSeenTexts(10)
  for (const name of ['a', 'b', 'c']) texts.keep(version(name), name.repeat(3))
  expect(texts.get(version('a'))).toBe('aaa')
  texts.keep(version('d'), 'dddd')
  expect(['a', 'b', 'c', 'd'].map((name) => texts.get(version(name)))).toEqual(['aaa', undefined, 'ccc', 'dddd'])
})
it('counts a version that is kept again once, and keeps nothing that is too long alone', () => {
  const texts = createSeenTexts(10)
  for (let round = 0; round < 5; round += 1) texts.keep(version('a'), 'aaaa')
  texts.keep(version('b'), 'bbbb')
  texts.keep(version('long'), 'x'.repeat(11))
  expect(['a', 'b', 'long'].map((name) => texts.get(version(name)))).toEqual(['aaaa', 'bbbb', undefined])
})
