import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { elementSpans, jsonSpan } from '../../../extension/base/json-span.ts'

const at = (json: string, ...path: readonly (string | number)[]) => {
  const span = jsonSpan(json, path)
  return span && json.slice(span.start, span.end)
}

describe('the place of a value', () => {
  const json = ' {"a" : [1, {"b":"x]}\\"" , "b": [ ] }, "é\\n",true ] ,\n"a\\u0062": -1.5e3, "": null}\n'
  it.each([
    [[], json.trim()],
    [['a', 0], '1'],
    [['a', 1, 'b'], '[ ]'],
    [['a', 2], '"é\\n"'],
    [['a', 3], 'true'],
    [['ab'], '-1.5e3'],
    [[''], 'null'],
    [['a', 9], undefined],
    [['a', 'b'], undefined],
    [['none'], undefined],
    [['ab', 0], undefined],
  ])('%j', (path, value) => expect(at(json, ...path)).toBe(value))
  it('of elements', () => expect(elementSpans('[ 1,"a,b" , [2] ]', { start: 0, end: 17 }).map(({ start, end }) => '[ 1,"a,b" , [2] ]'.slice(start, end))).toEqual(['1', '"a,b"', '[2]']))

  it('holds the value, in whatever JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const check = (part: unknown, path: readonly (string | number)[]): void => {
          expect(JSON.parse(at(text, ...path) ?? 'undefined')).toEqual(JSON.parse(JSON.stringify(part)))
          if (typeof part === 'object' && part !== null) for (const [key, each] of Object.entries(part)) check(each, [...path, Array.isArray(part) ? Number(key) : key])
        }
        check(value, [])
      }),
      { numRuns: 200 },
    )
  })
})
