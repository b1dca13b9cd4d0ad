import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createFolders, runHeadless } from '../support/headless.ts'

let remove = () => {}
afterEach(() => remove())

const hello = 'harness.tool({ name: "hello", description: "Says hello.", execute: () => "hello" })'
const calls = [
  { name: 'cordis_define', arguments: { plugin: { kind: 'new', idPrefix: 'greet' }, name: 'Greeter', purpose: 'Greets', code: { host: hello } } },
  { name: 'cordis_run', arguments: { pluginId: 'greet-1', packageId: 'pkg-1', mode: 'run' } },
]

async function callAll(permissions: 'allow' | 'deny' | null) {
  const folders = createFolders('work', 'store')
  remove = folders.remove
  const [work = '', store = ''] = folders.paths
  for (const folder of [work, store]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(store, 'settings.json'), JSON.stringify({ 'dynamicPlugins.enabled': true }))
  const { lines } = await runHeadless(['tools', JSON.stringify(calls), '--preset', 'creator', '--cwd', work, '--storage', store, ...(permissions === null ? [] : ['--permissions', permissions])])
  return { lines, files: readdirSync(store, { recursive: true, encoding: 'utf8' }).filter((path) => /plugins.*\.js$/.test(path)) }
}

it('tools define a plugin and run it, where the flags say yes to the one question about its code', async () => {
  const { lines, files } = await callAll('allow')
  expect(lines).toMatchObject([
    { isError: false, value: { pluginId: 'greet-1', isApproved: true }, card: { card: 'diff', note: 'You let this version run in this session.' } },
    { isError: false, value: { state: 'running', tools: ['hello'] } },
  ])
  expect(files).toEqual([expect.stringMatching(/plugins[\\/]greet-1[\\/]pkg-1[\\/]host\.js$/)])
})

it.each([
  ['the flags say no', 'deny'],
  ['nobody is there', null],
] as const)('tools define nothing that could run where %s', async (_, permissions) => {
  const { lines, files } = await callAll(permissions)
  expect(lines).toMatchObject([
    { isError: true, error: { info: { code: 'DENIED' } }, content: [{ text: expect.stringContaining('Nothing was defined: this code is no package') }] },
    { isError: true, error: { info: { code: 'UNKNOWN_PLUGIN' } } },
  ])
  expect(files).toEqual([])
})
