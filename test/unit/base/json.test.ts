import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { deepFreeze, jsonEquals, JsonError, snapshotJson, stableStringify, stringifyJson, type Json } from '../../../extension/base/json.ts'

const nested = (depth: number): Json => {
  let value: Json = 'ground'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { in: value }
  return value
}

describe('snapshotJson accepts', () => {
  const check = (value: unknown, copy: unknown = value) => expect(snapshotJson(value)).toEqual(copy)

  it('null', () => check(null))
  it('booleans', () => check([true, false]))
  it('numbers', () => check([0, -1, 1.5, Number.MAX_VALUE]))
  it('strings, lone surrogates too', () => check(['', 'a', '\ud800']))
  it('plain objects', () => check({ a: { b: [1, { c: null }] } }))
  it('objects without prototype', () => check(Object.assign(Object.create(null), { a: 1 }), { a: 1 }))
  it('objects and arrays of another realm', () => check(runInNewContext('({ a: [1, { b: 2 }] })'), { a: [1, { b: 2 }] }))
  it('the same object in two places', () => {
    const shared = { a: 1 }
    check([shared, { shared }], [{ a: 1 }, { shared: { a: 1 } }])
  })
  it('a key called toJSON as data', () => check({ toJSON: 'text' }))

  it('__proto__ as ordinary data', () => {
    const copy = snapshotJson(JSON.parse('{"__proto__": {"polluted": true}, "a": 1}')) as Record<string, Json>
    expect(Object.keys(copy)).toEqual(['__proto__', 'a'])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(copy['polluted']).toBeUndefined()
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":true},"a":1}')
  })
  it('any depth', () => expect(stringifyJson(snapshotJson(nested(50_000))).length).toBeGreaterThan(100_000))
})

describe('snapshotJson refuses', () => {
  const check = (value: unknown, message: string) => {
    const problem = `${message}. Pass only null, booleans, strings, finite numbers, plain arrays and plain objects.`
    expect(() => snapshotJson(value, 'data')).toThrow(expect.objectContaining({ code: 'NOT_JSON', message: problem }))
  }
  class Point {
    x = 1
  }
  const circle: Record<string, unknown> = { list: [] }
  ;(circle['list'] as unknown[]).push({ circle })

  it('undefined at the root', () => check(undefined, 'data is undefined'))
  it('undefined inside', () => check({ a: [1, undefined] }, 'data.a[1] is undefined'))
  it('functions', () => check({ f: () => 1 }, 'data.f is a function'))
  it('symbols', () => check([Symbol('s')], 'data[0] is a symbol'))
  it('big integers', () => check({ n: 1n }, 'data.n is a bigint'))
  it('NaN', () => check({ n: Number.NaN }, 'data.n is NaN'))
  it('infinity', () => check({ n: Number.NEGATIVE_INFINITY }, 'data.n is -Infinity'))
  it('negative zero', () => check({ 'a b': -0 }, 'data["a b"] is negative zero'))
  it('dates', () => check({ when: new Date() }, 'data.when is an instance of Date'))
  it('maps', () => check(new Map(), 'data is an instance of Map'))
  it('class instances', () => check([new Point()], 'data[0] is an instance of Point'))
  it('instances of a class without ground', () => check(Object.create(Object.create(null) as object), 'data is an object of its own kind'))
  it('array subclasses', () => check(new (class Rows extends Array {})(), 'data is an instance of Rows'))
  it('byte arrays', () => check(new Uint8Array(1), 'data is an instance of Uint8Array'))
  it('cycles', () => expect(() => snapshotJson(circle)).toThrow(/^value\.list\[0\]\.circle.* contains itself\./))
  // oxlint-disable-next-line no-sparse-arrays -- what is tested
  it('holes', () => check([1, , 2], 'data is an array with holes or hidden elements'))
  it('extra properties of arrays', () => check(Object.assign([1], { extra: 1 }), 'data is an array with extra properties'))
  it('symbol keys', () => check({ a: { [Symbol('s')]: 1 } }, 'data.a has a symbol key'))
  it('symbol keys of arrays', () => check(Object.assign([1], { [Symbol('s')]: 1 }), 'data has a symbol key'))
  it('hidden keys', () => check(Object.defineProperty({}, 'h', { value: 1 }), 'data has the hidden key "h"'))
  it('a deep one with a short path', () => {
    let value: unknown = undefined
    for (let level = 0; level < 1000; level++) value = [value]
    expect(() => snapshotJson(value)).toThrow(/^value(\[0\]){8}…(\[0\]){8} is undefined\./)
  })
})

