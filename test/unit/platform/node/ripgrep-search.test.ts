import { chmod, mkdir, mkdtemp, open, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compileGlob } from '../../../../extension/base/glob.ts'
import type { ProcessRunner, ProcessSpec } from '../../../../extension/capabilities/process.ts'
import type { FileQuery, TextQuery } from '../../../../extension/capabilities/search.ts'
import { createDirectRunner } from '../../../../extension/platform/node/direct-runner.ts'
import { createRipgrepSearch, type RipgrepSearchOptions } from '../../../../extension/platform/node/ripgrep-search.ts'
import { isRunning, until } from '../../../contract/process-runner.suite.ts'

const processes = createDirectRunner()
afterAll(() => processes.dispose())

let root: string
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'search-')))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const put = async (files: Readonly<Record<string, string | Uint8Array>>) => {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
}

const signal = new AbortController().signal
const relative = (path: string) => path.slice(root.length + 1)

const findFiles = async (query: Partial<FileQuery>, options: Partial<RipgrepSearchOptions> = {}) => {
  const { paths, skippedNames } = await createRipgrepSearch({ processes, ...options }).files({ root, glob: '**', includeIgnored: false, sort: 'path', signal, ...query })
  return { paths: paths.map(relative), skippedNames }
}

const findText = async (query: Partial<TextQuery>, options: Partial<RipgrepSearchOptions> = {}) => {
  const hits = await createRipgrepSearch({ processes, ...options }).text({ root, pattern: 'x', ignoreCase: false, multiline: false, includeIgnored: false, contextLines: 0, signal, ...query })
  return { ...hits, matches: hits.matches.map(({ path, lineNumber, line, isContext }) => `${relative(path)}:${lineNumber}${isContext ? '-' : ':'}${line}`) }
}

