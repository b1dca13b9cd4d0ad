import { runInNewContext } from 'node:vm'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { deepFreeze, snapshotJson, stringifyJson } from '../../../extension/base/json.ts'
import type { Json, JsonObject } from '../../../extension/base/json.ts'
import { checkSchema } from '../../../extension/core/schema/check-schema.ts'
import { schemaSnapshot, toJsonSchema, toParameterSchema } from '../../../extension/core/schema/compile.ts'
import type { InferArgs, InferValue, ParameterSpecs, ValueSpec } from '../../../extension/core/schema/spec.ts'
import { validate } from '../../../extension/core/schema/validate.ts'
import { defineTool } from '../../../extension/core/tools/define-tool.ts'
import { createPipelineBench } from '../../support/pipeline-bench.ts'
import { outcomeOf } from '../../support/tool-bench.ts'

/* Chapter 3: the schema language and lossless JSON. */

const DEPTH = 30_000
const text = { type: 'string' } as const
/** Nothing stands at its second place. */
const withHole: unknown[] = [text]
withHole[2] = text
const unsupported = expect.objectContaining({ code: 'UNSUPPORTED_SCHEMA' }) as Error
const nested = (make: (inner: object) => object, ground: object = text): object => {
  let spec = ground
  for (let depth = 0; depth < DEPTH; depth += 1) spec = make(spec)
  return spec
}

