import { describe, expect, it } from 'vitest'
import { argumentsFrom, readCallArguments } from '../../../extension/base/call-arguments.ts'

describe('the arguments of a call', () => {
  const check = (text: string, value: unknown) => expect(argumentsFrom(text)).toEqual(value)
  it('are read as JSON', () => check('{"a":[1,null]}', { a: [1, null] }))
  it('are an empty object when nothing was written', () => check('', {}))
  it('are an empty object when only blanks were written', () => check(' \n', {}))
  it('are read as almost-JSON', () => check("{'a': True,}", { a: true }))
  it('are the object when a string holds it', () => check('"{\\"a\\":1}"', { a: 1 }))
  it('are the object when a string holds almost-JSON', () => check('"{a: 1}"', { a: 1 }))
  it('stay the raw text when they cannot be read', () => check('{"a":', '{"a":'))
  it('stay JSON that is no object', () => check('"x"', 'x'))
  it('keep a key named __proto__ as data', () => expect(Object.keys(argumentsFrom('{"__proto__":1}') as object)).toEqual(['__proto__']))
  it('say where the object in a string was cut', () =>
    expect(readCallArguments('"{\\"a\\": \\"b"')).toEqual({
      ok: false, isCut: true, problem: 'is a string and not an object, and the text in that string stops inside of the string that begins at character 7',
    }))
})
