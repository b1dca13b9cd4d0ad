import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { memorySecrets } from '../../support/memory-secrets.ts'
import { textOf } from '../../support/tool-bench.ts'
import { send, startPageServer, type PageServer, type SeenRequest } from '../../support/page-server.ts'
import { webRig, type WebRigOptions } from '../../support/web-rig.ts'

/* Chapter 14: web_search, and its lines of chapters 18 to 20, through the whole application with a SearXNG server on loopback. */

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

type Answer = (query: string, response: ServerResponse, request: SeenRequest) => unknown
const found = (...urls: readonly string[]) => ({ results: urls.map((url) => ({ url, title: `Title of ${url}`, content: `Words of ${url}` })) })
const sendJson = (response: ServerResponse, value: unknown) => send(response, JSON.stringify(value), { type: 'application/json' })
const byQuery = (answers: Readonly<Record<string, unknown>>): Answer => (query, response) => (query in answers ? sendJson(response, answers[query]) : send(response, '{"error":"down"}', { status: 500 }))

async function start(answer: Answer, { settings, ...options }: WebRigOptions = {}) {
  const server: PageServer = await startPageServer((request, response) => answer(new URL(request.path, 'http://x').searchParams.get('q') ?? '', response, request))
  cleanUps.push(() => server.close())
  const rig = await webRig({ ...options, settings: { 'tools.web.providers': { searxng: { baseUrl: `${server.url}/` } }, ...settings } })
  cleanUps.push(() => rig.dispose())
  const search = (...queries: readonly string[]) => rig.result('web_search', { queries })
  return { ...rig, server, search }
}
const plain = async (options: WebRigOptions = {}) => {
  const rig = await webRig(options)
  cleanUps.push(() => rig.dispose())
  return rig
}
const failed = (code: string, words = ''): unknown => expect.objectContaining({ isError: true, error: { message: expect.stringContaining(words) as unknown, info: { name: expect.any(String) as unknown, code } } })

describe('the argument', () => {
  it.each([
    [[], '0 entries'],
    [['a', 'b', 'c', 'd', 'e'], '5 entries'],
    [['a', 'a', 'a', 'a', 'a'], '5 entries'],
    [['a', ' '], 'blank'],
    [['x'.repeat(1_001)], '1001 characters'],
  ])('%j is refused, and nobody is asked', async (queries, words) => {
    const { search, server } = await start(byQuery({}))
    expect(await search(...queries)).toEqual(failed('INVALID_ARGS', words))
    expect(server.seen).toEqual([])
  })
  it.each([[7], ['a'], [{}], [null]])('%j is no list of queries', async (queries) => {
    const { result } = await start(byQuery({}))
    expect(await result('web_search', { queries: queries === 'a' ? 'a' : [queries] })).toEqual(failed('INVALID_ARGS'))
  })
  it('may hold four, and equal ones are asked once', async () => {
    const { search, server } = await start((_query, response) => sendJson(response, found('https://a.example/')))
    expect((await search('a', 'b', ' a ', 'a')).isError).toBe(false)
    expect(server.seen.map(({ path }) => new URL(path, 'http://x').searchParams.get('q') ?? '').toSorted((a, b) => a.localeCompare(b))).toEqual(['a', 'b'])
  })
})