describe('the language (3.1)', () => {
  const accepted: readonly (readonly [string, unknown, Json])[] = [
    ['every scalar', { oneOf: [text, { type: 'number' }, { type: 'integer' }, { type: 'boolean' }, { type: 'null' }] }, { oneOf: [text, { type: 'number' }, { type: 'integer' }, { type: 'boolean' }, { type: 'null' }] }],
    ['literals of the right type', { type: 'integer', enum: [1, 2], const: 2 }, { type: 'integer', enum: [1, 2], const: 2 }],
    ['a list without items', { type: 'array' }, { type: 'array' }],
    ['an object without properties', { type: 'object', additionalProperties: true }, { type: 'object', additionalProperties: true }],
    ['json as anything', { type: 'json', description: 'x' }, { description: 'x' }],
    ['annotations', { ...text, title: 't', description: 'd', default: 1, examples: [{}] }, { ...text, title: 't', description: 'd', default: 1, examples: [{}] }],
  ]
  it.each(accepted)('takes %s', (_what, spec, schema) => expect(toJsonSchema(spec as ValueSpec)).toEqual(schema))

  const refused: readonly (readonly [string, unknown, string])[] = [
    ['an object that does not say whether it is open', { type: 'object' }, 'additionalProperties'],
    ['openness that is no boolean', { type: 'object', additionalProperties: {} }, 'additionalProperties'],
    ['an empty enum', { ...text, enum: [] }, 'at least one value'],
    ['an enum of another type', { type: 'boolean', enum: ['true'] }, 'is not a boolean'],
    ['a constant of another type', { type: 'integer', const: 1.5 }, 'is not a integer'],
    ['a constant outside its enum', { ...text, enum: ['a'], const: 'b' }, 'not a member'],
    ['a deep literal', { ...text, enum: [nested((inner) => [inner])] }, 'is not a string'],
    ['one branch', { oneOf: [text] }, 'at least two'],
    ['type and oneOf', { ...text, oneOf: [text, text] }, 'either `type` or `oneOf`'],
    ['neither type nor oneOf', { description: 'x' }, '`type` or `oneOf`'],
    ['an unknown type', { type: 'date' }, 'one word of'],
    ['a list of types', { type: ['string', 'null'] }, 'lists of types'],
    ['a keyword of another language', { ...text, minLength: 1 }, '`minLength` is not supported'],
    ['items of a text', { ...text, items: text }, '`items` is not supported'],
    ['properties of a list', { type: 'array', properties: {} }, '`properties` is not supported'],
    ['an enum of anything', { type: 'json', enum: [1] }, '`enum` is not supported'],
    ['a keyword named __proto__', JSON.parse('{"type":"string","__proto__":1}'), '__proto__'],
    ['items that are no schema', { type: 'array', items: 'string' }, 'expected an object'],
    ['a property that is no schema', { type: 'object', properties: { a: null }, additionalProperties: false }, 'expected an object'],
    ['annotations that JSON cannot carry', { ...text, default: undefined }, 'is undefined'],
    ['a class instance', new (class Spec { type = 'string' })(), 'an instance of Spec'],
    ['an array with holes', { oneOf: withHole }, 'holes'],
  ]
  it.each(refused)('refuses %s', (_what, spec, problem) => {
    expect(() => toJsonSchema(spec as ValueSpec)).toThrow(unsupported)
    expect(() => toJsonSchema(spec as ValueSpec)).toThrow(problem)
  })

  const spellings: readonly (readonly [string, unknown])[] = [
    ['false', { type: 'object', properties: { a: { ...text, required: false } }, additionalProperties: false }],
    ['a list of names', { type: 'object', properties: { a: text }, required: ['a'], additionalProperties: false }],
    ['a mark on the root', { ...text, required: true }],
    ['a mark on items', { type: 'array', items: { ...text, required: true } }],
    ['a mark on a branch', { oneOf: [{ ...text, required: true }, { type: 'null' }] }],
  ]
  it.each(spellings)('takes no other spelling of required: %s', (_what, spec) => expect(() => toJsonSchema(spec as ValueSpec)).toThrow('only spelling of required'))

  it('makes parameters an open object', () => {
    const schema = toParameterSchema({ a: { ...text, required: true }, b: text })
    expect(schema).toEqual({ type: 'object', properties: { a: text, b: text }, required: ['a'] })
    expect(validate(schema, { a: 'x', unknown: 1 })).toEqual([])
  })
  it('never applies a default', async () => {
    const { tools, request } = createPipelineBench()
    tools.register(defineTool({ name: 'a', description: '', parameters: { word: { ...text, default: 'x' } }, output: { schema: { type: 'json' }, render: () => [] }, execute: (args) => args }))
    expect(outcomeOf(await tools.execute(request('a', {})))).toEqual({})
  })
  it('takes a property called __proto__ as data', () => {
    const schema = toParameterSchema(JSON.parse('{"__proto__":{"type":"integer","required":true}}') as ParameterSpecs)
    expect([validate(schema, {}), validate(schema, JSON.parse('{"__proto__":1}') as Json), validate(schema, JSON.parse('{"__proto__":"1"}') as Json)]).toEqual([
      ['arguments lacks the required property "__proto__"'], [], ['"__proto__" must be an integer, not the string "1"'],
    ])
  })
  it('takes one sub-schema in two places', () => expect(toJsonSchema({ oneOf: [{ type: 'array', items: text }, text] })).toEqual({ oneOf: [{ type: 'array', items: text }, text] }))
  it('takes specs of another realm', () => expect(toJsonSchema(runInNewContext('({ type: "array", items: { type: "null" } })') as ValueSpec)).toEqual({ type: 'array', items: { type: 'null' } }))
  it('reads each slot of a spec once', () => {
    let reads = 0
    toJsonSchema({ get type() { return reads++ === 0 ? 'string' : 'date' } } as unknown as ValueSpec)
    expect(reads).toBe(1)
  })
  it.each<[string, (inner: object) => object]>([
    ['items', (inner) => ({ type: 'array', items: inner })],
    ['properties', (inner) => ({ type: 'object', properties: { a: inner }, additionalProperties: false })],
    ['branches', (inner) => ({ oneOf: [{ type: 'null' }, inner] })],
  ])('of any depth of %s compiles', (_what, wrap) => expect(() => toJsonSchema(nested(wrap) as ValueSpec)).not.toThrow())
  it('refuses a spec that holds itself', () => {
    const spec: Record<string, unknown> = { type: 'array' }
    spec['items'] = spec
    expect(() => toJsonSchema(spec as unknown as ValueSpec)).toThrow(unsupported)
  })
  it('infers exactly to sixteen levels of containers, then any JSON', () => {
    type Wrap<T> = { readonly type: 'array'; readonly items: T }
    type Four<T> = Wrap<Wrap<Wrap<Wrap<T>>>>
    type Text = { readonly type: 'string' }
    type Lists<T> = readonly (readonly (readonly (readonly T[])[])[])[]
    expectTypeOf<InferValue<Four<Four<Four<Wrap<Wrap<Wrap<Text>>>>>>>>().toEqualTypeOf<Lists<Lists<Lists<readonly (readonly (readonly string[])[])[]>>>>()
    expectTypeOf<InferValue<Four<Four<Four<Four<Text>>>>>>().toEqualTypeOf<Lists<Lists<Lists<Lists<Json>>>>>()
    expectTypeOf<InferArgs<{ a: { type: 'string'; required: true }; b: { type: 'null' } }>>().toEqualTypeOf<{ readonly a: string; readonly b?: null }>()
  })
})

