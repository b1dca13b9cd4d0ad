import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDirectRunner, type DirectRunner } from '../../../../extension/platform/node/direct-runner.ts'
import { NodeFileSystem } from '../../../../extension/platform/node/file-system.ts'
import { createRipgrepSearch } from '../../../../extension/platform/node/ripgrep-search.ts'
import { searchTools } from '../../../../extension/tools/search/plugin.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createMemoryBlobStore } from '../../../support/memory-blob-store.ts'
import { createToolBench, outcomeOf, textOf } from '../../../support/tool-bench.ts'

let root: string
let runner: DirectRunner
const at = (path: string) => join(root, 'app', path)
const put = async (path: string, content: string | Uint8Array, age = 0) => {
  await mkdir(dirname(at(path)), { recursive: true })
  await writeFile(at(path), content)
  const time = 1_700_000_000 - age
  await utimes(at(path), time, time)
}

beforeAll(async () => {
  root = realpathSync(await mkdtemp(join(tmpdir(), 'bosun-search-')))
  runner = createDirectRunner()
  await put('src/a.ts', 'const hit = 1\n', 30)
  await put('src/deep/b.ts', 'x\r\nhit CRLF\r\n', 20)
  await put('c.ts', 'Hit\nno\n', 10)
  await put('-dash.ts', 'hit -dash', 40)
  await put('node_modules/m.ts', 'hit')
  await put('.git/config.ts', 'hit')
  await put('.hidden.ts', 'hit', 50)
  await put('.gitignore', 'node_modules\n')
  await put('latin1.txt', Buffer.concat([Buffer.from('hit '), Buffer.from([0xe4, 0xff, 0x0a])]))
  await symlink('src/a.ts', at('link.ts'))
  await mkdir(join(root, 'lib'))
  await writeFile(join(root, 'lib/l.ts'), 'hit lib\n')
  await utimes(join(root, 'lib/l.ts'), 1_700_000_000 - 15, 1_700_000_000 - 15)
})
afterAll(async () => {
  await runner.dispose()
  await rm(root, { recursive: true })
})

const bench = async (isMultiRoot = false, inner: readonly string[] = []) => {
  const made = createToolBench(createFakeAgent({ cwd: join(root, 'app') }))
  const open = (name: string, path = name) => ({ name, path: join(root, path) })
  const folders = [open('app'), ...(isMultiRoot ? [open('lib')] : []), ...inner.map((name) => open(name, `app/${name}`))]
  const search = createRipgrepSearch({ processes: runner, unsavedTexts: () => [] })
  await made.mount(searchTools({ search, files: new NodeFileSystem({ folders: () => folders }), workspace: { folders: () => folders }, blobs: createMemoryBlobStore(), logger: made.logger }))
  return { glob: (args: object) => made.run('glob', args), grep: (args: object, signal?: AbortSignal) => made.run('grep', args, signal && { signal }) }
}
const paths = async (args: object, isMultiRoot = false, inner: readonly string[] = []) => (outcomeOf(await (await bench(isMultiRoot, inner)).glob(args)) as { paths: string[] }).paths

describe('glob on the disk', () => {
  it('matches a bare pattern at any depth, newest first, without ignored files, links and version control', async () =>
    expect(await paths({ pattern: '*.ts' })).toEqual(['c.ts', 'src/deep/b.ts', 'src/a.ts', '-dash.ts', '.hidden.ts']))
  it('finds ignored files when asked, never version control', async () => {
    const found = await paths({ pattern: '*.ts', include_ignored: true })
    expect(found).toContain('node_modules/m.ts')
    expect(found.some((path) => path.includes('.git/'))).toBe(false)
  })
  it('finds nothing inside version control', async () => expect(await paths({ pattern: '*', path: '.git', include_ignored: true })).toEqual([]))
  it('takes a pattern with folders, and one that begins with a dash', async () => {
    expect(await paths({ pattern: 'src/**/*.ts' })).toEqual(['src/deep/b.ts', 'src/a.ts'])
    expect(await paths({ pattern: '-d*' })).toEqual(['-dash.ts'])
  })
  it('looks into one of several open folders', async () => expect(await paths({ pattern: '*.ts', path: 'lib' }, true)).toEqual(['lib/l.ts']))
  it('looks into every open folder, newest first over all', async () =>
    expect(await paths({ pattern: '[a-z]*.ts' }, true)).toEqual(['app/c.ts', 'lib/l.ts', 'app/src/deep/b.ts', 'app/src/a.ts']))
  it('lists a file once that two open folders hold', async () => expect(await paths({ pattern: 'b.ts' }, true, ['src'])).toEqual(['src/deep/b.ts']))
  it('takes a pattern as it shows paths, led by a folder’s name', async () => {
    expect(await paths({ pattern: 'lib/*.ts' }, true)).toEqual(['lib/l.ts'])
    expect(await paths({ pattern: 'app/**/b.ts' }, true)).toEqual(['app/src/deep/b.ts'])
  })
  it('refuses a bad pattern or a missing folder', async () => {
    const { glob } = await bench()
    expect(outcomeOf(await glob({ pattern: 'a{b' }))).toMatchObject({ code: 'SEARCH_INVALID_PATTERN' })
    expect(outcomeOf(await glob({ pattern: '*', path: 'nowhere' }))).toMatchObject({ code: 'SEARCH_FAILED' })
  })
})