describe('several queries', () => {
  it('run at once', async () => {
    const waiting: ServerResponse[] = []
    const { search } = await start((_query, response) => {
      waiting.push(response)
      // Nobody is answered before all have asked.
      if (waiting.length === 3) for (const one of waiting) sendJson(one, found('https://a.example/'))
    })
    expect((await search('a', 'b', 'c')).isError).toBe(false)
  })
  it('give their sources in turn by rank, each address once', async () => {
    const { search } = await start(byQuery({ a: found('https://1.example/', 'https://2.example/', 'https://3.example/'), b: found('https://2.example/', 'https://4.example/') }))
    const result = await search('a', 'b')
    expect(result).toMatchObject({ value: { sources: ['1', '2', '4', '3'].map((n) => ({ url: `https://${n}.example/` })), truncated: false } })
  })
  it('give eight sources together, and say that there were more', async () => {
    const urls = (from: string) => Array.from({ length: 6 }, (_item, index) => `https://${from}${index}.example/`)
    const { search } = await start(byQuery({ a: found(...urls('a')), b: found(...urls('b')) }))
    const result = await search('a', 'b')
    if (result.isError) throw new Error(textOf(result))
    expect((result.value as { sources: { url: string }[] }).sources.map(({ url }) => url)).toEqual([0, 1, 2, 3].flatMap((n) => [`https://a${n}.example/`, `https://b${n}.example/`]))
    expect([(result.value as { truncated: boolean }).truncated, textOf(result).includes('There were more results')]).toEqual([true, true])
  })
  it('have their answers under one heading each', async () => {
    const { search } = await start(byQuery({ a: { results: [], answers: ['It is 1.'] }, b: { results: [], answers: ['It is 2.'] } }))
    expect(await search('a', 'b')).toMatchObject({ value: { content: '## a\n\nIt is 1.\n\n## b\n\nIt is 2.', sources: [] } })
  })
  it('fail as a whole when what failed would befall each: the others are aborted and waited for', async () => {
    const closed: string[] = []
    const { search } = await start((query, response, request) => {
      if (query === 'bad') send(response, '{"error":"no"}', { status: 403 })
      else response.on('close', () => closed.push(request.path))
    })
    expect(await search('slow', 'bad', 'slower')).toEqual(failed('WEB_PROVIDER_ERROR', 'status 403'))
    await expect.poll(() => closed.length).toBe(2)
  })
  it('of which one fails by itself give what the others found, and tell of it', async () => {
    const { search } = await start(byQuery({ a: found('https://1.example/') }))
    const result = await search('a', 'b')
    expect(result).toMatchObject({ isError: false, value: { sources: [{ url: 'https://1.example/' }], failedQueries: [{ query: 'b', reason: expect.stringContaining('status 500') as unknown }] } })
    expect(textOf(result)).toContain('The query "b" failed: SearXNG failed, status 500')
  })
  it('that all fail are a failure', async () => {
    const { search } = await start(byQuery({}))
    expect(await search('a', 'b')).toEqual(failed('WEB_PROVIDER_ERROR', 'status 500'))
  })
})

describe('what the model reads', () => {
  it('is the answer, the sources and a reminder to name them', async () => {
    const { search } = await start(byQuery({ a: { results: [{ url: 'https://1.example/x', title: 'One [1]', content: 'Words', publishedDate: '2026-01-02' }, { url: 'https://2.example/' }], answers: ['Yes.'] } }))
    expect(textOf(await search('a'))).toBe('Yes.\n\nSources:\n- [One 1](https://1.example/x) (2026-01-02)\n  Words\n- [2.example](https://2.example/)\n\nName the sources you use, as Markdown links.')
  })
  it('says when there is nothing', async () => {
    const { search } = await start(byQuery({ a: { results: [] } }))
    expect(textOf(await search('a'))).toBe('No results. Try other words.')
  })
})

