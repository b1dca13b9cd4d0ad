import { expect, it } from 'vitest'
import { stableStringify } from '../../../extension/base/stable-stringify.ts'

it('is equal for objects that differ in key order only', () =>
  expect(stableStringify({ b: 1, a: [{ d: null, c: 'x' }] })).toBe('{"a":[{"c":"x","d":null}],"b":1}'))
it('keeps the order of arrays', () => expect(stableStringify([2, 1])).toBe('[2,1]'))
it('keeps a key called __proto__', () => expect(stableStringify(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}'))
