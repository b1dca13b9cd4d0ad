import { expect, it } from 'vitest'
import { messageOf } from '../../../extension/base/message-of.ts'

it.each([
  [new Error('No room.'), 'No room.'],
  [new TypeError(''), ''],
  ['plain', 'plain'],
  [undefined, 'undefined'],
  [404, '404'],
])('says of %o %s', (thrown, words) => expect(messageOf(thrown)).toBe(words))
