import { describe, expect, it } from 'vitest'
import { providerEntriesFrom } from '../../../../extension/core/model/provider-entries.ts'

const good = { baseUrl: 'http://127.0.0.1:1/v1' }

describe('the entries of bosun.providers', () => {
  it('are read one by one: a bad one spoils no other', () => {
    const { entries, problems } = providerEntriesFrom({ good, bad: { baseUrl: 5 }, worse: 7 })
    expect([entries, problems]).toEqual([
      { good: { ...good, api: 'openai-compatible' } },
      [
        'The provider "bad" in bosun.providers does not count: baseUrl must be an address that begins with http:// or https://. Correct it or take it out; the others work.',
        'The provider "worse" in bosun.providers does not count: it must be an object. Correct it or take it out; the others work.',
      ],
    ])
  })
  const check = (id: string, entry: unknown, reason: string) =>
    expect(providerEntriesFrom({ [id]: entry }).problems).toEqual([`The provider "${id}" in bosun.providers does not count: ${reason}. Correct it or take it out; the others work.`])
  it.each<[name: string, id: string, entry: unknown, reason: string]>([
    ['a blank name', ' ', good, 'it needs a name'],
    ['a slash in its name', 'a/b', good, 'a name cannot hold a slash'],
    ['another protocol', 'a', { api: 'gopher' }, 'api must be one of '],
    ['a list', 'a', [], 'it must be an object'],
    ['an address of another kind', 'a', { baseUrl: 'ftp://x' }, 'baseUrl must be an address that begins with http:// or https://'],
    ['a misspelt field', 'a', { ...good, baseURL: 'http://x' }, 'there is no field "baseURL"'],
    ['a misspelt field of a model', 'a', { ...good, models: { m: { window: 1 } } }, 'models.m has no field "window"'],
    ['a window of text', 'a', { ...good, contextWindow: '128k' }, 'contextWindow must be a whole number of tokens'],
    ['a header that is no text', 'a', { ...good, headers: { x: 1 } }, 'headers must be an object of texts by header name, which headers.x is not'],
    ['a policy out of range', 'a', { ...good, retry: { jitter: 2 } }, 'retry must be an object of mode, maxRetries, initialDelayMs, maxDelayMs and jitter, which retry.jitter is not'],
    ['two mistakes', 'a', { baseUrl: 1, images: 'yes' }, 'baseUrl must be an address that begins with http:// or https://; images must be true or false'],
  ])('are refused with %s, in words', (_name, id, entry, reason) => {
    if (reason.endsWith(' ')) expect(providerEntriesFrom({ [id]: entry }).problems[0]).toContain(reason)
    else check(id, entry, reason)
  })
  it.each([[undefined], [null], [{}]])('may be none: %s', (raw) => expect(providerEntriesFrom(raw)).toEqual({ entries: {}, problems: [] }))
  it.each([[[]], ['x'], [5]])('are an object and not %j', (raw) => expect(providerEntriesFrom(raw).problems).toEqual([expect.stringContaining('must hold an object')]))
})
