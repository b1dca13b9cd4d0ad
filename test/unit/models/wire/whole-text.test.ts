import { expect, it } from 'vitest'
import { wholeText } from '../../../../extension/models/wire/whole-text.ts'

/** What a provider reads of a text that was sent. */
const read = (text: unknown) => JSON.parse(wholeText(JSON.stringify(text))) as unknown

it.each<[string, unknown, unknown]>([
  ['plain text', 'a "b" \\ c', 'a "b" \\ c'],
  ['whole characters', '😀 é', '😀 é'],
  ['the first half of one', 'a\ud83d', 'a\ufffd'],
  ['the second half of one', '\ude00b', '\ufffdb'],
  ['halves in the wrong order', '\ude00\ud83d', '\ufffd\ufffd'],
  ['a half before a whole one', '\ud83d😀', '\ufffd😀'],
  ['halves of keys', { 'k\udead': ['\ud800'] }, { 'k\ufffd': ['\ufffd'] }],
  ['words that only look like one', '\\ud83d and \\\\uDE00', '\\ud83d and \\\\uDE00'],
  ['a half behind a backslash', '\\\ud83d', '\\\ufffd'],
])('a request has whole characters only: %s', (_, text, sent) => expect(read(text)).toEqual(sent))

it('leaves a character that a model wrote as its two halves, and is the same text where there is nothing to do', () => {
  const written = '{"a":"\\uD83D\\uDE00","b":"\\ud83d\\ude00"}'
  expect([wholeText(written), JSON.parse(wholeText('{"a":"\\uD83D"}'))]).toEqual([written, { a: '\ufffd' }])
})