describe('a list', () => {
  const check = async (excludes: readonly string[], paths: readonly string[], folder = root) => {
    const told: string[] = []
    await createRipgrepSearch({ processes }).list({ root: folder, excludes, onPaths: (some) => told.push(...some), signal })
    expect(told.sort()).toEqual(paths)
  }

  it('tells every file with its path below the root', async () => {
    await put({ 'a.ts': '', 'src/b.ts': '', '.github/c.yml': '' })
    await check([], ['.github/c.yml', 'a.ts', 'src/b.ts'])
  })
  it('leaves out what ignore files hide, also outside a repository', async () => {
    await put({ '.gitignore': 'dist\n', 'dist/a.js': '', 'a.ts': '' })
    await check([], ['.gitignore', 'a.ts'])
  })
  it('leaves out what the editor leaves out', async () => {
    await put({ 'node_modules/x/a.js': '', 'src/node_modules/b.js': '', 'a.min.js': '', 'a.js': '' })
    await check(['**/node_modules', '**/*.min.js'], ['a.js'])
  })
  it('goes on over a glob that nobody understands', async () => {
    await put({ 'a.js': '', 'b.js': '' })
    await check(['[', '', 'b.js'], ['a.js'])
  })
  it('tells nothing of version control', async () => {
    await put({ '.git/HEAD': '', 'a.js': '' })
    await check([], ['a.js'])
    await check([], [], join(root, '.git'))
  })
  it('refuses a file and a folder that is not there', async () => {
    await put({ 'a.js': '' })
    await expect(check([], [], join(root, 'a.js'))).rejects.toMatchObject({ code: 'SEARCH_FAILED' })
    await expect(check([], [], join(root, 'gone'))).rejects.toMatchObject({ code: 'SEARCH_FAILED' })
  })
  it('stops when it is told to', async () => {
    await put({ 'a.js': '' })
    await expect(createRipgrepSearch({ processes }).list({ root, excludes: [], onPaths: () => {}, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'SEARCH_ABORTED' })
  })
})

describe('files', () => {
  const check = async (query: Partial<FileQuery>, paths: readonly string[]) => expect(await findFiles(query)).toEqual({ paths, skippedNames: 0 })

  it('a name at any depth, sorted by path', async () => {
    await put({ 'b.ts': '', 'a/c.ts': '', 'a.ts': '', 'a.js': '' })
    await check({ glob: '*.ts' }, ['a.ts', 'a/c.ts', 'b.ts'])
  })
  it('a glob that is absolute means a path below the root', async () => {
    await put({ 'src/a.ts': '', 'x/src/a.ts': '' })
    await check({ glob: `${root}/src/*.ts` }, ['src/a.ts'])
  })
  it('hidden files are there, version control is not', async () => {
    await put({ '.env': '', '.github/a.yml': '', '.git/config': '', 'sub/.hg/store': '', 'sub/.git': 'gitdir: x' })
    await check({}, ['.env', '.github/a.yml'])
    await check({ includeIgnored: true }, ['.env', '.github/a.yml'])
  })
  it('a root inside version control gives nothing', async () => {
    await put({ '.git/hooks/a': '' })
    await check({ root: join(root, '.git/hooks') }, [])
  })
  it('what ignore files hide stays hidden outside git repositories too, whatever the glob says', async () => {
    await put({ '.gitignore': 'dist/\n*.log\n', '.ignore': 'other\n', 'dist/a.ts': '', 'a.log': '', 'other': '', 'src/a.ts': '', 'node_modules/x/a.ts': '' })
    await check({ glob: '**/*.ts' }, ['node_modules/x/a.ts', 'src/a.ts'])
    await check({ glob: '*.log' }, [])
    await check({ glob: 'dist/**' }, [])
    await check({ glob: '*.{ts,log}', includeIgnored: true }, ['a.log', 'dist/a.ts', 'node_modules/x/a.ts', 'src/a.ts'])
  })
  it('what ripgrep is spared changes nothing of what is found', async () => {
    const names = ['a.ts', 'b.d.ts', '.c.ts', 'x/a.ts', 'x/!odd.ts', 'x/{y}.ts', 'x/y/b.d.ts', 'x/y/c,d.ts', 'x/y/[z].ts', 'X/A.TS', 'plain', 'x/plain', 'x y/a b.ts', 'x/é.ts', 'x:y', '?.ts']
    await put(Object.fromEntries(names.map((name) => [name, ''])))
    const globs = ['**', '*', '*.ts', '**/*.ts', 'x/*', 'x/**', '**/**', 'x/*.ts', '*/a.ts', '**/*.d.ts', '{x,x/y}/*.ts', '{x/a,b.d}.ts', 'x/{a,!odd}.ts', 'x/!odd.ts', 'x/[!a]*.ts', 'x/?.ts', '?.ts', '[é].ts', 'x/[!a].ts', '{?,b.d}.ts', '\\?.ts', '**/plain', 'x y/a b.ts', '**/x:y', 'x/y/c,d.ts', 'x/y/\\[z].ts', '**/é.ts', '***', 'x/***', 'a**.ts', '**/*.{d.ts,{md,js}}', '*.{d.ts,{md,js}}', '{a,.c}.ts', '**/{a,.c}.ts', '.*', '**/.c.ts', 'A.ts', '**/A.TS', '*.t{s,}', '{*.ts,plain}']
    for (const glob of globs) {
      const compiled = compileGlob(glob)
      const expected = 'matches' in compiled ? names.filter(compiled.matches).sort() : []
      expect({ glob, paths: [...(await findFiles({ glob })).paths].sort() }).toEqual({ glob, paths: expected })
    }
  })
  it('newest first, files of the same time by path', async () => {
    await put({ 'a/1': '', b: '', c: '', d: '' })
    for (const [path, time] of [['a/1', 100], ['b', 300], ['c', 200], ['d', 300]] as const) await utimes(join(root, path), time, time)
    await check({ sort: 'newest' }, ['b', 'd', 'c', 'a/1'])
  })
  it('hundreds of files keep their order', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `f${String(index).padStart(3, '0')}`)
    await put(Object.fromEntries(names.map((name) => [name, ''])))
    for (const [index, name] of names.entries()) await utimes(join(root, name), 1000, 1000 + (index % 7))
    const expected = names.toSorted((a, b) => (Number(b.slice(1)) % 7) - (Number(a.slice(1)) % 7) || (a < b ? -1 : 1))
    await check({ sort: 'newest' }, expected)
  })
  it('links are not followed', async () => {
    await put({ 'real/a': '' })
    await symlink('real', join(root, 'folder'))
    await symlink('real/a', join(root, 'file'))
    await check({}, ['real/a'])
  })
  it('a name that is no UTF-8 is counted and does no harm', async () => {
    if (process.platform !== 'linux') return
    await put({ a: '', z: '' })
    await writeFile(Buffer.concat([Buffer.from(`${root}/b`), Buffer.from([0xff])]), '')
    expect(await findFiles({})).toEqual({ paths: ['a', 'z'], skippedNames: 1 })
  })
  it('nothing found is nothing', async () => check({ glob: 'nothing' }, []))
  it('a glob and a folder that begin with a dash', async () => {
    await put({ '-d/-a': '' })
    await check({ root: join(root, '-d'), glob: '-a' }, ['-d/-a'])
  })
  it.each([
    ['a wrong glob', { glob: '[a' }, 'SEARCH_INVALID_PATTERN', /"\[a" is wrong/],
    ['a missing folder', { root: '/no/such/folder' }, 'SEARCH_FAILED', /\/no\/such\/folder.*ENOENT/],
  ])('%s', async (_, query, code, message) => {
    await expect(findFiles(query)).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  })
  it('a file in the place of a folder', async () => {
    await put({ a: '' })
    await expect(findFiles({ root: join(root, 'a') })).rejects.toMatchObject({ code: 'SEARCH_FAILED', message: expect.stringContaining('is a file') })
  })
})