describe('raw schemas', () => {
  it.each(['$ref', 'anyOf', 'allOf', 'pattern', 'minimum', 'format', 'patternProperties', 'definitions', 'not'])('the keyword %s is refused by its name', (keyword) =>
    expect(() => checkSchema({ type: 'object', properties: { a: { ...text, [keyword]: 'x' } } })).toThrow(`\`${keyword}\` is not supported`))
  it('every required name is declared', () => {
    expect(() => checkSchema({ type: 'object', required: ['a'] })).toThrow('"a" is not declared')
    expect(() => checkSchema({ type: 'object', properties: {}, required: ['toString'] })).toThrow('"toString" is not declared')
    expect(() => checkSchema({ type: 'object', properties: {}, required: 'a' })).toThrow('list of property names')
  })
  it('counts own, enumerable, named keys only; anything else makes it no schema', () => {
    for (const odd of [Object.create({ type: 'string' }), Object.defineProperty({}, 'type', { value: 'string' }), { [Symbol('kind')]: 1, type: 'string' }]) {
      expect(() => schemaSnapshot(odd, 'schema')).toThrow(unsupported)
    }
  })
  it('are walked at any depth', () => expect(() => checkSchema(nested((inner) => ({ type: 'array', items: inner })) as JsonObject)).not.toThrow())
})

describe('validating (3.2)', () => {
  const schema = toParameterSchema({
    path: { ...text, required: true },
    count: { type: 'integer' },
    size: { type: 'number' },
    list: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer', required: true } }, additionalProperties: false } },
    either: { oneOf: [text, { type: 'integer' }] },
    mode: { ...text, enum: ['a', 'b'] },
    closed: { type: 'object', properties: {}, additionalProperties: false },
  })
  const rows: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['nothing wrong', { path: 'x', more: true }, []],
    ['a missing one', {}, ['arguments lacks the required property "path"']],
    ['an own undefined', { path: undefined }, ['arguments lacks the required property "path"']],
    ['an inherited one', Object.create({ path: 'x' }), ['arguments lacks the required property "path"']],
    ['all at once, in order', { path: 1, count: 1.5, list: [{ id: 1 }, { id: 'x', y: 1 }], mode: 'c' }, [
      '"path" must be a string, not the number 1',
      '"count" must be an integer, not the number 1.5',
      '"list.1.id" must be an integer, not the string "x"',
      '"list.1.y" is not a known property',
      '"mode" must be one of "a", "b"',
    ]],
    ['no object', [], ['arguments must be an object, not an array']],
    ['not a number', { path: 'x', size: Number.NaN }, ['"size" must be a finite number, not the number NaN']],
    ['endless', { path: 'x', size: Number.POSITIVE_INFINITY }, ['"size" must be a finite number, not the number Infinity']],
    ['negative zero', { path: 'x', size: -0 }, ['"size" must be a finite number, not the number 0']],
    ['no branch', { path: 'x', either: null }, [expect.stringContaining('"either" fits none of the 2 alternatives')]],
    ['what JSON has not', { path: 1n, count: Symbol('s'), size: () => 1 }, [
      '"path" must be a string, not the bigint 1', '"count" must be an integer, not a symbol', '"size" must be a finite number, not a function',
    ]],
    ['prototype words', JSON.parse('{"path":"x","closed":{"__proto__":1,"constructor":2}}'), ['"closed.__proto__" is not a known property', '"closed.constructor" is not a known property']],
  ]
  it.each(rows)('tells of %s', (_what, value, violations) => expect(validate(schema, value as Json)).toEqual(violations))

  it('wants exactly one branch', () => expect(validate({ oneOf: [{ type: 'number' }, { type: 'integer' }] }, 1)).toEqual(['arguments fits 2 of the 2 alternatives; exactly one must fit']))
  it('hears only what the schema itself says', () => {
    const open = { type: 'object' } as const
    Object.assign(Object.prototype, { required: ['gone'], additionalProperties: false })
    try {
      expect(validate(open, { a: 1 })).toEqual([])
    } finally {
      for (const key of ['required', 'additionalProperties']) Reflect.deleteProperty(Object.prototype, key)
    }
  })
  it('reaches any depth of value and schema', () => {
    const deep = nested((inner) => [inner], [1]) as Json
    expect(validate(nested((inner) => ({ type: 'array', items: inner }), { type: 'array', items: text }) as JsonObject, deep)).toEqual([expect.stringMatching(/^"….*\.0" must be a string, not the number 1$/)])
  })
})

