import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { searchProviders } from '../../extension/features/web/providers/all.ts'
import { QueryError, type Query, type QueryAnswer } from '../../extension/features/web/providers/provider.ts'
import { send, startPageServer, type PageServer, type SeenRequest } from '../support/page-server.ts'

/* Each provider against a real server that speaks its documented form. */

const key = 'key-0123456789'
let server: PageServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

interface Wire {
  /** Method, path with its query, headers that carry the key, and the body. */
  readonly request: readonly [method: string, path: string, auth: Readonly<Record<string, string>>, body: unknown]
  readonly answer: unknown
  readonly gives: QueryAnswer
  /** A good answer that found nothing. */
  readonly nothing: unknown
  readonly givesNothing?: QueryAnswer
}

const wires: Readonly<Record<string, Wire>> = {
  searxng: {
    request: ['GET', '/search?q=vitest+%26+node&format=json', {}, null],
    answer: {
      query: 'vitest & node',
      results: [
        { url: 'https://vitest.dev/', title: 'Vitest', content: 'Next  generation\ntests', publishedDate: '2026-01-02T00:00:00', engine: 'x', score: 1 },
        { url: 'https://a.example/', title: null, content: '', publishedDate: null },
        { url: 'javascript:alert(1)', title: 'No page' },
      ],
      answers: ['Plain words.', { answer: 'Of an object.', url: 'https://b.example' }],
    },
    gives: { answer: 'Plain words.\nOf an object.', sources: [{ url: 'https://vitest.dev/', title: 'Vitest', snippet: 'Next generation tests', publishedAt: '2026-01-02T00:00:00' }, { url: 'https://a.example/' }] },
    nothing: { results: [], answers: [] },
  },
  brave: {
    request: ['GET', '/web/search?q=vitest+%26+node&count=8&text_decorations=false', { 'x-subscription-token': key }, null],
    answer: { type: 'search', web: { results: [{ url: 'https://vitest.dev/', title: 'Vitest &amp; more', description: 'A <strong>fast</strong> &#39;runner&#x27;', page_age: '2026-01-02T03:04:05', age: 'January 2, 2026' }, { url: 'https://a.example/', title: 'A', age: '2 days ago' }] } },
    gives: { sources: [{ url: 'https://vitest.dev/', title: 'Vitest & more', snippet: "A fast 'runner'", publishedAt: '2026-01-02T03:04:05' }, { url: 'https://a.example/', title: 'A', publishedAt: '2 days ago' }] },
    nothing: { type: 'search', query: { original: 'x' } },
  },
  tavily: {
    request: ['POST', '/search', { authorization: `Bearer ${key}` }, { query: 'vitest & node', max_results: 8, search_depth: 'basic', include_answer: true }],
    answer: { query: 'vitest & node', answer: ' It is a runner. ', results: [{ url: 'https://vitest.dev/', title: 'Vitest', content: 'Next', score: 0.9, raw_content: null }], response_time: 1.1 },
    gives: { answer: 'It is a runner.', sources: [{ url: 'https://vitest.dev/', title: 'Vitest', snippet: 'Next' }] },
    nothing: { answer: null, results: [] },
  },
  exa: {
    request: ['POST', '/search', { 'x-api-key': key }, { query: 'vitest & node', type: 'auto', numResults: 8, contents: { highlights: { highlightsPerUrl: 1 } } }],
    answer: { requestId: 'r', results: [{ id: 'https://vitest.dev/', url: 'https://vitest.dev/', title: 'Vitest', publishedDate: '2026-01-02', author: null, highlights: ['One.', 'Two.'], highlightScores: [0.5] }, { url: 'https://a.example/', title: null, highlights: null }] },
    gives: { sources: [{ url: 'https://vitest.dev/', title: 'Vitest', snippet: 'One.', publishedAt: '2026-01-02' }, { url: 'https://a.example/' }] },
    nothing: { results: [] },
  },
  deepseek: {
    request: [
      'POST',
      '/messages',
      { 'x-api-key': key, authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01' },
      {
        model: 'deepseek-v4-flash',
        max_tokens: 4_096,
        messages: [{ role: 'user', content: [{ type: 'text', text: expect.stringMatching(/: vitest & node$/) as unknown }] }],
        tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }],
      },
    ],
    answer: {
      id: 'm', type: 'message', role: 'assistant', model: 'deepseek-v4-flash',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'vitest' } },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [{ type: 'web_search_result', url: 'https://vitest.dev/', title: 'Vitest', encrypted_content: 'x', page_age: 'May 1, 2026' }, { type: 'web_search_result', url: 'https://a.example/', title: 'A', page_age: null }] },
        { type: 'text', text: 'It is ', citations: null },
        { type: 'text', text: 'a runner.', citations: [{ type: 'web_search_result_location', url: 'https://vitest.dev/', title: 'Vitest', cited_text: 'A fast runner', encrypted_index: 'y' }] },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1_200, output_tokens: 80, server_tool_use: { web_search_requests: 1 } },
    },
    gives: { answer: 'It is a runner.', sources: [{ url: 'https://vitest.dev/', title: 'Vitest', snippet: 'A fast runner', publishedAt: 'May 1, 2026' }, { url: 'https://a.example/', title: 'A' }] },
    nothing: { content: [{ type: 'web_search_tool_result', tool_use_id: 's', content: [] }] },
  },
}

