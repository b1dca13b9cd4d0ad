import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startSignInServer } from '../support/mcp-sign-in.ts'
import { withModelWindow } from '../support/model-window.ts'
import { untilEqual } from '../support/workbench.ts'

test('an MCP server that wants a sign-in gets one in the browser, and has it renewed without another', async () => {
  const server = await startSignInServer()
  // Where a browser reaches a port of the editor’s machine, as the one before an editor on the web does.
  const ports = createServer((request, response) => {
    const [, port = '', rest = ''] = /^\/(\d+)(\/.*)$/.exec(request.url ?? '') ?? []
    response.writeHead(302, { location: `http://127.0.0.1:${port}${rest}` }).end()
  })
  await new Promise<void>((resolve) => ports.listen(0, '127.0.0.1', resolve))
  const settings = {
    'bosun.titles.enabled': false,
    'bosun.mcp.servers': { web: { url: server.url } },
  }
  try {
    await withModelWindow({ steps: [{ answer: { parts: [{ text: 'Hello.' }] }, repeat: true }] }, { settings, env: { VSCODE_PROXY_URI: `http://127.0.0.1:${(ports.address() as AddressInfo).port}/{{port}}/` } }, async (workbench) => {
      const { page, conversation, send } = workbench
      await workbench.runCommand('Bosun: Open Chat')
      await send('Hello')
      await conversation.getByText('Hello.', { exact: true }).waitFor()
      await send('/mcp')
      await conversation.getByText(/web: needs-sign-in\. It wants you to sign in\./).waitFor()
      assert.equal(page.context().pages().length, 1, 'no page opens by itself')

      const opened = page.context().waitForEvent('page')
      await send('/mcp sign-in web')
      const popup = await opened
      await popup.getByText('Bosun has heard the answer. You can close this page and go back to the editor.').waitFor()
      await popup.close()
      await conversation.getByText(/web: running/).waitFor()
      await workbench.screenshot('mcp-signed-in')
      await untilEqual(() => server.tokens().length, 1)

      server.expire()
      const before = server.renewals.length
      await send('/mcp restart web')
      await conversation.getByText(/web: running/).nth(1).waitFor()
      assert.equal(server.renewals.length > before, true, 'what was too old was renewed')
      assert.equal(page.context().pages().length, 1, 'no page opens for it')
    })
  } finally {
    ports.close()
    ports.closeAllConnections()
    await server.close()
  }
})
