import { expect, it } from 'vitest'
import fc from 'fast-check'
import { utf8Length } from '../../../../extension/base/text.ts'
import { brief, catalogueOf } from '../../../../extension/features/skills/catalogue.ts'
import type { Skill } from '../../../../extension/features/skills/service.ts'

const skill = (name: string, description: string): Skill => ({ name, description, isForModel: true, isForPerson: true, origin: 'project', path: `/w/${name}` })

it.each([
  ['a short text as it is', 'one', 5, 'one'],
  ['white space as one blank', ' a\n\n b\t', 5, 'a b'],
  ['exactly the limit', 'abcde', 5, 'abcde'],
  ['one too many', 'abcdef', 5, 'abcd…'],
  ['pairs whole', '😀😀😀', 3, '😀😀😀'],
  ['a pair too many', '😀😀😀😀', 3, '😀😀…'],
  ['half a pair', 'a\ud83d', 5, 'a\ufffd'],
])('keeps %s', (_name, text, max, expected) => expect(brief(text, max)).toBe(expected))

it('never has more bytes than it may, and names or counts every skill', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 700 }), { minLength: 1, maxLength: 60 }), fc.integer({ min: 1000, max: 20_000 }), (texts, maxBytes) => {
      const { text, count, omittedCount } = catalogueOf(texts.map((words, at) => skill(`s${at}`, words)), maxBytes)
      const lines = text.split('\n').filter((line) => line.startsWith('- s'))
      expect(utf8Length(text)).toBeLessThanOrEqual(maxBytes)
      expect([count, lines.length + omittedCount]).toEqual([texts.length, texts.length])
      expect(text.match(/<\/skills>/g)).toHaveLength(1)
    }),
    { numRuns: 100 },
  )
})
