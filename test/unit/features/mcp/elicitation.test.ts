import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../extension/base/json.ts'
import { questionsOf, valuesOf } from '../../../../extension/features/mcp/elicitation.ts'

const asks = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({ type: 'object', properties, required })
const many = (count: number, of: (n: number) => JsonObject) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, of(n)]))
const choices = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`)

describe('what a server asks for', () => {
  it.each<[what: string, properties: JsonObject, problem: string | null]>([
    ['twenty values', many(20, () => ({ type: 'string' })), null],
    ['more than twenty', many(21, () => ({ type: 'string' })), 'it asks for 21 values, and 20 are the most'],
    ['one of fifty', { size: { type: 'string', enum: choices(50) } }, null],
    ['one of more', { size: { type: 'string', enum: choices(51) } }, '“size” is no plain value, or has more than 50 choices'],
    ['an object', { where: { type: 'object', properties: {} } }, '“where” is no plain value, or has more than 50 choices'],
    ['a list of anything', { tags: { type: 'array', items: { type: 'string' } } }, '“tags” is no plain value, or has more than 50 choices'],
    ['choices that nothing tells apart', { size: { type: 'string', enum: ['a', 'a'] } }, '“size” is no plain value, or has more than 50 choices'],
  ])('is put to the person or refused: %s', (_what, properties, problem) => {
    const questions = questionsOf('demo', 'All of it.', asks(properties))
    expect('problem' in questions ? questions.problem : null).toBe(problem)
  })
  it('shows two choices that are called the same with what they stand for, and each gives its own', () => {
    const schema = asks({ size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }, { const: 'xs', title: 'Small' }, { const: 'l', title: 'Large' }] } })
    const questions = questionsOf('demo', 'Which?', schema)
    expect('problem' in questions ? questions : questions[0]?.options?.map(({ label }) => label)).toEqual(['Small (s)', 'Small (xs)', 'Large'])
    expect(valuesOf(schema, [{ id: 'size', selected: ['Small (xs)'] }])).toEqual({ action: 'accept', content: { size: 'xs' } })
  })
})

describe('an answer', () => {
  const custom = (text: string) => ({ id: 'it', selected: [], custom: text })
  const rows: readonly [what: string, field: JsonObject, answer: ReturnType<typeof custom>, content: JsonObject][] = [
    ['has the length that people count', { type: 'string', minLength: 2, maxLength: 2 }, custom('👋🌍'), { it: '👋🌍' }],
    ['is what stands in for it when it is skipped', { type: 'integer', minimum: 1, default: 3 }, custom(''), { it: 3 }],
    ['is left out when what stands in for it is not as the server asks itself', { type: 'integer', minimum: 5, default: 3 }, custom(''), {}],
    ['is left out when what stands in for it is of another kind', { type: 'string', enum: ['a'], default: 'b' }, custom(''), {}],
  ]
  it.each(rows)('%s', (_what, field, answer, content) => expect(valuesOf(asks({ it: field }), [answer])).toEqual({ action: 'accept', content }))
})
