import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notFound, readonlyFile, type FileTarget } from '../../../../extension/capabilities/file-system.ts'
import type { FileQuery, Search, TextQuery } from '../../../../extension/capabilities/search.ts'
import { createDirectRunner } from '../../../../extension/platform/node/direct-runner.ts'
import { createRipgrepSearch } from '../../../../extension/platform/node/ripgrep-search.ts'
import { createVirtualSearch, type VirtualSearchOptions } from '../../../../extension/platform/node/virtual-search.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

const processes = createDirectRunner()
const ripgrep = createRipgrepSearch({ processes })
const VIRTUAL = '/nowhere/w'
const signal = new AbortController().signal

const tree: Readonly<Record<string, string | Uint8Array>> = {
  '.gitignore': 'dist/\n*.log\n!keep.log\n/top.txt\n',
  '.git/config': 'hit',
  '.hidden.ts': 'hit',
  '.config/a.ts': 'hit',
  'a.ts': 'const hit = 1\nno\nhit again',
  'b.js': 'x\r\nhit CRLF\r\n',
  'top.txt': 'hit',
  'sub/top.txt': 'hit',
  'dist/a.ts': 'hit',
  'noise.log': 'hit',
  'keep.log': 'hit',
  'sub/.ignore': 'secret*\n',
  'sub/.gitignore': '!secret.md\n*.tmp',
  'sub/secret.md': 'hit',
  'sub/x.tmp': 'hit',
  'sub/deep/x.tmp': 'hit',
  'sub/deep/é (1).ts': 'one\nhit é\nthree\n',
  'bin.dat': Buffer.from([104, 105, 116, 0, 1, 2]),
  'utf16.txt': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('a hit\n', 'utf16le')]),
  'empty.ts': '',
  'Sub/A.TS': 'HIT',
  'src/lib.rs': 'fn hit() {}\nfn other() {\n  hit()\n}\n',
}

let disk: string
beforeAll(async () => {
  disk = await realpath(await mkdtemp(join(tmpdir(), 'virtual-')))
  for (const [path, content] of Object.entries(tree)) {
    await mkdir(dirname(join(disk, path)), { recursive: true })
    await writeFile(join(disk, path), content)
  }
})
afterAll(async () => {
  await processes.dispose()
  await rm(disk, { recursive: true })
})

const memory = (files: Readonly<Record<string, string | Uint8Array>> = tree) => new MemoryFileSystem(Object.fromEntries(Object.entries(files).map(([path, content]) => [`${VIRTUAL}/${path}`, content])))
const searchIn = (files: VirtualSearchOptions['files'], limits: VirtualSearchOptions['limits'] = {}) =>
  createVirtualSearch({ ripgrep, files, isVirtual: (root) => root.startsWith(VIRTUAL), limits })
const fileQuery = (query: Partial<FileQuery>): FileQuery => ({ root: VIRTUAL, glob: '**', includeIgnored: false, sort: 'path', signal, ...query })
const textQuery = (query: Partial<TextQuery>): TextQuery => ({ root: VIRTUAL, pattern: 'hit', ignoreCase: false, multiline: false, includeIgnored: false, contextLines: 0, signal, ...query })
const onDisk = (root: string) => root.replace(VIRTUAL, disk)
const namesIn = (root: string, paths: readonly string[]) => paths.map((path) => path.slice(root.length + 1))

