import { describe, expect, it } from 'vitest'
import { amountOf, ratesAt } from '../../../../extension/core/cost/rates.ts'
import type { ModelPrice } from '../../../../extension/core/model/contract.ts'

const usage = { inputTokens: 1_000_000, cacheRead: 2_000_000, cacheWrite: 100_000, outputTokens: 10_000, reasoning: 90_000 }
const price: ModelPrice = { currency: 'USD', input: 2, cacheRead: 0.2, cacheWrite: 2.5, output: 10 }
const monday = (time: string) => Date.parse(`2026-11-30T${time}Z`)

describe('what a request costs', () => {
  it('counts each kind of token once, reasoning as output', () => expect(amountOf(usage, ratesAt(price, { inputTokens: 1, time: 0 }))).toBe(2 + 0.4 + 0.25 + 1))

  it.each([
    [200_000, 2],
    [200_001, 4],
  ])('goes for the whole of %i tokens of input by the rate %d', (inputTokens, input) => {
    const long = { aboveTokens: 200_000, input: 4, cacheRead: 0.4, cacheWrite: 5, output: 15 }
    expect(ratesAt({ ...price, long }, { inputTokens, time: 0 }).input).toBe(input)
  })

  it.each([
    ['in peak hours', monday('06:00:00'), 2],
    ['at their end', monday('10:00:00'), 1],
    ['between them', monday('05:59:59'), 1],
    ['on a free day', Date.parse('2026-11-29T07:00:00Z'), 1],
  ])('is as the provider says %s', (_, time, input) => {
    const offPeak = { factor: 0.5, peakHours: [[1, 4], [6, 10]] as const, peakDays: [1, 2, 3, 4, 5] }
    expect(ratesAt({ ...price, offPeak }, { inputTokens: 1, time }).input).toBe(input)
  })

  it('leaves no tail of binary fractions', () => expect(amountOf({ ...usage, inputTokens: 3, cacheRead: 0, cacheWrite: 0, outputTokens: 0, reasoning: 0 }, { ...price, input: 0.1 })).toBe(3e-7))
})
