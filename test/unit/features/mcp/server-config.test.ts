import { describe, expect, it } from 'vitest'
import { insertionOf } from '../../../../extension/features/mcp/add-server.ts'
import { MAX_SERVERS, parseServerFile, parseServers } from '../../../../extension/features/mcp/server-config.ts'

/* As much as a file of servers may have; looked through once for each beginning, these would take minutes. */
const large = 1024 * 1024

describe('a large file that', { timeout: 20_000 }, () => {
  it.each([
    ['opens comments and never closes one', '/* '],
    ['opens texts and never closes one', String.raw`\"`],
    ['is all commas', ', '],
  ])('%s is read to its end once', (_name, piece) => {
    const text = piece.repeat(large / piece.length)
    expect(parseServerFile(text).skipped).toEqual([{ name: '', reason: expect.stringContaining('It is not JSON') as string }])
    expect(insertionOf(`{${text}`, 'new', { url: 'https://example.com' })).toBe(null)
  })
  it('holds more servers than are read, or more that cannot be used, says how many are left out', () => {
    const many = (value: unknown) => parseServers(Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`s${index}`, value])))
    const good = many({ command: 'x' })
    expect([good.servers.length, good.skipped]).toEqual([MAX_SERVERS, [{ name: '', reason: 'It has more than 100 servers, so the last 49900 of its entries are not read. Remove some.' }]])
    const bad = many(0)
    expect([bad.servers.length, bad.skipped.length, bad.skipped.at(-1)?.reason]).toEqual([0, MAX_SERVERS + 1, 'It has more than 100 entries that cannot be used, so the last 49900 of its entries are not read. Remove some.'])
  })
  it('has an entry that is wrong in many places says it shortly', () => {
    const [skipped] = parseServers({ a: { command: 'x', args: Array.from({ length: 100_000 }, () => 1) } }).skipped
    expect(skipped?.reason).toBe('args: it is a list of texts')
  })
})

describe('an entry', () => {
  const reasonFor = (entry: object) => parseServers({ a: entry }).skipped[0]?.reason
  it.each([
    ['without a command or an address', { args: [] }, 'it has neither a "command" nor a "url"; give it one of them'],
    ['with both', { command: 'x', url: 'https://x.example' }, 'it has a "command" and a "url"; keep one of them'],
    ['of a type that there is not', { type: 'websocket', url: 'https://x.example' }, 'type: it is stdio, http, streamable-http or sse'],
    ['with a letter left out', { comand: 'x' }, 'it has "comand"; did you mean "command"?'],
    ['with a letter too many', { command: 'x', dissabled: true }, 'it has "dissabled"; did you mean "disabled"?'],
    ['with two letters swapped', { command: 'x', agrs: ['-y'] }, 'it has "agrs"; did you mean "args"?'],
    ['in other letters', { URL: 'https://x.example' }, 'it has "URL"; did you mean "url"?'],
    ['with keys of other programs', { command: 'x', env: {}, dev: {}, envs: {}, version: '1' }, undefined],
  ])('%s says what to do about it', (_name, entry, reason) => expect(reasonFor(entry)).toBe(reason))
})

describe('comments', () => {
  it('are left out where they are closed, and stay in texts', () => {
    expect(parseServerFile('/**/{"servers": /* a " */ {"a": {"url": "https://x.example/*y*/" /* , */,}}} // the end').servers).toMatchObject([{ name: 'a', target: { url: 'https://x.example/*y*/' } }])
  })
  it('that are not closed make it no file of servers', () => {
    for (const end of ['/*', '/*/', '/* x', '/** *']) expect([end, parseServerFile(`{"servers": {}} ${end}`).skipped.length]).toEqual([end, 1])
  })
})