describe('who searches', () => {
  it('nobody, until a provider is set up: the tool is not offered', async () => {
    const { tools, result } = await plain()
    expect(tools()).not.toContain('web_search')
    expect(await result('web_search', { queries: ['a'] })).toEqual(failed('UNKNOWN_TOOL'))
  })
  it('the one whose key is there, or whose address is; a key that arrives later counts, and one that leaves', async () => {
    const secrets = memorySecrets()
    const { tools, settings } = await plain({ alter: (world) => ({ ...world, secrets }) })
    await secrets.set('EXA_API_KEY', 'k')
    await expect.poll(tools).toContain('web_search')
    await secrets.delete('EXA_API_KEY')
    await expect.poll(tools).not.toContain('web_search')
    await settings.set('tools.web.providers', { searxng: { baseUrl: 'http://127.0.0.1:9' } }, 'user')
    await expect.poll(tools).toContain('web_search')
  })
  it('not DeepSeek by itself: its key is there for the model, and a search costs a turn', async () =>
    expect((await plain({ secrets: { DEEPSEEK_API_KEY: 'k' } })).tools()).not.toContain('web_search'))
  it('nobody can tell when several could and none is chosen', async () => {
    const { result } = await plain({ secrets: { EXA_API_KEY: 'k', BRAVE_API_KEY: 'k' } })
    expect(await result('web_search', { queries: ['a'] })).toEqual(failed('WEB_PROVIDER_AMBIGUOUS', 'Brave Search and Exa'))
  })
  it('the chosen one, whoever else could', async () => {
    const { search, server } = await start(byQuery({ a: found('https://1.example/') }), { secrets: { EXA_API_KEY: 'k' }, settings: { 'tools.web.searchProvider': 'searxng' } })
    expect([(await search('a')).isError, server.seen.length]).toEqual([false, 1])
  })
  it('is told that its key is missing, by the name of the key', async () => {
    const { result } = await plain({ settings: { 'tools.web.searchProvider': 'tavily' } })
    expect(await result('web_search', { queries: ['a'] })).toEqual(failed('WEB_PROVIDER_CREDENTIAL_MISSING', 'TAVILY_API_KEY'))
  })
  it('may have its key under another name', async () => {
    const { result } = await plain({ settings: { 'tools.web.searchProvider': 'tavily', 'tools.web.providers': { tavily: { keyName: 'MY_KEY', baseUrl: 'http://127.0.0.1:9' } } }, secrets: { MY_KEY: 'k' } })
    expect(await result('web_search', { queries: ['a'] })).toEqual(failed('WEB_PROVIDER_ERROR', 'could not be reached'))
  })
  it('is told that its key cannot be one, without showing it', async () => {
    const { result } = await plain({ settings: { 'tools.web.searchProvider': 'exa' }, secrets: { EXA_API_KEY: 'two words\n' } })
    const outcome = await result('web_search', { queries: ['a'] })
    expect([outcome, textOf(outcome).includes('two words')]).toEqual([failed('WEB_PROVIDER_CREDENTIAL_MISSING', 'set it again'), false])
  })
  it('is told that its address is missing', async () => {
    const { ctx } = await plain({ settings: { 'tools.web.searchProvider': 'searxng' } })
    await expect(ctx.web.search({ queries: ['a'], signal: new AbortController().signal })).rejects.toMatchObject({ code: 'WEB_PROVIDER_CONFIGURED_UNAVAILABLE', message: expect.stringContaining('bosun.tools.web.providers') as unknown })
  })
  it('is nobody for a call that comes too late', async () => {
    const { ctx } = await plain()
    await expect(ctx.web.search({ queries: ['a'], signal: new AbortController().signal })).rejects.toMatchObject({ code: 'WEB_PROVIDER_UNAVAILABLE' })
  })
  it('cannot be one that nobody has: the setting says which there are', async () => {
    const { ctx } = await plain({ settings: { 'tools.web.searchProvider': 'altavista' } })
    expect(ctx.settings.problems()).toMatchObject([{ key: 'tools.web.searchProvider', message: expect.stringContaining('"searxng", "brave", "tavily", "exa", "deepseek", or null') as unknown }])
  })
})

describe('time and stopping', () => {
  it('a search has a minute unless the settings say otherwise', async () => {
    const { ctx, settings } = await start(byQuery({}))
    expect(ctx.tools.get('web_search')?.timeoutMs).toBe(60_000)
    await settings.set('tools.web.timeoutMs', 1_000, 'user')
    await expect.poll(() => ctx.tools.get('web_search')?.timeoutMs).toBe(1_000)
  })
  it('its own deadline is not the caller’s stop', async () => {
    const { search } = await start(() => undefined, { settings: { 'tools.web.timeoutMs': 1_000 } })
    expect(await search('a')).toEqual(failed('TOOL_TIMEOUT', '1000 ms'))
  })
  it('stopping ends the request', async () => {
    const controller = new AbortController()
    let closed = 0
    const { call } = await start((_query, response) => {
      response.on('close', () => closed++)
      controller.abort()
    })
    const result = await call('web_search', { queries: ['a'] }, controller.signal)
    expect(result).toMatchObject({ isError: true, error: { info: { code: expect.stringMatching(/^(ABORTED|WEB_ABORTED)$/) as unknown } } })
    await expect.poll(() => closed).toBe(1)
  })
  it('the same query is asked once within a quarter of an hour', async () => {
    let now = 1_000
    const { search, server } = await start(byQuery({ a: found('https://1.example/') }), { alter: (world) => ({ ...world, clock: { ...world.clock, now: () => now } }) })
    await search('a')
    await search('a')
    expect(server.seen).toHaveLength(1)
    now += 15 * 60_000
    await search('a')
    expect(server.seen).toHaveLength(2)
  })
  it('is safe beside others', async () => {
    const { ctx } = await start(byQuery({}))
    expect(ctx.tools.executionMode({ name: 'web_search', arguments: { queries: ['a'] } })).toBe('parallel')
  })
})

