import { describe, expect, it } from 'vitest'
import type { CacheMissReason } from '../../../../extension/core/cost/events.ts'
import { english, missWords, pauseWords } from '../../../../extension/core/cost/words.ts'

describe('the reason of a cache miss in words', () => {
  const check = (reason: CacheMissReason, words: string, sinceMs = 90_000) => expect(missWords({ lostTokens: 12_000, sinceMs, reason }, english)).toContain(words)

  it('names models', () => check({ kind: 'model', from: 'p/a', to: 'p/b' }, 'The model changed from p/a to p/b, so 12,000 tokens'))
  it('names the system prompt', () => check({ kind: 'system' }, 'The system prompt changed'))
  it('names tools, and counts those it does not', () => check({ kind: 'tools', change: 'added', tools: ['a', 'b'], total: 5 }, 'Tools came (a, b +3)'))
  it('names fields', () => check({ kind: 'config', fields: ['temperature'] }, 'configured otherwise (temperature)'))
  it('names a summary', () => check({ kind: 'messages', position: 0, what: 'summary' }, 'A summary took the place'))
  it('names shortened output', () => check({ kind: 'messages', position: 4, what: 'result' }, 'tool output was shortened'))
  it('says how long it was, in the coarsest unit that says something', () => {
    check({ kind: 'dropped' }, ', 20 s after the last request', 20_000)
    check({ kind: 'dropped' }, ', 2 min after', 90_000)
    check({ kind: 'dropped' }, ', 5 h after', 5 * 3_600_000)
  })
})

describe('a pause in words', () => {
  it('counts minutes', () => expect([1, 30].map((limit) => pauseWords({ cap: 'minutes', limit }, english))).toEqual(['Bosun paused: the turn ran for 1 min.', 'Bosun paused: the turn ran for 30 min.']))
  it('counts steps', () => expect(pauseWords({ cap: 'steps', limit: 200 }, english)).toBe('Bosun paused after 200 steps.'))
  it('says how far the limit is used and what the next request would add', () => {
    expect(pauseWords({ cap: 'cost', per: 'day', limit: 5, used: 5.01 }, english)).toBe('Bosun paused: $5.01 of the $5.00 that a day may cost are used.')
    expect(pauseWords({ cap: 'cost', per: 'session', limit: 1, used: 0.9, next: 0.2 }, english)).toContain('and the next request alone would add $0.20.')
  })
})
