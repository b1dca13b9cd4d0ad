import { expect, it } from 'vitest'
import { bodyOf, listed, writtenJson, type BodyPiece } from '../../../../extension/models/wire/body.ts'

const read = (pieces: readonly BodyPiece[]) => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bodyOf(pieces))) as unknown

it.each<[string, readonly BodyPiece[], unknown]>([
  ['text alone', ['{"a":', '1}'], { a: 1 }],
  ['what was written, between text', ['{"list":[', ...listed([writtenJson({ text: 'é 世界 😀' }), '2', writtenJson(null)]), ']}'], { list: [{ text: 'é 世界 😀' }, 2, null] }],
  ['one in a list', ['[', ...listed([writtenJson('one')]), ']'], ['one']],
  ['an empty list', ['[', ...listed([]), ']'], []],
  ['halves of characters, in either kind of piece', ['[', ...listed([writtenJson('a\ud83d'), JSON.stringify('\ude00b')]), ']'], ['a\ufffd', '\ufffdb']],
])('a body of pieces: %s', (_, pieces, value) => expect(read(pieces)).toEqual(value))

it('takes pieces as they are and leaves them as they were, so that they go into the next body too', () => {
  const piece = writtenJson({ n: 1 })
  expect([read(['[', piece, ']']), read(['[', ...listed([piece, piece]), ']'])]).toEqual([[{ n: 1 }], [{ n: 1 }, { n: 1 }]])
})