describe('text', () => {
  const check = async (query: Partial<TextQuery>, matches: readonly string[]) => expect((await findText(query)).matches).toEqual(matches)

  it('matching lines, sorted by path, then line', async () => {
    await put({ 'b.txt': 'x\ny\nxx\n', 'a/c.txt': 'ax', 'a.txt': 'x' })
    await check({}, ['a.txt:1:x', 'a/c.txt:1:ax', 'b.txt:1:x', 'b.txt:3:xx'])
  })
  it('one file', async () => {
    await put({ a: 'x\n', b: 'x\n' })
    await check({ root: join(root, 'a') }, ['a:1:x'])
  })
  it('a pattern and a path that begin with a dash', async () => {
    await put({ '-f': '--x\n' })
    await check({ root: join(root, '-f'), pattern: '--x' }, ['-f:1:--x'])
  })
  it('case', async () => {
    await put({ a: 'X\nx\n' })
    await check({}, ['a:2:x'])
    await check({ ignoreCase: true }, ['a:1:X', 'a:2:x'])
  })
  it('context lines are marked', async () => {
    await put({ a: '1\n2\nx\n4\n5\n' })
    await check({ contextLines: 1 }, ['a:2-2', 'a:3:x', 'a:4-4'])
  })
  it('a match over several lines is several lines', async () => {
    await put({ a: '1\nx(\n)y\n4\n' })
    await check({ pattern: String.raw`x\(\n\)y`, multiline: true }, ['a:2:x(', 'a:3:)y'])
  })
  it('CRLF is no part of a line, and $ stands before it', async () => {
    await put({ a: 'x\r\nxy\r\n' })
    await check({ pattern: 'x$' }, ['a:1:x'])
  })
  it('a line that is no UTF-8 is null', async () => {
    await put({ a: Buffer.concat([Buffer.from('ok x\nx '), Buffer.from([0xff]), Buffer.from('\n')]) })
    await check({}, ['a:1:ok x', 'a:2:null'])
  })
  it('UTF-16 is searched as text', async () => {
    await put({ a: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('äx\n', 'utf16le')]) })
    await check({}, ['a:1:äx'])
  })
  it('binary, hidden, ignored and version-control files are not searched', async () => {
    await put({ bin: Buffer.from('x\0\n'), '.hidden': 'x', '.gitignore': 'ignored\n', 'ignored': 'x', '.git/a': 'x', 'shown': 'x' })
    await check({}, ['shown:1:x'])
    await check({ includeIgnored: true }, ['ignored:1:x', 'shown:1:x'])
  })
  it('a root inside version control gives nothing and says so', async () => {
    await put({ '.git/config': 'x' })
    expect(await findText({ root: join(root, '.git') })).toMatchObject({ matches: [], notes: [expect.stringContaining('version control')] })
  })
  it('files to include by name and by path, without what is ignored', async () => {
    await put({ '.gitignore': 'gen\n*.min.ts\n', 'a.ts': 'x', 'a.min.ts': 'x', 'src/b.ts': 'x', 'src/gen/c.ts': 'x', 'src/d.js': 'x' })
    await check({ include: '*.ts' }, ['a.ts:1:x', 'src/b.ts:1:x'])
    await check({ include: 'src/**/*.{ts,js}' }, ['src/b.ts:1:x', 'src/d.js:1:x'])
    await check({ include: '*.ts', root: join(root, 'src/d.js') }, [])
    await check({ include: '*.js', root: join(root, 'src/d.js') }, ['src/d.js:1:x'])
  })
  it('a file type', async () => {
    await put({ 'a.ts': 'x', 'b.md': 'x' })
    await check({ type: 'md' }, ['b.md:1:x'])
    await check({ type: 'ts', include: 'a.*' }, ['a.ts:1:x'])
  })
  it('a name that is no UTF-8 is counted and does no harm', async () => {
    if (process.platform !== 'linux') return
    await put({ a: 'x' })
    await writeFile(Buffer.concat([Buffer.from(`${root}/b`), Buffer.from([0xff])]), 'x\nx')
    expect(await findText({})).toMatchObject({ matches: ['a:1:x'], skippedNames: 1 })
  })
  it('what may not be read is told, and the rest is found', async () => {
    if (process.getuid?.() === 0) return
    await put({ a: 'x', 'closed/b': 'x' })
    await chmod(join(root, 'closed'), 0)
    expect(await findText({})).toMatchObject({ matches: ['a:1:x'], notes: ['1 files or folders could not be read.'] })
    await chmod(join(root, 'closed'), 0o755)
  })
  it.each([
    ['a wrong expression', { pattern: '(' }, 'SEARCH_INVALID_PATTERN', /unclosed group/],
    ['a line end in a search by lines', { pattern: 'a\nb' }, 'SEARCH_INVALID_PATTERN', /not allowed/],
    ['what Rust does not know', { pattern: '(?=x)' }, 'SEARCH_INVALID_PATTERN', /look-around/],
    ['NUL', { pattern: 'a\0' }, 'SEARCH_INVALID_PATTERN', /NUL/],
    ['a wrong glob', { include: '{a' }, 'SEARCH_INVALID_PATTERN', /\{a/],
    ['an unknown type', { type: 'nosuch' }, 'SEARCH_INVALID_PATTERN', /nosuch/],
    ['a missing folder', { root: '/no/such' }, 'SEARCH_FAILED', /ENOENT/],
  ])('%s is refused', async (_, query, code, message) => {
    await expect(findText(query)).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  })
})

