import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFolders, runHeadless } from '../support/headless.ts'
import { startModelServer } from '../support/model-server.ts'
import { createOwnCertificates } from '../support/own-certificates.ts'
import { startProxyServer } from '../support/proxy-server.ts'

const own = createOwnCertificates(['DNS:model.test'])

/** A turn with a model that only a proxy reaches, over a certificate that a root of our own signed. */
async function runBehindProxy(options: (parts: { readonly proxyUrl: string; readonly rootFile: string }) => { readonly env?: Record<string, string>; readonly settings?: object }) {
  const { paths, root, remove } = createFolders('work', 'store')
  const [work = '', store = ''] = paths
  const model = await startModelServer({ steps: [{ answer: { parts: [{ text: 'Hello.' }] } }] })
  const front = createSecureServer({ key: own?.key, cert: own?.cert }, (incoming, response) => {
    const { method, headers, url } = incoming
    incoming.pipe(request({ host: '127.0.0.1', port: model.port, path: url, method, headers }, (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers))))
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const proxy = await startProxyServer()
  try {
    const rootFile = join(root, 'root.pem')
    writeFileSync(rootFile, own?.root ?? '')
    mkdirSync(work)
    mkdirSync(store)
    const { env = {}, settings = {} } = options({ proxyUrl: proxy.url, rootFile })
    writeFileSync(join(store, 'settings.json'), JSON.stringify({ 'llm.retry.maxRetries': 0, ...settings }))
    const { port } = front.address() as AddressInfo
    const args = ['run', '--cwd', work, '--storage', store, '--base-url', `https://model.test:${port}/v1`, '--model', 'scripted', '--prompt', 'Say hello.']
    const outcome = await runHeadless(args, { env })
    return { ...outcome, tunnels: proxy.asked, chats: model.chats().length, host: `model.test:${port}` }
  } finally {
    proxy.close()
    front.closeAllConnections()
    front.close()
    await model.close()
    remove()
  }
}

describe.skipIf(own === null)('a model behind a proxy and a certificate of the company', () => {
  it('is reached with HTTPS_PROXY and NODE_EXTRA_CA_CERTS', async () => {
    const { code, tunnels, chats, host, stderr } = await runBehindProxy(({ proxyUrl, rootFile }) => ({ env: { HTTPS_PROXY: proxyUrl, NODE_EXTRA_CA_CERTS: rootFile } }))
    expect([code, tunnels, chats], stderr).toEqual([0, [host], 1])
  })
  it('is reached with http.proxy in the settings', async () => {
    const { code, tunnels, host } = await runBehindProxy(({ proxyUrl, rootFile }) => ({ env: { NODE_EXTRA_CA_CERTS: rootFile }, settings: { 'http.proxy': proxyUrl } }))
    expect([code, tunnels]).toEqual([0, [host]])
  })
  it('is told by its certificate when the root is not known', async () => {
    const { code, chats, stderr } = await runBehindProxy(({ proxyUrl }) => ({ env: { HTTPS_PROXY: proxyUrl } }))
    expect([code, chats, stderr]).toEqual([1, 0, expect.stringContaining('CERTIFICATE: The certificate of model.test')])
  })
})
