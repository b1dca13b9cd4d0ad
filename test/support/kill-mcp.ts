import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createKeeperRunner } from '../../extension/platform/node/keeper-runner.ts'
import { createMcpConnector } from '../../extension/platform/node/mcp/connector.ts'
import { programServer } from './mcp-rig.ts'
import { realClock } from './real-clock.ts'

/**
 * Reaches an MCP server that has started a program of its own, as a window does, and dies by SIGKILL while it talks with it.
 * Arguments: a file that the program makes once it runs, among the words of both.
 */
const [file = ''] = process.argv.slice(2)
const processes = createKeeperRunner({ entry: fileURLToPath(new URL('../../extension/platform/node/keeper-main.ts', import.meta.url)) })
const { command, args } = programServer('child', file)
const connection = await createMcpConnector({ processes, http: { fetch }, clock: realClock }).connect(
  { kind: 'stdio', command, args, env: {}, cwd: '/' },
  { timeoutMs: 30_000, signal: new AbortController().signal, listener: { onClose: () => {}, onLog: () => {}, onListChange: () => {}, elicit: () => Promise.resolve({ action: 'decline' }) } },
)
await connection.listTools(new AbortController().signal)
while ((await readFile(file, 'utf8').catch(() => null)) === null) await setTimeout(20)
process.stdout.write('ready\n')
// Until it was counted.
process.stdin.once('data', () => process.kill(process.pid, 'SIGKILL'))