describe('limits', () => {
  it('too much output is refused, and ripgrep ended', async () => {
    await put({ a: 'x\n'.repeat(2000) })
    const { runner, pids } = watchedRunner()
    await expect(findText({}, { processes: runner, maxRawBytes: 10_000 })).rejects.toMatchObject({ code: 'SEARCH_RAW_OUTPUT_OVERFLOW', message: expect.stringContaining('10000') })
    await until(() => !pids.some(isRunning))
    await expect(findFiles({}, { maxRawBytes: 3 })).rejects.toMatchObject({ code: 'SEARCH_RAW_OUTPUT_OVERFLOW' })
  })
  it('a file that grows faster than it is searched is refused as too much, not read for ever', async () => {
    await put({ a: 'x\n'.repeat(2000) })
    // Some ten times what ripgrep takes in the same time.
    const piece = Buffer.from('x\n'.repeat(2000))
    const grown = await open(join(root, 'a'), 'a')
    const searched = new AbortController()
    const grow = async () => {
      while (!searched.signal.aborted) await grown.write(piece)
    }
    const growing = grow()
    try {
      await expect(findText({ signal: AbortSignal.timeout(30_000) }, { maxRawBytes: 10_000 })).rejects.toMatchObject({ code: 'SEARCH_RAW_OUTPUT_OVERFLOW' })
    } finally {
      searched.abort()
      await growing
      await grown.close()
    }
  })
  it('all that may be held is found, be it in one file', async () => {
    await put({ a: 'x\n'.repeat(2000) })
    expect((await findText({}, { maxRawBytes: 2000 * 200 + 1000 })).matches).toHaveLength(2000)
    expect((await findText({ multiline: true }, { maxRawBytes: 2000 * 200 + 1000 })).matches).toHaveLength(2000)
  })
  it('names that do not match do not count', async () => {
    await put(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`file${index}`, ''])))
    expect((await findFiles({ glob: 'file7' }, { maxRawBytes: 100 })).paths).toEqual(['file7'])
  })
  it('a stop ends ripgrep at once', async () => {
    const { runner, pids } = watchedRunner(['-c', 'echo; sleep 1000'], 'bash')
    const stop = new AbortController()
    const search = findText({ signal: stop.signal }, { processes: runner })
    await until(() => pids.length === 1)
    stop.abort()
    await expect(search).rejects.toMatchObject({ code: 'SEARCH_ABORTED' })
    expect(pids.some(isRunning)).toBe(false)
  })
  it('a stop before the start', async () => expect(findFiles({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'SEARCH_ABORTED' }))
  it('at most four at once; who waits can be stopped', async () => {
    const { runner, pids } = watchedRunner(['-c', 'sleep 1000'], 'bash')
    const search = createRipgrepSearch({ processes: runner })
    const stops = Array.from({ length: 6 }, () => new AbortController())
    const searches = stops.map(async (stop) => {
      const query = { root, glob: '*', includeIgnored: false, sort: 'path', signal: stop.signal } as const
      return search.files(query).catch((error: { code: string }) => error.code)
    })
    await until(() => pids.length === 4)
    stops[4]?.abort()
    expect(await searches[4]).toBe('SEARCH_ABORTED')
    expect(pids).toHaveLength(4)
    stops[0]?.abort()
    await until(() => pids.length === 5)
    for (const stop of stops) stop.abort()
    expect(await Promise.all(searches)).toEqual(Array(6).fill('SEARCH_ABORTED'))
  })
  it('a search program that is missing or dies is a failure', async () => {
    await expect(findText({}, { findProgram: () => Promise.resolve('/no/such/rg') })).rejects.toMatchObject({ code: 'SEARCH_FAILED', message: expect.stringContaining('/no/such/rg') })
    const { runner } = watchedRunner(['-c', 'kill -KILL $$'], 'bash')
    await expect(findText({}, { processes: runner })).rejects.toMatchObject({ code: 'SEARCH_FAILED', message: expect.stringContaining('SIGKILL') })
  })
  it('what the system did not let it read is told; other failures fail', async () => {
    const failing = (message: string) => watchedRunner(['-c', `echo '${message}' >&2; exit 2`], 'bash').runner
    expect(await findText({}, { processes: failing('rg: /a: Permission denied (os error 13)') })).toMatchObject({ matches: [], notes: ['1 files or folders could not be read.'] })
    await expect(findText({}, { processes: failing('rg: something else') })).rejects.toMatchObject({ code: 'SEARCH_FAILED', message: expect.stringContaining('something else') })
  })
  it("the person's ripgrep settings do not count", async () => {
    await put({ a: 'X', config: '--ignore-case\n' })
    const runner = createDirectRunner({ environment: () => ({ ...process.env, RIPGREP_CONFIG_PATH: join(root, 'config') }) })
    expect((await findText({}, { processes: runner })).matches).toEqual([])
    await runner.dispose()
  })
})

