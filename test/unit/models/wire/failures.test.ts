import { describe, expect, it } from 'vitest'
import { failureFromHttp, failureFromStream, type FailureContext } from '../../../../extension/models/wire/failures.ts'

const now = Date.parse('2026-11-30T12:00:00Z')
const context: FailureContext = { name: 'Server', baseUrl: 'http://localhost/v1', model: 'm', isLocal: false, now, key: null }
const day = 24 * 3_600_000

const limited = (headers: Record<string, string>, body: unknown = {}) => failureFromHttp({ status: 429, headers, body: JSON.stringify(body) }, context)
const noWait = 'Wait, or choose another model.'
const tooLong = 'It asks to wait longer than 24 h, which is not waited for. Retry when you think it answers again, or choose another model.'

describe('the wait that a provider asks for', () => {
  const rows: readonly [name: string, headers: Record<string, string>, waitMs: number | undefined, words: string][] = [
    ['seconds', { 'retry-after': '8' }, 8_000, 'Wait 8 s, or'],
    ['parts of a second', { 'retry-after': '0.0004' }, 1, 'Wait 1 s, or'],
    ['many seconds', { 'retry-after': '3600' }, 3_600_000, 'Wait 60 min, or'],
    ['milliseconds first', { 'retry-after-ms': '250', 'retry-after': '9' }, 250, 'Wait 1 s, or'],
    ['milliseconds that are none', { 'retry-after-ms': 'soon', 'retry-after': '9' }, 9_000, 'Wait 9 s, or'],
    ['a date', { 'retry-after': 'Mon, 30 Nov 2026 12:01:00 GMT' }, 60_000, 'Wait 60 s, or'],
    ['a date that has passed', { 'retry-after': 'Mon, 30 Nov 2026 11:59:00 GMT' }, undefined, noWait],
    ['a date in years', { 'retry-after': 'Mon, 30 Nov 2099 12:00:00 GMT' }, day, tooLong],
    ['nothing', { 'retry-after': '' }, undefined, noWait],
    ['zero', { 'retry-after': '0' }, undefined, noWait],
    ['less than nothing', { 'retry-after': '-5' }, undefined, noWait],
    ['no number', { 'retry-after': 'NaN' }, undefined, noWait],
    ['words', { 'retry-after': 'tomorrow' }, undefined, noWait],
    ['almost a day', { 'retry-after': '86399' }, day - 1_000, 'Wait 1440 min, or'],
    ['a day', { 'retry-after': '86400' }, day, tooLong],
    ['a time in milliseconds where seconds were meant', { 'retry-after': '99999999999999990' }, day, tooLong],
    ['more than a number holds', { 'retry-after': '1e999' }, day, tooLong],
    ['no end', { 'retry-after-ms': 'Infinity' }, day, tooLong],
  ]
  it.each(rows)('as %s', (_name, headers, waitMs, words) => {
    const { providerRetryAfterMs, message } = limited(headers)
    expect([providerRetryAfterMs, message]).toEqual([waitMs, `Server limits how often it may be asked (429). ${words.endsWith('or') ? `${words} choose another model.` : words}`])
  })

  const bodies: readonly [name: string, error: object, waitMs: number | undefined][] = [
    ['details', { message: '', details: [{ retryDelay: '7s' }] }, 7_000],
    ['details that are no number', { message: '', details: [{ retryDelay: '1.2.3s' }] }, undefined],
    ['details beyond belief', { message: '', details: [{ retryDelay: '99999999999999s' }] }, day],
    ['words', { message: 'Please try again in 1.2s.' }, 1_200],
    ['words that are no number', { message: 'Please try again in ...s.' }, undefined],
    ['words beyond belief', { message: `Please try again in ${'9'.repeat(400)}m.` }, day],
  ]
  it.each(bodies)('told in the body by %s', (_name, error, waitMs) => {
    expect(limited({}, { error }).providerRetryAfterMs).toBe(waitMs)
    expect(failureFromStream(error, context).providerRetryAfterMs).toBe(waitMs)
  })
})
