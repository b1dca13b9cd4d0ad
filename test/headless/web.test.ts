import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createFolders, runHeadless } from '../support/headless.ts'
import { send, startPageServer } from '../support/page-server.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** One call of a tool in a program of its own, with a server on loopback. */
async function start(settings: (port: number) => object) {
  const server = await startPageServer(({ path }, response) =>
    path.startsWith('/search') ? send(response, JSON.stringify({ results: [{ url: 'https://a.example/', title: 'A' }] }), { type: 'application/json' }) : send(response, '<!doctype html><title>Page</title><h1>Page</h1><p>Hello <em>you</em>'))
  const { paths, remove } = createFolders('work', 'store')
  const [work = '', store = ''] = paths
  mkdirSync(work)
  mkdirSync(store)
  writeFileSync(join(store, 'settings.json'), JSON.stringify(settings(server.port)))
  cleanUps.push(remove, () => server.close())
  const tool = async (name: string, args: object, permissions: 'allow' | 'deny', preset?: string) => {
    const outcome = await runHeadless(['tool', name, JSON.stringify(args), '--cwd', work, '--storage', store, '--permissions', permissions, ...(preset === undefined ? [] : ['--preset', preset])])
    return outcome.lines[0] ?? { stderr: outcome.stderr }
  }
  return { server, tool, url: `http://127.0.0.1:${server.port}/` }
}

describe('headless tool web_fetch', () => {
  it('reads a page of a host that the settings open, in a thread, with its card', async () => {
    const { tool, url } = await start((port) => ({ 'tools.web.allowedPrivateHosts': [`127.0.0.1:${port}`] }))
    expect(await tool('web_fetch', { url }, 'allow', 'editor')).toMatchObject({
      isError: false,
      value: { url, statusCode: 200, body: { kind: 'html', content: '# Page\n\nHello _you_' }, truncated: false },
      pending: { card: 'generic', kind: 'fetch', subject: url },
      card: { card: 'web', kind: 'fetch', url, statusCode: 200, truncated: false },
    })
  })
  it('asks before it reads from this machine', async () => {
    const { tool, url, server } = await start(() => ({}))
    expect([await tool('web_fetch', { url }, 'deny', 'editor'), server.seen]).toMatchObject([{ isError: true, error: { info: { code: 'DENIED' } } }, []])
    expect(await tool('web_fetch', { url }, 'allow', 'editor')).toMatchObject({ isError: false, value: { statusCode: 200 } })
  })
  it('keeps out of private networks, whatever the person answers', async () => {
    const { tool } = await start(() => ({}))
    expect(await tool('web_fetch', { url: 'http://127.0.0.2:9/' }, 'allow', 'editor')).toMatchObject({ isError: true, error: { info: { name: 'WebError', code: 'WEB_BLOCKED_URL' } } })
  })
  it('fetches nothing without consent', async () => {
    const { tool, url, server } = await start((port) => ({ 'tools.web.allowedPrivateHosts': [`127.0.0.1:${port}`] }))
    expect([await tool('web_fetch', { url }, 'deny', 'editor'), server.seen]).toMatchObject([{ isError: true }, []])
  })
})

describe('headless tool web_search', () => {
  it('asks the server that the settings name', async () => {
    const { tool } = await start((port) => ({ 'tools.web.providers': { searxng: { baseUrl: `http://127.0.0.1:${port}` } } }))
    expect(await tool('web_search', { queries: ['a'] }, 'deny')).toMatchObject({ isError: false, value: { sources: [{ url: 'https://a.example/', title: 'A' }] }, card: { card: 'web', kind: 'search' } })
  })
})