describe('unsaved texts', () => {
  const check = async (texts: Readonly<Record<string, string>>, query: Partial<TextQuery>, matches: readonly string[], overlaid: readonly string[]) => {
    const unsavedTexts = () => Object.entries(texts).map(([path, text]) => ({ path: join(root, path), text }))
    const hits = await findText(query, { unsavedTexts })
    expect({ matches: hits.matches, overlaid: hits.overlaidPaths.map(relative) }).toEqual({ matches, overlaid })
  }

  it('stand in the place of what is on the disk', async () => {
    await put({ a: 'x old\n', b: 'x\n', c: 'x\n' })
    await check({ b: 'new\nx new', c: 'nothing' }, {}, ['a:1:x old', 'b:2:x new'], ['b', 'c'])
  })
  it('keep their own lines and context apart', async () => {
    await put({ a: '', b: '', c: '' })
    await check({ a: 'x', b: '1\nx\n3\n', c: '' }, { contextLines: 2 }, ['a:1:x', 'b:1-1', 'b:2:x', 'b:3-3'], ['a', 'b', 'c'])
  })
  it('match empty lines of their own only', async () => {
    await put({ a: '', b: '' })
    await check({ a: '1\n\n3', b: '\n' }, { pattern: '^$' }, ['a:2:', 'b:1:'], ['a', 'b'])
  })
  it('are searched over lines one by one', async () => {
    await put({ a: '', b: '' })
    await check({ a: 'x\n1\ny', b: 'y\nx\r\n1\r\ny' }, { pattern: '(?s)x.*?y', multiline: true }, ['a:1:x', 'a:2:1', 'a:3:y', 'b:2:x', 'b:3:1', 'b:4:y'], ['a', 'b'])
  })
  it('that are hidden, ignored, not included or elsewhere are left alone', async () => {
    await put({ '.gitignore': 'ignored\n', 'ignored': 'x', '.hidden': 'x', 'a.js': 'x', 'd/a.ts': 'x', 'e/a.ts': 'x' })
    const texts = { 'ignored': 'x', '.hidden': 'x', 'a.js': 'x', 'd/a.ts': 'x new', '../outside': 'x' }
    await check(texts, { include: '*.ts' }, ['d/a.ts:1:x new', 'e/a.ts:1:x'], ['d/a.ts'])
    await check(texts, { root: join(root, 'e') }, ['e/a.ts:1:x'], [])
  })
  it('of the one file that is searched', async () => {
    await put({ a: 'x', b: 'x' })
    await check({ a: 'new x', b: 'new x' }, { root: join(root, 'a') }, ['a:1:new x'], ['a'])
  })
  it('that hold NUL are text all the same', async () => {
    await put({ a: '' })
    await check({ a: '\0\nx' }, {}, ['a:2:x'], ['a'])
  })
  it('cannot be made slow by a pattern', async () => {
    await put({ a: '' })
    await check({ a: `${'a'.repeat(50_000)}\n` }, { pattern: '(a+)+$x' }, [], ['a'])
  })
})

/** Runs another program in the place of ripgrep when one is given, and notes the process ids. */
function watchedRunner(args?: readonly string[], command?: string): { readonly runner: ProcessRunner; readonly pids: number[] } {
  const pids: number[] = []
  const start = async (spec: ProcessSpec) => {
    const running = await processes.start({ ...spec, ...(args && command && { args, command }) })
    pids.push(running.pid)
    return running
  }
  return { runner: { ...processes, start, dispose: async () => {} }, pids }
}
