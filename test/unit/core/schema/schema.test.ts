import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../extension/base/json.ts'
import { checkSchema } from '../../../../extension/core/schema/check-schema.ts'
import { toJsonSchema, toParameterSchema } from '../../../../extension/core/schema/compile.ts'
import type { ParameterSpecs, ValueSpec } from '../../../../extension/core/schema/spec.ts'
import { validate } from '../../../../extension/core/schema/validate.ts'

describe('compiling', () => {
  const check = (spec: ValueSpec, schema: JsonObject) => expect(toJsonSchema(spec)).toEqual(schema)

  it('keeps scalars with literals and annotations', () =>
    check({ type: 'string', enum: ['a', 'b'], const: 'a', description: 'd', default: 'b', examples: ['a'] }, {
      type: 'string', enum: ['a', 'b'], const: 'a', description: 'd', default: 'b', examples: ['a'],
    }))
  it('keeps literals of null, as of every scalar', () => expect(toJsonSchema({ type: 'null', enum: [null], const: null })).toEqual({ type: 'null', enum: [null], const: null }))
  it('turns required marks into a list', () =>
    check(
      { type: 'object', additionalProperties: false, properties: { a: { type: 'null', required: true }, b: { type: 'json' } } },
      { type: 'object', properties: { a: { type: 'null' }, b: {} }, required: ['a'], additionalProperties: false },
    ))
  it('keeps unions and items', () =>
    check({ oneOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'boolean' }] }, {
      oneOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'boolean' }],
    }))
  it('makes parameters an implicit open object', () =>
    expect(toParameterSchema({ path: { type: 'string', required: true } })).toEqual({
      type: 'object', properties: { path: { type: 'string' } }, required: ['path'],
    }))
  it('treats a property called __proto__ as ordinary data', () => {
    const specs = JSON.parse('{"__proto__":{"type":"string","required":true}}') as ParameterSpecs
    const schema = toParameterSchema(specs)
    expect(validate(schema, JSON.parse('{"__proto__":1}') as Json)).toEqual(['"__proto__" must be a string, not the number 1'])
    expect(validate(schema, {})).toEqual(['arguments lacks the required property "__proto__"'])
  })

  const refuse = (spec: unknown, message: string) => expect(() => toJsonSchema(spec as ValueSpec)).toThrow(message)
  it('refuses an object that does not state additionalProperties', () => refuse({ type: 'object' }, 'states `additionalProperties`'))
  it('refuses a const outside its enum', () => refuse({ type: 'string', enum: ['a'], const: 'b' }, 'not a member of `enum`'))
  it('refuses an empty enum', () => refuse({ type: 'string', enum: [] }, 'at least one value'))
  it('refuses a literal of another type', () => refuse({ type: 'integer', enum: [1, 1.5] }, 'the enum value 1.5 is not a integer'))
  it('refuses a union of one', () => refuse({ oneOf: [{ type: 'null' }] }, 'at least two branches'))
  it('refuses a node with type and oneOf', () => refuse({ type: 'string', oneOf: [{ type: 'null' }, { type: 'string' }] }, 'either `type` or `oneOf`'))
  it('refuses required: false', () => expect(() => toParameterSchema({ a: { type: 'null', required: false } } as unknown as ParameterSpecs)).toThrow('only spelling of required'))
  it('refuses annotations that JSON cannot carry', () => refuse({ type: 'string', default: Number.NaN }, 'value'))
})

describe('checking raw schemas', () => {
  const accept = (schema: JsonObject) => expect(() => checkSchema(schema)).not.toThrow()
  const refuse = (schema: JsonObject, message: string) => expect(() => checkSchema(schema)).toThrow(message)

  it('accepts an empty schema, which fits anything', () => accept({}))
  it('accepts a sub-schema shared between siblings', () => {
    const shared = { type: 'string' }
    accept({ type: 'object', properties: { a: shared, b: shared } })
  })
  it('names the unsupported keyword and its place', () =>
    refuse({ type: 'object', properties: { a: { type: 'string', minLength: 1 } } }, 'Schema at schema.a: the keyword `minLength` is not supported for string.'))
  it('refuses lists of types', () => refuse({ type: ['string', 'null'] }, 'lists of types are not supported'))
  it('refuses a required property that is not declared', () => refuse({ type: 'object', properties: {}, required: ['a'] }, 'required property "a" is not declared'))
  it('refuses a schema for additionalProperties', () => refuse({ type: 'object', additionalProperties: {} }, 'true or false'))
  it('does not overflow on a hostile depth', () => {
    let deep: JsonObject = { type: 'bad' }
    for (let level = 0; level < 50_000; level++) deep = { type: 'array', items: deep }
    refuse(deep, 'is one word of')
  })
})

describe('validating', () => {
  const object = toParameterSchema({
    path: { type: 'string', required: true },
    mode: { type: 'string', enum: ['r', 'w'] },
    list: {
      type: 'array',
      items: { type: 'object', additionalProperties: false, properties: { id: { type: 'integer', required: true } } },
    },
    either: { oneOf: [{ type: 'string' }, { type: 'null' }] },
  })
  const check = (value: unknown, violations: readonly string[]) => expect(validate(object, value as Json)).toEqual(violations)

  it('accepts what fits, and unknown keys at the open root', () => check({ path: 'a', extra: 1, list: [{ id: 1 }], either: null }, []))
  it('reports every violation in the order of the value, each with its path', () =>
    check({ mode: 'x', list: [{ id: 1.5 }, { id: 2, more: true }, 7], either: 5 }, [
      'arguments lacks the required property "path"',
      '"mode" must be one of "r", "w"',
      '"list.0.id" must be an integer, not the number 1.5',
      '"list.1.more" is not a known property',
      '"list.2" must be an object, not the number 7',
      '"either" fits none of the 2 alternatives ("either" must be a string, not the number 5; or "either" must be null, not the number 5)',
    ]))
  it('counts an own property that holds undefined as missing', () => check({ path: undefined }, ['arguments lacks the required property "path"']))
  it('calls the root arguments', () => check('{"path":', ['arguments must be an object, not the string "{\\"path\\":"']))
  it('refuses numbers that JSON cannot carry', () => {
    for (const odd of [Number.NaN, Number.POSITIVE_INFINITY, -0]) {
      expect(validate({ type: 'number' }, odd as Json).length).toBe(1)
    }
  })
  it('wants exactly one branch of a union', () =>
    expect(validate({ oneOf: [{ type: 'number' }, { type: 'integer' }] }, 1)).toEqual(['arguments fits 2 of the 2 alternatives; exactly one must fit']))
  it('holds constants', () => expect(validate({ type: 'string', const: 'a' }, 'b', 'value')).toEqual(['value must be "a"']))
  it('does not overflow on a hostile depth', () => {
    let schema: JsonObject = { type: 'string' }
    let value: Json = 5
    for (let level = 0; level < 20_000; level++) {
      schema = { oneOf: [{ type: 'array', items: schema }, { type: 'null' }] }
      value = [value]
    }
    expect(validate(schema, value)).toHaveLength(1)
  })
})