it('has a suite for every provider', () => expect(Object.keys(wires).toSorted()).toEqual(searchProviders.map(({ name }) => name).toSorted()))

describe.each(searchProviders.map((provider) => ({ name: provider.name, provider })))('$name', ({ name, provider }) => {
  const wire = wires[name]!
  async function ask(answer: (request: SeenRequest, response: ServerResponse) => unknown, query: Partial<Query> = {}) {
    server = await startPageServer(answer)
    const setup = { http: { fetch }, baseUrl: server.url, key: provider.keyName === null ? '' : key, model: provider.model }
    return provider.ask({ text: 'vitest & node', maxResults: 8, signal: new AbortController().signal, ...query }, setup)
  }
  const json = (value: unknown, status = 200) => (_request: SeenRequest, response: ServerResponse) => send(response, JSON.stringify(value), { type: 'application/json', status })
  const failure = async (outcome: Promise<unknown>) => {
    const error = await outcome.then(() => null, (thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'WEB_PROVIDER_ERROR' })
    if (provider.keyName !== null) expect(String(error)).not.toContain(key)
    return { message: (error as Error).message, isOfTheQuery: error instanceof QueryError }
  }

  it('asks in the provider’s own form', async () => {
    await ask(json(wire.answer))
    const [request] = server?.seen ?? []
    const [method, path, auth, body] = wire.request
    expect([request?.method, request?.path, request === undefined || request.body === '' ? null : JSON.parse(request.body)]).toEqual([method, path, body])
    expect(request?.headers).toMatchObject(auth)
    expect(request?.headers.cookie).toBeUndefined()
  })
  it('takes its answer apart', async () => expect(await ask(json(wire.answer))).toEqual(wire.gives))
  it('may find nothing', async () => expect(await ask(json(wire.nothing))).toEqual(wire.givesNothing ?? { sources: [] }))

  it.each([
    [401, 'refused access', false],
    [403, 'refused access', false],
    [402, 'used up', false],
    [429, 'wants fewer searches', false],
    [400, 'failed, status 400', true],
    [422, 'failed, status 422', true],
    [500, 'failed, status 500', true],
    [503, 'failed, status 503', true],
  ])('says what to do about status %i; of this query alone: %s %s', async (status, words, isOfTheQuery) => {
    expect(await failure(ask(json({ error: { message: `No, ${key} is bad.` } }, status)))).toEqual({ message: expect.stringContaining(words) as unknown, isOfTheQuery })
  })
  it('passes on the provider’s words, wherever they stand, without the key', async () => {
    for (const body of [{ error: 'Too odd.' }, { message: 'Too odd.' }, { detail: { error: 'Too odd.' } }, { error: { message: 'Too odd.' } }]) {
      const { message } = await failure(ask(json(body, 400)))
      expect(message).toContain('Too odd.')
      await server?.close()
    }
  })
  it('follows no redirect, so that the key goes nowhere else', async () => {
    const { message } = await failure(ask(({ path }, response) => (path.includes('elsewhere') ? send(response, '{}') : response.writeHead(302, { location: '/elsewhere' }).end())))
    expect([message.includes('redirects elsewhere'), server?.seen.length]).toEqual([true, 1])
  })
  it.each([
    ['a page', '<html>Sign in'],
    ['nothing', ''],
    ['half', '{"results": ['],
    ['another form', '{"results": 7, "web": 7, "content": 7}'],
    ['a list', '[]'],
  ])('is not misled by %s in the place of its answer', async (_what, body) => {
    const { message } = await failure(ask((_request, response) => send(response, body, { type: 'application/json' })))
    expect(message).toContain('not in its documented form')
  })
  it('reads no endless answer', async () => {
    const { message } = await failure(ask((_request, response) => send(response, ' '.repeat(4_000_001))))
    expect(message).toContain('more than 4000000 bytes')
  })
  it('says that nobody is there', async () => {
    const setup = { http: { fetch }, baseUrl: 'http://127.0.0.1:9', key, model: 'm' }
    const { isOfTheQuery } = await failure(provider.ask({ text: 'x', maxResults: 8, signal: new AbortController().signal }, setup))
    expect(isOfTheQuery).toBe(false)
  })
  it('stops at once', async () => {
    const controller = new AbortController()
    await expect(ask(() => controller.abort(), { signal: controller.signal })).rejects.toMatchObject({ code: 'WEB_ABORTED' })
  })
})

