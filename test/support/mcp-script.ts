/**
 * An MCP server as a few lines of JavaScript, for what no library's server would do.
 *
 * `tools`, `instructions`: expressions for its list and for what it says of it; `onCall`: statements that run for each call, with `id`, `params`, `say(message)` and `reply(result)`.
 */
export function scriptServer({ tools = '[tool("work")]', instructions, onCall = 'reply({ content: [{ type: "text", text: "worked" }] })' }: { readonly tools?: string; readonly instructions?: string; readonly onCall?: string } = {}) {
  const script = `
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
    const tool = (name, more = {}) => ({ name, description: 'The tool ' + name + '.', inputSchema: { type: 'object', properties: {} }, ...more })
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      const reply = (result) => say({ id, result })
      if (method === 'initialize') reply({ protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'script', version: '1' }${instructions === undefined ? '' : `, instructions: ${instructions}`} })
      else if (method === 'tools/list') reply({ tools: ${tools} })
      else if (method === 'tools/call') { ${onCall} }
    })`
  return { command: process.execPath, args: ['-e', script] }
}
