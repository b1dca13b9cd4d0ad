import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, readlink, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFileSettings, type FileSettingsOptions } from '../../../../extension/platform/node/settings-source.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'settings-'))
})
afterEach(() => rm(folder, { recursive: true }))

const setup = async (files: { user?: string; workspace?: string }, options: Partial<FileSettingsOptions> = {}) => {
  const logger = createRecordingLogger()
  const paths = { userFile: join(folder, 'user.json'), workspaceFile: join(folder, '.bosun/settings.json') }
  if (files.user !== undefined) await writeFile(paths.userFile, files.user)
  const source = await createFileSettings({ ...paths, logger, ...options })
  if (files.workspace !== undefined) await source.set('agent.x', JSON.parse(files.workspace), 'workspace')
  return { source, logger, ...paths }
}

it('has nothing without files', async () => {
  const { source, logger } = await setup({})
  expect([source.get('a'), source.inspect('a'), logger.lines]).toEqual([undefined, { user: undefined, workspace: undefined }, []])
})

it("takes the person's file, with and without prefix", async () => {
  const { source } = await setup({ user: '{"bosun.agent.x": 1, "agent.y": [2]}' })
  expect([source.get('agent.x'), source.get('agent.y')]).toEqual([1, [2]])
})

it("the workspace's value goes over the person's, this run's over both", async () => {
  const { source } = await setup({ user: '{"agent.x": 1}', workspace: '2' })
  expect([source.get('agent.x'), source.inspect('agent.x')]).toEqual([2, { user: 1, workspace: 2 }])
  const { source: overridden } = await setup({}, { overrides: { 'agent.x': 3 } })
  expect([overridden.get('agent.x'), overridden.inspect('agent.x')]).toEqual([3, { user: 3, workspace: 2 }])
})

it("puts this run's entries beside the person's own", async () => {
  const { source } = await setup({ user: '{"bosun.providers": {"a": 1, "b": 2}}' }, { additions: { providers: { b: 3, c: 4 } } })
  expect([source.get('providers'), source.inspect('providers').user]).toEqual([{ a: 1, b: 3, c: 4 }, { a: 1, b: 3, c: 4 }])
  const { source: odd } = await setup({ user: '{"providers": 5}' }, { additions: { providers: { c: 4 } } })
  expect(odd.get('providers')).toEqual({ c: 4 })
})

it('keeps what is set, takes out what is undefined, and tells', async () => {
  const { source, userFile } = await setup({ user: '{"a": 1}' })
  const heard: boolean[][] = []
  source.onDidChange((changed) => void heard.push([changed('b'), changed('a')]))
  await Promise.all([source.set('b', true, 'user'), source.set('a', undefined, 'user')])
  expect([source.get('b'), source.get('a'), JSON.parse(await readFile(userFile, 'utf8')), heard]).toEqual([true, undefined, { b: true }, [[true, false], [false, true]]])
})

it('keeps who may read the file, and the link that leads to it', async () => {
  const kept = join(folder, 'dotfiles.json')
  await writeFile(kept, '{"a": 1}')
  await chmod(kept, 0o640)
  await symlink(kept, join(folder, 'user.json'))
  const { source, userFile } = await setup({})
  await source.set('b', 2, 'user')
  expect([(await stat(kept)).mode & 0o777, await readlink(userFile), JSON.parse(await readFile(kept, 'utf8'))]).toEqual([0o640, kept, { a: 1, b: 2 }])
})

it('a new file is as a file that the person makes there', async () => {
  const { source, userFile } = await setup({})
  await writeFile(join(folder, 'own.json'), '')
  await source.set('b', 2, 'user')
  expect((await stat(userFile)).mode).toBe((await stat(join(folder, 'own.json'))).mode)
})

it.each(['{"a": 1', '[1]', 'null'])('a file that holds %s counts as empty, is reported and stays as it is', async (text) => {
  const { source, logger, userFile } = await setup({ user: text })
  expect(source.get('a')).toBeUndefined()
  expect(logger.lines).toMatchObject([{ level: 'warn', message: expect.stringContaining(userFile) }])
  await expect(source.set('a', 1, 'user')).rejects.toThrow('Mend it')
  expect(await readFile(userFile, 'utf8')).toBe(text)
})

it('cannot keep a setting without a file', async () => {
  const source = await createFileSettings({ logger: createRecordingLogger() })
  await expect(source.set('a', 1, 'user')).rejects.toThrow('no file for user settings')
})

describe.skipIf(process.platform === 'win32')('what stands in the place of a file', () => {
  it.each<[string, (path: string) => unknown, string]>([
    ['a pipe', (path) => execFileSync('mkfifo', [path]), 'it is a pipe or a device, not a file'],
    ['a device without an end', (path) => symlink('/dev/zero', path), 'it is a pipe or a device, not a file'],
    ['a folder', (path) => mkdir(path), 'it is a folder, not a file'],
    ['a file of 10 GB', (path) => writeFile(path, '').then(() => truncate(path, 10 * 1024 ** 3)), 'more than the 16777216 that are read'],
  ])('is not read when it is %s', async (_name, make, reason) => {
    await make(join(folder, 'user.json'))
    const { source, logger } = await setup({})
    expect([source.get('agent.x'), logger.lines]).toEqual([undefined, [{ level: 'warn', message: expect.stringContaining(reason) as string }]])
  })
})

it('reads over a byte order mark', async () => {
  const { source } = await setup({ user: '\ufeff{"agent.x": 1}' })
  expect(source.get('agent.x')).toBe(1)
})