describe('deepseek, whose searches are a model’s turn', () => {
  const deepseek = searchProviders.find(({ name }) => name === 'deepseek')!
  async function ask(content: unknown) {
    server = await startPageServer((_request, response) => send(response, JSON.stringify({ ...(wires['deepseek']!.answer as object), content }), { type: 'application/json' }))
    const told: unknown[] = []
    const query = { text: 'x', maxResults: 8, signal: new AbortController().signal, onModelRequest: (facts: unknown) => void told.push(facts) }
    const outcome = await deepseek.ask(query, { http: { fetch }, baseUrl: server.url, key, model: 'm' }).catch((error: unknown) => error)
    return { outcome, told }
  }
  it('tells what each cost, without a secret', async () => {
    const { told } = await ask((wires['deepseek']!.answer as { content: unknown }).content)
    expect(told).toEqual([
      { endpoint: expect.stringMatching(/\/messages$/) as string, apiVersion: '2023-06-01', body: expect.objectContaining({ model: 'm', max_tokens: 4_096 }) as object, model: 'deepseek-v4-flash', inputTokens: 1_200, outputTokens: 80, searches: 1 },
    ])
    expect(JSON.stringify(told)).not.toContain(key)
  })
  it('fails when the model did not search, and still tells what it cost', async () => {
    const { outcome, told } = await ask([{ type: 'text', text: 'From memory.' }])
    expect([outcome, told.length]).toEqual([expect.objectContaining({ code: 'WEB_PROVIDER_ERROR', message: expect.stringContaining('without searching') as unknown }), 1])
  })
  it('fails when its search failed', async () => {
    const { outcome } = await ask([{ type: 'web_search_tool_result', tool_use_id: 's', content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' } }])
    expect(outcome).toMatchObject({ message: expect.stringContaining('max_uses_exceeded') as unknown })
  })
})
