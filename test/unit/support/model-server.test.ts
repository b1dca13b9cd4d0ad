import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { failures, type ModelScript } from '../../support/model-script.ts'
import { sharedPrefixLength, startModelServer, type ModelServer } from '../../support/model-server.ts'

let server: ModelServer | undefined
afterEach(() => server?.close())

const start = async (script: ModelScript) => (server = await startModelServer(script))
const post = (body: unknown, init: RequestInit = {}) =>
  fetch(`${server?.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer right' },
    body: JSON.stringify(body),
    ...init,
  })
const ask = (text: string) => ({ model: 'm', stream: true, messages: [{ role: 'user', content: text }] })

interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string; readonly tool_calls?: readonly { index: number; id?: string; function: { name?: string; arguments: string } }[] }
    readonly finish_reason: string | null
  }[]
  readonly usage?: unknown
}
const chunksOf = (text: string) =>
  text
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Chunk)

describe('the model server', () => {
  it('streams text in pieces, then the finish reason, the usage and the end mark', async () => {
    await start({
      steps: [{ answer: { parts: [{ text: 'Hello there, you.' }], usage: { promptTokens: 9, completionTokens: 4, cachedTokens: 5 } } }],
    })
    const text = await (await post(ask('hi'))).text()
    const chunks = chunksOf(text)
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello there, you.')
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['stop'])
    expect(chunks.at(-1)?.usage).toEqual({
      prompt_tokens: 9,
      completion_tokens: 4,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 5 },
    })
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('streams parallel calls with mixed deltas that join to the arguments', async () => {
    const toolCalls = [
      { name: 'read', arguments: { file_path: 'a.ts' } },
      { name: 'grep', arguments: { pattern: '{{match:find (\\w+)}}' } },
    ]
    await start({ steps: [{ answer: { parts: [{ toolCalls, interleaved: true }], chunkLength: 3 } }] })
    const deltas = chunksOf(await (await post(ask('find OAK now'))).text()).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    const joined = [0, 1].map((index) => deltas.filter((delta) => delta.index === index).map((delta) => delta.function.arguments).join(''))
    expect(joined).toEqual(['{"file_path":"a.ts"}', '{"pattern":"OAK"}'])
    expect(deltas.slice(0, 4).map(({ index }) => index)).toEqual([0, 1, 0, 1])
    expect(deltas.slice(0, 2).map(({ id }) => id)).toEqual(['call_0_0', 'call_0_1'])
  })

  it('chooses the first unused step that fits, and says so when there is none', async () => {
    await start({
      steps: [
        { when: '^second$', answer: { parts: [{ text: 'B' }] } },
        { answer: ({ messages }) => ({ parts: [{ text: `A${messages.length}` }] }) },
      ],
    })
    const answers = []
    for (const prompt of ['first', 'second']) answers.push(chunksOf(await (await post(ask(prompt))).text())[1]?.choices[0]?.delta.content)
    expect(answers).toEqual(['A1', 'B'])
    expect(server?.unused()).toBe(0)
    const refused = await post(ask('third'))
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('no step for request 2')])
  })

  it('fails as providers do', async () => {
    await start({
      models: ['m'],
      apiKey: 'right',
      steps: [{ answer: failures.rateLimit('7') }, { answer: failures.serverHtml }],
    })
    const limited = await post(ask('x'))
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7'])
    const html = await post(ask('x'))
    expect([html.status, html.headers.get('content-type')]).toEqual([502, 'text/html'])
    expect((await post(ask('x'), { headers: { authorization: 'Bearer wrong' } })).status).toBe(401)
    expect((await post({ ...ask('x'), model: 'other' })).status).toBe(404)
    const listed = (await (await fetch(`${server?.url}/models`, { headers: { authorization: 'Bearer right' } })).json()) as {
      data: { id: string }[]
    }
    expect(listed.data.map(({ id }) => id)).toEqual(['m'])
  })

  it('breaks a stream in the middle, after what was sent has arrived', async () => {
    await start({ steps: [{ answer: { parts: [{ text: 'begun' }, { cut: true }, { text: 'never' }] } }] })
    const response = await post(ask('x'))
    let seen = ''
    const read = async () => {
      for await (const chunk of response.body ?? []) seen += new TextDecoder().decode(chunk)
    }
    await expect(read()).rejects.toThrow('terminated')
    expect(seen).toContain('begun')
    expect(seen).not.toContain('never')
  })

  it('notices that a client left a hanging request', async () => {
    await start({ steps: [{ answer: { hang: 'before-headers' } }, { answer: { hang: 'after-headers' } }] })
    await expect(post(ask('x'), { signal: AbortSignal.timeout(50) })).rejects.toThrow('aborted')
    const response = await post(ask('y'), { signal: AbortSignal.timeout(50) })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow('aborted')
    await expect.poll(() => server?.requests.map(({ wasAborted }) => wasAborted)).toEqual([true, true])
  })

  it('keeps each request byte for byte', async () => {
    await start({ steps: [{ repeat: true, answer: { parts: [{ text: 'ok' }] } }] })
    for (const prompt of ['one é', 'one ö']) await (await post(ask(prompt))).text()
    const [a, b] = server?.chats() ?? []
    expect(a?.body).toBe(JSON.stringify(ask('one é')))
    // Both letters begin with the same byte in UTF-8.
    expect(sharedPrefixLength(a?.body ?? '', b?.body ?? '')).toBe(Buffer.byteLength(JSON.stringify(ask('one ')).slice(0, -4)) + 1)
  })

  it('runs as a program that prints its address', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bosun-script-'))
    const file = join(folder, 'script.json')
    await writeFile(file, JSON.stringify({ steps: [{ answer: { parts: [{ text: 'from a program' }] } }] }))
    const program = join(import.meta.dirname, '../../support/model-server-main.ts')
    const child = spawn(process.execPath, [program, '--script', file], { stdio: ['pipe', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const { url } = JSON.parse(line.toString()) as { url: string }
    const response = await fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify(ask('x')) })
    expect(await response.text()).toContain('from a prog')
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
    await rm(folder, { recursive: true })
  })
})
