import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { createFolders, runHeadless } from '../support/headless.ts'

const program = fileURLToPath(new URL('../support/language-server.ts', import.meta.url))
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A project in a language that one server of the person's settings knows. */
function setUp(settings: object = { languageServers: { toy: { command: process.execPath, args: [program, 'ok'], languages: ['toy'] } } }) {
  const { paths, remove } = createFolders('work', 'store')
  cleanUps.push(remove)
  const [work = '', store = ''] = paths
  mkdirSync(work)
  mkdirSync(store)
  writeFileSync(join(store, 'settings.json'), JSON.stringify(settings))
  writeFileSync(join(work, 'a.toy'), 'def tide\nuse tide\n')
  return { work, run: (...args: readonly string[]) => runHeadless([...args, '--cwd', work, '--storage', store, '--preset', 'editor']) }
}
const lsp = (args: object) => ({ name: 'lsp', arguments: { file_path: 'a.toy', line: 1, character: 5, ...args } })

it('lsp asks the configured server, and renames with it where that is allowed', async () => {
  const { run, work } = setUp()
  const calls = [lsp({ operation: 'hover' }), lsp({ operation: 'goToDefinition', symbol: 'tide', line: 2 }), lsp({ operation: 'hover', file_path: 'b.toy' }), lsp({ operation: 'rename', new_name: 'ebb' })]
  const { code, lines, stderr } = await run('tools', JSON.stringify(calls), '--permissions', 'allow')
  expect(lines, stderr).toMatchObject([
    { isError: false, value: { kind: 'hover', hover: { contents: '**tide**' } } },
    { isError: false, value: { kind: 'locations', total: 2 }, card: { card: 'search', files: [{ path: 'a.toy' }] } },
    { isError: true, error: { info: { code: 'FS_NOT_FOUND' } } },
    { isError: false, value: { kind: 'changes', files: [{ path: 'a.toy', places: 2 }] }, card: { card: 'diff', title: 'Renamed tide to ebb in a.toy' } },
  ])
  expect([code, readFileSync(join(work, 'a.toy'), 'utf8')]).toEqual([0, 'def ebb\nuse ebb\n'])
})

it('without a server lsp says what is missing, and is listed all the same', async () => {
  const { run } = setUp({})
  const { lines } = await run('tool', 'lsp', JSON.stringify(lsp({ operation: 'hover' }).arguments))
  expect(lines).toMatchObject([{ isError: true, error: { info: { code: 'LSP_UNAVAILABLE' }, message: expect.stringContaining('No language server is configured for .toy files') as string } }])
  const catalogue = (await runHeadless(['catalogue'])).lines[0] as unknown as readonly { readonly name: string; readonly presets: readonly string[] }[]
  expect(catalogue.find(({ name }) => name === 'lsp')?.presets).toEqual(expect.arrayContaining(['editor', 'ask']))
})

it('a rename that nobody allows changes nothing', async () => {
  const { run, work } = setUp()
  const { lines } = await run('tool', 'lsp', JSON.stringify(lsp({ operation: 'rename', new_name: 'ebb' }).arguments), '--permissions', 'deny')
  expect(lines).toMatchObject([{ isError: true, error: { info: { code: 'DENIED' } } }])
  expect(readFileSync(join(work, 'a.toy'), 'utf8')).toBe('def tide\nuse tide\n')
})

it('a file of another language is refused by its ending, and a setting that is wrong leaves the rest alone', async () => {
  const { run, work } = setUp()
  writeFileSync(join(work, 'a.zig'), 'x')
  expect((await run('tool', 'lsp', JSON.stringify(lsp({ operation: 'hover', file_path: 'a.zig', character: 1 }).arguments))).lines).toMatchObject([{ isError: true, error: { info: { code: 'LSP_UNAVAILABLE' } } }])
  const broken = setUp({ languageServers: { toy: { args: [] } } })
  expect((await broken.run('tool', 'read', '{"file_path":"a.toy"}')).lines).toMatchObject([{ isError: false }])
})
