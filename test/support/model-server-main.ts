import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { ModelScript } from './model-script.ts'
import { startModelServer } from './model-server.ts'

/*
 * The model server as a program.
 *
 * Usage: `node test/support/model-server-main.ts --script FILE [--port 0]`, the file being a `ModelScript` as JSON.
 * Prints `{"url":…,"port":…}` on one line and runs until it is ended or its standard input closes (`--stay` ignores that).
 */
const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, script: { type: 'string' }, stay: { type: 'boolean', default: false } },
})
if (values.script === undefined) {
  console.error('Name the script to play: --script FILE')
  process.exit(2)
}
const script = JSON.parse(await readFile(values.script, 'utf8')) as ModelScript
const server = await startModelServer(script, { port: Number(values.port) })
process.stdout.write(`${JSON.stringify({ url: server.url, port: server.port })}\n`)

const stop = () => void server.close().then(() => process.exit(0))
process.once('SIGINT', stop).once('SIGTERM', stop)
if (!values.stay) process.stdin.once('end', stop).resume()