describe('files of a virtual folder', () => {
  it.each<Partial<FileQuery>>([
    {}, { includeIgnored: true }, { glob: '*.ts' }, { glob: 'sub/**/*.ts' }, { glob: '*.{ts,js}' }, { glob: '[a-b].*' }, { glob: '*.log' }, { glob: '*.log', includeIgnored: true },
    { root: `${VIRTUAL}/sub` }, { root: `${VIRTUAL}/sub`, glob: 'deep/*' }, { root: `${VIRTUAL}/dist` }, { root: `${VIRTUAL}/.git` }, { glob: 'nothing' }, { glob: '**/*.tmp' },
  ])('are those that the disk would give: %j', async (query) => {
    const virtual = await searchIn(memory()).files(fileQuery(query))
    const real = await ripgrep.files(fileQuery({ ...query, root: onDisk(query.root ?? VIRTUAL) }))
    expect(namesIn(VIRTUAL, virtual.paths)).toEqual(namesIn(disk, real.paths))
  })
  it('come newest first when asked, those of one time by their path', async () => {
    const files = memory({ a: '', b: '', c: '', 'd/e': '' })
    files.entries.get(`${VIRTUAL}/b`)!.modifiedAt = 50
    files.entries.get(`${VIRTUAL}/d/e`)!.modifiedAt = 50
    files.entries.get(`${VIRTUAL}/a`)!.modifiedAt = 60
    files.entries.get(`${VIRTUAL}/c`)!.modifiedAt = 40
    const { paths, modifiedAt } = await searchIn(files).files(fileQuery({ sort: 'newest' }))
    expect([namesIn(VIRTUAL, paths), modifiedAt]).toEqual([['a', 'b', 'd/e', 'c'], [60, 50, 50, 40]])
  })
  it('are the first ones of too many, the same each time, and that is told', async () => {
    const many = memory(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`d${index % 3}/f${String(index).padStart(2, '0')}`, ''])))
    const first = await searchIn(many, { maxEntries: 10 }).files(fileQuery({}))
    expect([first.paths.length, first.notes]).toEqual([7, ['only the first 10 files and folders of the virtual folder were looked at; name a folder in it for the others']])
    expect(await searchIn(many, { maxEntries: 10 }).files(fileQuery({}))).toEqual(first)
  })
  it('leave out a folder that may not be looked into, and that is told', async () => {
    const files = memory({ 'a.ts': '', 'closed/b.ts': '' })
    const readDirectory = (target: FileTarget) => (target.path.endsWith('/closed') ? Promise.reject(readonlyFile('closed', 'may not be read')) : files.readDirectory(target))
    const { paths, notes } = await searchIn({ resolve: files.resolve.bind(files), stat: files.stat.bind(files), readText: files.readText.bind(files), readDirectory }).files(fileQuery({}))
    expect([namesIn(VIRTUAL, paths), notes]).toEqual([['a.ts'], ['1 files or folders could not be read.']])
  })
  it.each<[string, Partial<FileQuery>, string]>([
    ['a wrong glob', { glob: '{a' }, 'SEARCH_INVALID_PATTERN'],
    ['a folder that is not there', { root: `${VIRTUAL}/gone` }, 'SEARCH_FAILED'],
    ['a file', { root: `${VIRTUAL}/a.ts` }, 'SEARCH_FAILED'],
    ['a stop', { signal: AbortSignal.abort() }, 'SEARCH_ABORTED'],
  ])('are refused for %s', async (_name, query, code) => {
    await expect(searchIn(memory()).files(fileQuery(query))).rejects.toMatchObject({ code })
  })
})