describe('lossless JSON (3.3)', () => {
  class Point {
    x = 1
  }
  const loop: Record<string, unknown> = {}
  loop['self'] = { loop }
  const refused: readonly (readonly [string, unknown])[] = [
    ['undefined', { a: undefined }], ['functions', [() => 1]], ['big integers', 1n], ['symbols', [Symbol('s')]], ['NaN', Number.NaN], ['infinity', [Number.POSITIVE_INFINITY]], ['negative zero', { a: -0 }],
    ['dates', new Date(0)], ['maps', new Map()], ['class instances', new Point()], ['boxed texts', [Object('x')]], ['regular expressions', /x/], ['errors', new Error('x')], ['promises', Promise.resolve()],
    ['cycles', loop], ['holes', withHole], ['extra properties of arrays', Object.assign([1], { x: 1 })], ['symbol keys', { [Symbol('s')]: 1 }], ['hidden keys', Object.defineProperty({}, 'x', { value: 1 })],
    ['inherited data', Object.create({ a: 1 })], ['subclassed arrays', new (class Rows extends Array {})()],
  ]
  it.each(refused)('refuses %s', (_what, value) => expect(() => snapshotJson(value)).toThrow(expect.objectContaining({ code: 'NOT_JSON' })))
  const accepted: readonly (readonly [string, unknown])[] = [
    ['scalars', [null, true, 'x', 0, -1.5]], ['objects without prototype', Object.assign(Object.create(null), { a: 1 })], ['a key toJSON', { toJSON: 1 }], ['another realm', runInNewContext('({a:[{}]})')], ['__proto__ as a key', JSON.parse('{"__proto__":{"a":1}}')],
  ]
  it.each(accepted)('takes %s', (_what, value) => expect(stringifyJson(snapshotJson(value))).toBe(JSON.stringify(value)))
  it('never calls toJSON', () => expect(() => snapshotJson({ toJSON: () => 'trick' })).toThrow('is a function'))
  it('reads each slot once', () => {
    let reads = 0
    const value = { get a() { return (reads += 1) }, list: new Proxy([1], { get: (target, key, self) => (key === '0' && (reads += 1), Reflect.get(target, key, self) as unknown) }) }
    expect([snapshotJson(value), reads]).toEqual([{ a: 1, list: [1] }, 2])
  })
  it('an accessor that throws is the failure', () => expect(() => snapshotJson({ get a() { throw new RangeError('mine') } })).toThrow(new RangeError('mine')))
  it('copies any depth, and finds the cycle at its ground', () => {
    expect(() => snapshotJson(nested((inner) => [inner]))).not.toThrow()
    const ground: unknown[] = []
    const top = nested((inner) => [inner], ground)
    ground.push(top)
    expect(() => snapshotJson(top)).toThrow('contains itself')
  })
  it('freezing to the ground leaves abort signals alone', () => {
    const frozen = deepFreeze({ signal: new AbortController().signal, deep: [{}] })
    expect([Object.isFrozen(frozen.signal), Object.isFrozen(frozen.deep[0])]).toEqual([false, true])
  })
})