describe('grep on the disk', () => {
  it('finds lines in the order of paths and lines, without CR and ignored files', async () => {
    const { grep } = await bench()
    expect(textOf(await grep({ pattern: 'hit', include: '*.ts' }))).toBe(
      'Found 4 matches in 4 files\n\n-dash.ts\nLine 1: hit -dash\n\n.hidden.ts\nLine 1: hit\n\nsrc/a.ts\nLine 1: const hit = 1\n\nsrc/deep/b.ts\nLine 2: hit CRLF',
    )
  })
  it('leaves out hidden files that no include names', async () => {
    const { grep } = await bench()
    expect(textOf(await grep({ pattern: 'hit$', output_mode: 'files' }))).not.toContain('.hidden.ts')
    expect(textOf(await grep({ pattern: 'hit$', include: '.hidden*', output_mode: 'files' }))).toContain('.hidden.ts')
  })
  it('stands in for a line that is not text', async () => expect(textOf(await (await bench()).grep({ pattern: '^hit ', path: 'latin1.txt' }))).toContain('latin1.txt\nLine 1: (this line is not valid UTF-8)'))
  it('ignores case, counts, and lists files', async () => {
    const { grep } = await bench()
    expect(textOf(await grep({ pattern: 'HIT', ignore_case: true, include: 'c.ts', output_mode: 'count' }))).toBe('Found 1 match in 1 file\n\nc.ts: 1')
    expect(textOf(await grep({ pattern: 'no', output_mode: 'files' }))).toContain('c.ts')
  })
  it('crosses lines when asked', async () => expect(textOf(await (await bench()).grep({ pattern: 'Hit\\nno', multiline: true }))).toContain('c.ts\nLine 1: Hit'))
  it('gives context', async () => expect(textOf(await (await bench()).grep({ pattern: 'no', path: 'c.ts', context: 1 }))).toBe('Found 1 match in 1 file\n\nc.ts\nLine 1- Hit\nLine 2: no'))
  it('takes a type, a pattern and a path that begin with a dash', async () => {
    const { grep } = await bench()
    expect(textOf(await grep({ pattern: '-dash', type: 'ts' }))).toContain('-dash.ts\nLine 1: hit -dash')
    expect(textOf(await grep({ pattern: 'hit', path: '-dash.ts' }))).toContain('-dash.ts\nLine 1')
  })
  it('finds nothing without an error', async () => expect((await (await bench()).grep({ pattern: 'nowhere at all' })).isError).toBe(false))
  it('leads paths with the folder’s name when several are open', async () =>
    expect(textOf(await (await bench(true)).grep({ pattern: 'hit', include: '*.ts', output_mode: 'files' }))).toBe('Found 5 matches in 5 files\n\napp/-dash.ts\napp/.hidden.ts\napp/src/a.ts\napp/src/deep/b.ts\nlib/l.ts'))
  it('shows a file once that two open folders hold', async () =>
    expect(textOf(await (await bench(true, ['src'])).grep({ pattern: 'CRLF' }))).toBe('Found 1 match in 1 file\n\nsrc/deep/b.ts\nLine 2: hit CRLF'))
  it('takes an include as it shows paths, led by a folder’s name', async () =>
    expect(textOf(await (await bench(true)).grep({ pattern: 'hit', include: 'lib/*.ts', output_mode: 'files' }))).toBe('Found 1 match in 1 file\n\nlib/l.ts'))
  it('refuses a bad expression', async () => expect(outcomeOf(await (await bench()).grep({ pattern: '(' }))).toMatchObject({ code: 'SEARCH_INVALID_PATTERN' }))
  it('ends ripgrep when it is stopped', async () => {
    const stop = new AbortController()
    const result = (await bench()).grep({ pattern: 'hit' }, stop.signal)
    stop.abort()
    expect(['SEARCH_ABORTED', 'ABORTED', 'ABORTED_BEFORE_DISPATCH']).toContain((outcomeOf(await result) as { code: string }).code)
  })
})

describe('odd files', () => {
  it('a name that would not stay on its line is quoted, and the quoted name, read as JSON, is the file', async () => {
    await put('odd/two\nlines.md', 'odd\n')
    const { glob, grep } = await bench()
    expect(textOf(await glob({ pattern: '*.md', path: 'odd' }))).toBe(String.raw`"odd/two\nlines.md"`)
    expect(textOf(await grep({ pattern: 'odd', path: 'odd' }))).toBe(`Found 1 match in 1 file\n\n${String.raw`"odd/two\nlines.md"`}\nLine 1: odd`)
    expect(textOf(await grep({ pattern: 'odd', path: 'odd', output_mode: 'count' }))).toContain(String.raw`"odd/two\nlines.md": 1`)
    expect(textOf(await grep({ pattern: 'odd', path: JSON.parse(String.raw`"odd/two\nlines.md"`) as string }))).toContain('Line 1: odd')
  })
  it('a FIFO or a device is refused at once rather than read without end', async () => {
    execFileSync('mkfifo', [at('pipe')])
    const { grep } = await bench()
    for (const path of ['pipe', '/dev/zero'])
      expect(outcomeOf(await grep({ pattern: 'hit', path }, AbortSignal.timeout(2_000)))).toEqual({ code: 'SEARCH_FAILED', message: expect.stringContaining('neither a file nor a folder') as string })
  })
})