describe('lines in a virtual folder', () => {
  const lines = (root: string, { matches }: Awaited<ReturnType<Search['text']>>) => matches.map(({ path, lineNumber, line, isContext }) => `${path.slice(root.length + 1)}:${lineNumber}${isContext ? '-' : ':'}${line}`)
  it.each<Partial<TextQuery>>([
    {}, { includeIgnored: true }, { ignoreCase: true }, { contextLines: 1 }, { include: '*.ts' }, { include: '.hidden*' }, { include: 'sub/**' }, { include: '*.{js,rs}' }, { type: 'rust' },
    { type: 'ts', include: 'a.*' }, { root: `${VIRTUAL}/a.ts` }, { root: `${VIRTUAL}/a.ts`, include: '*.js' }, { root: `${VIRTUAL}/sub` }, { pattern: String.raw`hit$` }, { pattern: String.raw`\bhit\b.*é` },
    { pattern: String.raw`\{\n\s*hit`, multiline: true }, { pattern: '^$' }, { pattern: '(?i)HIT' }, { pattern: 'nowhere' }, { root: `${VIRTUAL}/.git` },
  ])('are those that ripgrep finds on the disk: %j', async (query) => {
    const virtual = await searchIn(memory()).text(textQuery(query))
    const real = await ripgrep.text(textQuery({ ...query, root: onDisk(query.root ?? VIRTUAL) }))
    expect(lines(VIRTUAL, virtual)).toEqual(lines(disk, real))
  })
  it('are told to be of a virtual folder', async () => expect((await searchIn(memory({ a: 'hit', b: '' })).text(textQuery({}))).notes).toEqual(['2 files of a virtual folder were searched']))
  it('leave out a large file, and what follows the last one that is read, and say so', async () => {
    const large = memory({ ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${String(index).padStart(2, '0')}`, 'hit\n'])), large: 'hit\n'.repeat(50) })
    const { matches, notes } = await searchIn(large, { maxFileBytes: 100, maxTotalBytes: 40 }).text(textQuery({}))
    expect([matches.length, notes]).toEqual([16, ['16 files of a virtual folder were searched', 'only the first 40 characters of the folder were searched; name a folder in it for the rest']])
    expect((await searchIn(large, { maxFileBytes: 100 }).text(textQuery({}))).notes).toContain('1 files have more than 100 bytes and were left out')
  })
  it('over several lines are looked for in so many files', async () => {
    const { matches, notes } = await searchIn(memory({ a: 'h\nit', b: 'h\nit', c: 'h\nit' }), { maxMultilineFiles: 2 }).text(textQuery({ pattern: String.raw`h\nit`, multiline: true }))
    expect([matches.length, notes.at(-1)]).toEqual([4, 'a search over lines looks at 2 files of a virtual folder; narrow it with path or include for the others'])
  })
  it('count a file that cannot be read', async () => {
    const files = memory({ a: 'hit', b: 'hit' })
    const readText: MemoryFileSystem['readText'] = (target, options) => (target.path.endsWith('/b') ? Promise.reject(notFound('b')) : files.readText(target, options))
    const { matches, notes } = await searchIn({ resolve: files.resolve.bind(files), stat: files.stat.bind(files), readDirectory: files.readDirectory.bind(files), readText }).text(textQuery({}))
    expect([matches.length, notes]).toEqual([1, ['1 files of a virtual folder were searched', '1 files or folders could not be read.']])
  })
  it('are those of unsaved texts, and that is told', async () => {
    const files = memory({ a: 'hit on the disk', b: 'hit' })
    const readText: MemoryFileSystem['readText'] = async (target, options) => {
      const read = await files.readText(target, options)
      return target.path.endsWith('/a') ? { ...read, text: 'a\nhit typed', source: 'buffer', isDirty: true } : read
    }
    const { matches, overlaidPaths } = await searchIn({ resolve: files.resolve.bind(files), stat: files.stat.bind(files), readDirectory: files.readDirectory.bind(files), readText }).text(textQuery({}))
    expect([matches.map(({ lineNumber, line }) => [lineNumber, line]), overlaidPaths]).toEqual([[[2, 'hit typed'], [1, 'hit']], [`${VIRTUAL}/a`]])
  })
  it.each<[string, Partial<TextQuery>, string]>([
    ['a wrong expression', { pattern: '(' }, 'SEARCH_INVALID_PATTERN'],
    ['a wrong expression where no file is', { pattern: '(', include: 'nothing' }, 'SEARCH_INVALID_PATTERN'],
    ['a wrong glob', { include: '[a' }, 'SEARCH_INVALID_PATTERN'],
    ['an unknown type', { type: 'nosuch' }, 'SEARCH_INVALID_PATTERN'],
    ['a place that is not there', { root: `${VIRTUAL}/gone` }, 'SEARCH_FAILED'],
    ['a stop', { signal: AbortSignal.abort() }, 'SEARCH_ABORTED'],
  ])('are refused for %s', async (_name, query, code) => {
    await expect(searchIn(memory()).text(textQuery(query))).rejects.toMatchObject({ code })
  })
  it('stop being read with the first question after a stop', async () => {
    const files = memory(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${index}`, 'hit'])))
    const stop = new AbortController()
    let reads = 0
    const readText: MemoryFileSystem['readText'] = (target, options) => {
      reads++
      if (reads === 20) stop.abort()
      return files.readText(target, options)
    }
    const work = searchIn({ resolve: files.resolve.bind(files), stat: files.stat.bind(files), readDirectory: files.readDirectory.bind(files), readText }).text(textQuery({ signal: stop.signal }))
    await expect(work).rejects.toMatchObject({ code: 'SEARCH_ABORTED' })
    expect(reads).toBeLessThanOrEqual(28)
  })
})

describe('a list of a virtual folder', () => {
  it.each<[readonly string[]]>([[[]], [['**/sub']], [['**/*.ts', 'b.js']], [['[', '', 'sub/']]])('is what the disk would give without %j', async (excludes) => {
    const told = async (search: Search, root: string) => {
      const paths: string[] = []
      await search.list({ root, excludes, onPaths: (some) => paths.push(...some), signal })
      return paths.sort()
    }
    expect(await told(searchIn(memory()), VIRTUAL)).toEqual(await told(ripgrep, disk))
  })
})

it('a folder of the disk is searched by ripgrep itself', async () => {
  const search = createVirtualSearch({ ripgrep, files: memory() })
  expect((await search.text(textQuery({ root: disk }))).notes).toEqual([])
  await expect(search.files(fileQuery({ root: 'memfs:///w' }))).rejects.toMatchObject({ code: 'SEARCH_FAILED' })
})
