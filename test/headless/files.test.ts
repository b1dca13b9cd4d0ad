import { readFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createFolders, runHeadless } from '../support/headless.ts'
import { startModelServer } from '../support/model-server.ts'
import { notebookJson } from '../support/notebook-json.ts'
import { pdfBytes } from '../support/pdf-bytes.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function setUp() {
  const { paths, remove } = createFolders('work', 'store')
  cleanUps.push(remove)
  const [work = '', store = ''] = paths
  mkdirSync(work, { recursive: true })
  return { work, run: (...args: readonly string[]) => runHeadless([...args, '--cwd', work, '--storage', store, '--permissions', 'allow']) }
}

it('tools read a PDF, and read and edit a notebook', async () => {
  const { work, run } = setUp()
  writeFileSync(join(work, 'a.pdf'), pdfBytes([['Hello'], ['World']]))
  writeFileSync(join(work, 'a.ipynb'), notebookJson())
  const calls = [
    { name: 'read', arguments: { file_path: 'a.pdf', ranges: [[2, 2], [4, 4]] } },
    { name: 'read', arguments: { file_path: 'a.ipynb', offset: 6, limit: 1 } },
    { name: 'edit', arguments: { file_path: 'a.ipynb', old_string: 'x = 1', new_string: 'x = 2' } },
    { name: 'read', arguments: { file_path: 'a.ipynb', symbol: 'x' } },
  ]
  const { code, lines } = await run('tools', JSON.stringify(calls))
  expect(code).toBe(0)
  expect(lines).toMatchObject([
    { isError: false, value: { format: 'pdf', pages: { total: 2, read: 2 }, lines: [{ number: 2, text: 'Hello' }, { number: 4, text: 'World' }] } },
    { isError: false, value: { format: 'notebook', lines: [{ number: 6, text: 'x = 1' }] } },
    { isError: false, value: { lines: [6], replacements: 1 } },
    { isError: true, error: { info: { code: 'INVALID_ARGS' } } },
  ])
  expect(readFileSync(join(work, 'a.ipynb'), 'utf8')).toBe(notebookJson().replace('"x = 1\\n"', '"x = 2\\n"'))
})

it('a model that edits a file which changed is told what changed, and repeats the edit without reading', async () => {
  const { work, run } = setUp()
  writeFileSync(join(work, 'a.txt'), 'one\ntwo\nthree\n')
  const call = (name: string, args: object) => ({ answer: { parts: [{ toolCalls: [{ name, arguments: args }] }] } })
  const edit = call('edit', { file_path: 'a.txt', old_string: 'three', new_string: '3' })
  const server = await startModelServer({
    steps: [
      call('read', { file_path: 'a.txt' }),
      call('bash', { command: "sed -i 's/one/ONE/' a.txt", description: 'Somebody else' }),
      edit,
      edit,
      { answer: { parts: [{ text: 'Done.' }] } },
    ],
  })
  cleanUps.push(() => server.close())
  const { code, lines } = await run('run', '--base-url', server.url, '--model', 'm', '--prompt', 'go')
  expect(code).toBe(0)
  const results = lines.filter(({ type }) => type === 'tool/result').map((line) => JSON.stringify(line['data']))
  expect(results[2]).toMatch(/-one\\n\+ONE\\n/)
  expect(readFileSync(join(work, 'a.txt'), 'utf8')).toBe('ONE\ntwo\n3\n')
})
