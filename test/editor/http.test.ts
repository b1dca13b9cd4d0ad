import { equal, ok } from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as vscode from 'vscode'
import { startProxyServer, type ProxyServer } from '../support/proxy-server.ts'

describe('the network of the editor', () => {
  let server: Server
  let port: number
  let proxy: ProxyServer
  const http = () => vscode.workspace.getConfiguration('http')
  const asked = () => proxy.asked.filter((host) => host.startsWith('model.test:')).length
  const set = (name: string, value: unknown) => http().update(name, value, vscode.ConfigurationTarget.Global)

  before(async () => {
    server = createServer((_request, response) => response.end('here'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
    proxy = await startProxyServer()
  })
  after(async () => {
    await set('proxy', undefined)
    await set('noProxy', undefined)
    proxy.close()
    server.closeAllConnections()
    server.close()
  })

  it('goes straight without a proxy', async () => {
    equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'here')
    equal(asked(), 0)
  })

  it('goes through the proxy that http.proxy names', async () => {
    await set('proxy', proxy.url)
    equal(await (await fetch(`http://model.test:${port}/`)).text(), 'here')
    // The editor itself may ask for other hosts meanwhile.
    ok(proxy.asked.includes(`model.test:${port}`), proxy.asked.join())
  })

  it('goes straight to what http.noProxy names', async () => {
    await set('noProxy', ['model.test'])
    const before = asked()
    equal(await fetch(`http://model.test:${port}/`).then(() => 'answered', () => 'no such name'), 'no such name')
    equal(asked(), before)
  })
})
