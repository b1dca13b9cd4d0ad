import { expect, it } from 'vitest'
import { entryLines } from '../../../../extension/features/mcp/entry-lines.ts'
import { parseServerFile } from '../../../../extension/features/mcp/server-config.ts'

const lines = (entry: object, inputs: readonly object[] = []) => {
  const { servers, inputs: parsed } = parseServerFile(JSON.stringify({ servers: { demo: entry }, inputs }))
  return servers[0] && entryLines(servers[0], parsed)
}
const github = `ghp_${'a1B2'.repeat(9)}`

it.each([
  ['nothing', { command: 'x' }, []],
  ['values as they stand', { command: 'x', env: { MODE: 'fast', PORT: 8080, HOME: '${userHome}/x' } }, ['MODE=fast', 'PORT=8080', 'HOME=${userHome}/x']],
  ['what is called as secrets are, masked', { command: 'x', env: { API_KEY: 'hunter2', MY_PASSWORD: 'x', SESSION_COOKIE: 'y' } }, ['API_KEY=••••', 'MY_PASSWORD=••••', 'SESSION_COOKIE=••••']],
  ['where a secret comes from', { command: 'x', env: { API_KEY: '${input:key}', TOKEN: 'a-${env:T}-b', GH: github } }, ['API_KEY=${input:key}', 'TOKEN=••••${env:T}••••', 'GH=••••']],
  ['files and folders', { command: 'x', envFile: '.env', cwd: '${workspaceFolder}/a' }, ['envFile: .env', 'cwd: ${workspaceFolder}/a']],
  ['headers', { url: 'https://x.test', headers: { 'x-team': 'docs', Authorization: 'Bearer abcdef', 'x-api-key': 'Bearer ${input:key}' } }, ['x-team: docs', 'Authorization: Bearer ••••', 'x-api-key: Bearer ${input:key}']],
  ['as what it is known', { url: 'https://x.test', oauth: { clientId: 'me', clientSecret: 'hunter2' } }, ['clientId: me', 'clientSecret: ••••']],
] as const)('%s', (_name, entry, expected) => expect(lines(entry)).toEqual(expected))

it('what stands in the place of inputs without anybody being asked', () => {
  const inputs = [
    { id: 'typed', type: 'promptString' },
    { id: 'word', default: 'plain' },
    { id: 'hidden', type: 'promptString', default: 'hunter2', password: true },
    { id: 'api-key', default: 'hunter2' },
    { id: 'mode', type: 'pickString', options: ['a', 'b'], default: 'b' },
    { id: 'run', type: 'command', command: 'extension.token', args: { for: 'x' } },
    { id: 'bare', type: 'command', command: 'extension.other' },
  ]
  expect(lines({ command: 'x' }, inputs)).toEqual(['${input:word} = plain', '${input:hidden} = ••••', '${input:api-key} = ••••', '${input:mode} = b', '${input:run} = extension.token({"for":"x"})', '${input:bare} = extension.other()'])
})
