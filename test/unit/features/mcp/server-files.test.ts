import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { findServers, type McpFileKind } from '../../../../extension/features/mcp/server-files.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'
import { memorySettings, type SettingValues } from '../../../support/memory-settings.ts'

interface Place {
  readonly files?: Readonly<Record<string, string>>
  readonly user?: SettingValues
  readonly workspace?: SettingValues
  readonly isTrusted?: boolean
  readonly kinds?: readonly McpFileKind[]
}
const find = ({ files = {}, user, workspace, isTrusted = true, kinds = ['bosun', 'vscode'] }: Place) =>
  findServers(
    {
      files: new MemoryFileSystem(files),
      machine: { userFolder: '/home/.bosun', sha256: (text) => createHash('sha256').update(text).digest('hex') },
      settings: memorySettings(user, workspace),
      workspace: { isTrusted: () => isTrusted, folders: () => [{ name: 'one', path: '/one' }, { name: 'two', path: '/two' }] },
    },
    kinds,
  )
const file = (...names: readonly string[]) => JSON.stringify({ servers: Object.fromEntries(names.map((name) => [name, { command: name }])) })
const everywhere: Place = {
  user: { 'mcp.servers': { set: { command: 'set' } } },
  workspace: { 'mcp.servers': { shared: { command: 'shared' } } },
  files: {
    '/home/.bosun/mcp.json': file('mine'),
    '/one/.bosun/mcp.json': file('ours'),
    '/one/.vscode/mcp.json': file('editor'),
    '/two/.bosun/mcp.json': file('theirs'),
  },
}
const placesOf = async (place: Place) => (await find(place)).servers.map(({ config, source, folder }) => [config.name, source, folder])

describe('the servers of a window', () => {
  it('are those of the person, which need no consent, then those of each folder, which belong to it', async () => {
    expect(await placesOf(everywhere)).toEqual([
      ['set', 'the setting bosun.mcp.servers', null],
      ['mine', '/home/.bosun/mcp.json', null],
      ['shared', 'the setting bosun.mcp.servers of the workspace', '/one'],
      ['ours', '/one/.bosun/mcp.json', '/one'],
      ['editor', '/one/.vscode/mcp.json', '/one'],
      ['theirs', '/two/.bosun/mcp.json', '/two'],
    ])
  })
  it('are the person’s alone in a folder that is not trusted', async () => expect((await placesOf({ ...everywhere, isTrusted: false })).map(([name]) => name)).toEqual(['set', 'mine']))
  it.each([
    [['bosun'], ['set', 'mine', 'shared', 'ours', 'theirs']],
    [['vscode'], ['set', 'mine', 'shared', 'editor']],
    [[], ['set', 'mine', 'shared']],
  ] as const)('are looked for in the files of %j alone', async (kinds, names) => expect((await placesOf({ ...everywhere, kinds })).map(([name]) => name)).toEqual(names))
  it('keep their name from all that come later, which are listed with that reason and their line', async () => {
    const { servers, skipped } = await find({ files: { '/home/.bosun/mcp.json': file('same'), '/one/.vscode/mcp.json': '{\n  // as the editor lets people write it\n  "servers": {\n    "same": { "command": "evil" },\n  },\n}' } })
    expect(servers.map(({ folder, config }) => [folder, config.target])).toEqual([[null, { kind: 'stdio', command: 'same', args: [], env: {}, cwd: null }]])
    expect(skipped).toEqual([{ source: '/one/.vscode/mcp.json', file: { path: '/one/.vscode/mcp.json', line: 4 }, name: 'same', reason: 'The name is taken by the server of /home/.bosun/mcp.json. Rename one of them.' }])
  })
  it('bear names that are safe in those of their tools, whose first keeps its own, and none needs another consent because of the others', async () => {
    const files = { '/home/.bosun/mcp.json': file('a__b'), '/one/.vscode/mcp.json': file('a', 'GitHub "Copilot"', 'microsoft/playwright-mcp') }
    const { servers, skipped } = await find({ files })
    const named = (plain: string, own: string) => `${plain}_${createHash('sha256').update(own).digest('hex').slice(0, 12)}`
    expect([servers.map(({ config, ownName, title }) => [config.name, ownName, title]), skipped]).toEqual([
      [
        ['a__b', 'a__b', 'a__b'],
        [named('a', 'a'), 'a', 'a'],
        [named('GitHub_Copilot', 'GitHub "Copilot"'), 'GitHub "Copilot"', 'GitHub "Copilot"'],
        [named('microsoft_playwrigh', 'microsoft/playwright-mcp'), 'microsoft/playwright-mcp', 'microsoft/playwright-mcp'],
      ],
      [],
    ])
    const alone = await find({ files: { '/one/.vscode/mcp.json': file('a') } })
    expect(alone.servers.map(({ config, digest }) => [config.name, digest])).toEqual([['a', servers[1]?.digest]])
  })
  it('are found on their lines, whatever they are called', async () => {
    const { servers } = await find({ files: { '/one/.vscode/mcp.json': '{\n "servers": {\n  "a.b (c)": { "command": "x" },\n  "say \\"hi\\"": { "command": "y" }\n }\n}' } })
    expect(servers.map(({ ownName, file: at }) => [ownName, at?.line])).toEqual([['a.b (c)', 3], ['say "hi"', 4]])
  })
  it('are those of the other files where one cannot be read', async () => {
    const { servers, skipped } = await find({ files: { '/one/.bosun/mcp.json': '{"servers": ', '/one/.vscode/mcp.json': file('editor') } })
    expect([servers.map(({ config }) => config.name), skipped.map(({ source, reason }) => [source, reason.startsWith('It is not JSON')])]).toEqual([['editor'], [['/one/.bosun/mcp.json', true]]])
  })
  it('are another thing to consent to when anything of them changes, or their file', async () => {
    const digestOf = async (entry: object, path = '/one/.bosun/mcp.json') => (await find({ files: { [path]: JSON.stringify({ servers: { a: { command: 'x', ...entry } } }) } })).servers[0]?.digest
    const entries: readonly object[] = [{}, { args: ['y'] }, { env: { A: '1' } }, { envFile: 'a.env' }, { cwd: '/' }, { failOnStartupError: true }]
    const digests = await Promise.all([...entries.map((entry) => digestOf(entry)), digestOf({}, '/one/.vscode/mcp.json')])
    expect(new Set(digests).size).toBe(entries.length + 1)
    expect(await digestOf({})).toBe(digests[0])
  })
})