describe('snapshotJson', () => {
  it('detaches and freezes to the ground', () => {
    const source = { list: [{ a: 1 }], map: { b: {} } }
    const copy = snapshotJson(source) as typeof source
    source.list[0]!.a = 2
    expect(copy).toEqual({ list: [{ a: 1 }], map: { b: {} } })
    for (const part of [copy, copy.list, copy.list[0], copy.map, copy.map.b]) expect(Object.isFrozen(part)).toBe(true)
  })

  it('reads each slot once and ignores toJSON', () => {
    let reads = 0
    const source = {
      get a() {
        return ++reads
      },
      deep: [{ get b() { return ++reads } }],
    }
    expect(snapshotJson(source)).toEqual({ a: 1, deep: [{ b: 2 }] })
    expect(reads).toBe(2)
    expect(() => snapshotJson({ toJSON: () => 'other' })).toThrow('value.toJSON is a function')
  })

  it('lets the failure of an accessor through', () => {
    const failure = new Error('no')
    const source = { get a() { throw failure } }
    expect(() => snapshotJson(source)).toThrow(failure)
  })

  it('carries path and code in its error', () => {
    const error = catchError(() => snapshotJson({ a: undefined }, 'arguments'))
    expect(error).toBeInstanceOf(JsonError)
    expect(error).toMatchObject({ name: 'JsonError', code: 'NOT_JSON', path: 'arguments.a' })
  })
})

describe('deepFreeze', () => {
  it('freezes plain parts and leaves signals, functions and bytes', () => {
    const { signal } = new AbortController()
    const value = { list: [{ a: 1 }], signal, run: () => 1, bytes: new Uint8Array(2) }
    expect(deepFreeze(value)).toBe(value)
    expect([value, value.list, value.list[0]].every(Object.isFrozen)).toBe(true)
    expect([signal, value.run, value.bytes].some(Object.isFrozen)).toBe(false)
  })
  it('ends on cycles and on any depth', () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    expect(Object.isFrozen(deepFreeze(circle))).toBe(true)
    expect(Object.isFrozen(deepFreeze(nested(50_000)))).toBe(true)
  })
})

describe('jsonEquals', () => {
  const check = (left: Json, right: Json, equal: boolean) => {
    expect(jsonEquals(left, right)).toBe(equal)
    expect(jsonEquals(right, left)).toBe(equal)
  }
  it('compares scalars', () => check(1, 1, true))
  it('tells types apart', () => check(1, '1', false))
  it('tells null from an object', () => check(null, {}, false))
  it('tells an array from an object', () => check([], {}, false))
  it('ignores the order of keys', () => check({ a: 1, b: [2] }, { b: [2], a: 1 }, true))
  it('respects the order of elements', () => check([1, 2], [2, 1], false))
  it('sees a missing key', () => check({ a: 1 }, { b: 1 }, false))
  it('sees an extra key', () => check({ a: 1 }, { a: 1, b: 1 }, false))
  it('does not take an inherited key for an own one', () => check({ toString: 1 }, { a: 1 }, false))
  it('takes any depth', () => check(nested(50_000), nested(50_000), true))
})

describe('stableStringify', () => {
  const check = (value: Json, text: string) => expect(stableStringify(value)).toBe(text)
  it('sorts keys at every level', () => check({ b: 1, a: [{ d: 1, c: '"' }] }, String.raw`{"a":[{"c":"\"","d":1}],"b":1}`))
  it('writes empty containers', () => check({ b: [], a: {} }, '{"a":{},"b":[]}'))
  it('writes scalars', () => check('é\n', '"é\\n"'))
  it('keeps __proto__', () => check(JSON.parse('{"b":1,"__proto__":2}') as Json, '{"__proto__":2,"b":1}'))
})

describe('stringifyJson', () => {
  it('equals JSON.stringify', () => {
    const value = { b: [1, 'x', null, { a: true }], a: {} }
    expect(stringifyJson(value)).toBe(JSON.stringify(value))
  })
  it('keeps the order of keys at a depth JSON.stringify cannot take', () => {
    const text = stringifyJson({ z: 1, a: nested(50_000) })
    expect(text.startsWith('{"z":1,"a":{"in":[')).toBe(true)
    expect(jsonEquals(JSON.parse(text) as Json, { z: 1, a: nested(50_000) })).toBe(true)
  })
})

function catchError(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('Nothing was thrown.')
}