describe('permission', () => {
  it.each(['read-only', 'workspace-write', 'danger-full-access'])('in %s nobody is asked: the person set the provider up', async (mode) => {
    const { search, asked, answer } = await start(byQuery({ a: found('https://1.example/') }), { settings: { 'permissions.defaultPreset': mode } })
    answer(() => ({ outcome: 'rejected' }))
    expect([(await search('a')).isError, asked]).toEqual([false, []])
  })
  it('a rule that denies holds', async () => {
    const { search, server } = await start(byQuery({}), { settings: { 'permissions.rules': [{ tool: 'web_search', decision: 'deny' }] } })
    expect([(await search('a')).policy?.by, server.seen]).toEqual(['rule', []])
  })
  it('a key in a query does not leave this machine, in any mode', async () => {
    const { search, server } = await start(byQuery({}))
    const result = await search(`what is ghp_${'a'.repeat(36)}`)
    expect([result, result.policy?.by, server.seen]).toEqual([failed('DENIED', 'key or token'), 'secret', []])
  })
  it('in a folder that is not trusted it is neither offered nor run', async () => {
    let isTrusted = true
    const hearers: (() => void)[] = []
    const onDidChangeTrust = (hear: () => void) => {
      hearers.push(hear)
      return () => undefined
    }
    const { tools, call, server } = await start(byQuery({}), { alter: (world) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => isTrusted, onDidChangeTrust } }) })
    expect(tools()).toContain('web_search')
    isTrusted = false
    expect(await call('web_search', { queries: ['a'] })).toEqual(failed('WORKSPACE_UNTRUSTED'))
    for (const hear of hearers) hear()
    expect([tools().includes('web_search'), server.seen]).toEqual([false, []])
  })
})

describe('the cards', () => {
  const present = async () => (await start(byQuery({}))).ctx.tools.get('web_search')
  it('pending', async () => expect((await present())?.presentCall?.({ queries: ['a\nb', 'c'] })).toEqual({ card: 'generic', title: 'Search the web for a b, c', kind: 'search', subject: 'a b, c' }))
  it('done', async () => {
    const { search, ctx } = await start(byQuery({ a: { results: [{ url: 'https://1.example/', title: 'One', content: 'Words', publishedDate: 'today' }], answers: ['Yes.'] } }))
    const result = await search('a')
    expect(ctx.tools.get('web_search')?.presentResult?.({ queries: ['a'] }, result)).toEqual({
      card: 'web', kind: 'search', sources: [{ url: 'https://1.example/', title: 'One', snippet: 'Words', publishedAt: 'today' }], answer: 'Yes.', truncated: false,
    })
  })
  it('failed', async () => {
    const content = [{ type: 'text' as const, text: 'Error: no' }]
    expect((await present())?.presentResult?.({ queries: ['a'] }, { isError: true, content })).toEqual({ card: 'generic', content })
  })
  it.each([null, 7, {}, { sources: [] }, { sources: [{}], truncated: false }, { sources: {}, truncated: true }, { sources: [{ url: 1 }], truncated: false }])('of a record nobody understands is none: %j', async (meta) =>
    expect((await present())?.presentResult?.({ queries: ['a'] }, { isError: false, content: [], meta })).toBeUndefined())
})

describe('deepseek', () => {
  it('leaves an event that tells what was asked and what it cost, without the key', async () => {
    const server = await startPageServer((_request, response) =>
      sendJson(response, {
        model: 'deepseek-v4-flash',
        content: [{ type: 'web_search_tool_result', tool_use_id: 's', content: [{ type: 'web_search_result', url: 'https://1.example/', title: 'One' }] }],
        usage: { input_tokens: 10, output_tokens: 2, server_tool_use: { web_search_requests: 1 } },
      }))
    cleanUps.push(() => server.close())
    const { turn } = await plain({ settings: { 'tools.web.searchProvider': 'deepseek', 'tools.web.providers': { deepseek: { baseUrl: server.url } } }, secrets: { DEEPSEEK_API_KEY: 'key-1' } })
    const events = await turn({ name: 'web_search', args: { queries: ['where is it'] } })
    const event = events.find(({ type }) => type === 'web/deepseek-search-llm-request')
    expect(event?.data).toMatchObject({ callId: 'c1-0', endpoint: `${server.url}/messages`, apiVersion: '2023-06-01', body: { tools: [{ name: 'web_search' }] }, model: 'deepseek-v4-flash', inputTokens: 10, outputTokens: 2, searches: 1 })
    expect(JSON.stringify(events)).not.toContain('key-1')
  })
})

describe('the prompt', () => {
  it('speaks of searching only where it can be done', async () => {
    const texts = async (rig: Awaited<ReturnType<typeof plain>>) => {
      await rig.turn({ name: 'job_list', args: {} })
      return JSON.stringify(rig.adapter.requests[0]?.system ?? rig.adapter.requests[0])
    }
    expect(await texts(await plain())).not.toContain('web_search')
    expect(await texts(await start(byQuery({})))).toContain('Search the web with web_search')
  })
})
