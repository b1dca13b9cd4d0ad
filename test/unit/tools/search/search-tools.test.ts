import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../extension/base/json.ts'
import type { FileKey, FileSystem } from '../../../../extension/capabilities/file-system.ts'
import { SearchError, type FileQuery, type Search, type TextMatch, type TextQuery } from '../../../../extension/capabilities/search.ts'
import type { WorkspaceFolder } from '../../../../extension/capabilities/workspace.ts'
import { timeOutGuard } from '../../../../extension/core/tools/guards/time-out.ts'
import { searchTools } from '../../../../extension/tools/search/plugin.ts'
import { onOneLine, shownPath } from '../../../../extension/tools/shown-path.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createMemoryBlobStore } from '../../../support/memory-blob-store.ts'
import { createToolBench, outcomeOf, textOf, type RunOptions } from '../../../support/tool-bench.ts'

const files: Pick<FileSystem, 'resolve' | 'stat'> = {
  async resolve(path, cwd) {
    const absolute = path === '.' ? cwd : path.startsWith('/') ? path : `${cwd}/${path}`
    return { key: absolute as FileKey, path: absolute, spelling: path, isDanglingLink: false, exists: !path.includes('missing') }
  },
  stat: async ({ path }) => ({ kind: path.endsWith('.ts') ? 'file' : 'directory', size: 0, modifiedAt: 0, isReadonly: false }),
}
const match = (path: string, lineNumber: number, line: string | null = 'hit', isContext = false): TextMatch => ({ path, lineNumber, line, isContext })

const bench = async (
  found: { paths?: readonly string[]; matches?: readonly TextMatch[]; skippedNames?: number; overlaidPaths?: readonly string[]; notes?: readonly string[]; error?: Error } = {},
  more: { folders?: readonly WorkspaceFolder[]; putSpill?: 'fails' } = {},
) => {
  const made = createToolBench(createFakeAgent({ cwd: '/project' }))
  const queries: (FileQuery | TextQuery)[] = []
  const search: Search = {
    list: () => Promise.resolve(),
    async files(query) {
      queries.push(query)
      if (found.error) throw found.error
      return { paths: (found.paths ?? []).filter((path) => path.startsWith(`${query.root}/`)), skippedNames: found.skippedNames ?? 0 }
    },
    async text(query) {
      queries.push(query)
      if (found.error) throw found.error
      return { matches: (found.matches ?? []).filter(({ path }) => path.startsWith(query.root)), skippedNames: found.skippedNames ?? 0, overlaidPaths: found.overlaidPaths ?? [], notes: found.notes ?? [] }
    },
  }
  const blobs = createMemoryBlobStore()
  const fiber = await made.mount(
    searchTools({
      search,
      files,
      workspace: { folders: () => more.folders ?? [{ name: 'work', path: '/project' }] },
      blobs: more.putSpill === 'fails' ? { putSpill: () => Promise.reject(new Error('full')) } : blobs,
      logger: made.logger,
    }),
  )
  return {
    ...made,
    blobs,
    fiber,
    queries,
    glob: (args: object = {}, options?: RunOptions) => made.run('glob', { pattern: '*.ts', ...args }, options),
    grep: (args: object = {}, options?: RunOptions) => made.run('grep', { pattern: 'hit', ...args }, options),
  }
}
const many = (count: number, folder = 'src') => Array.from({ length: count }, (_, index) => `/project/${folder}/f${index}.ts`)

describe('glob', () => {
  it('lists files as they came, relative inside the session’s folder', async () => {
    const { glob, queries } = await bench({ paths: ['/project/b.ts', '/project/src/a.ts'] })
    const result = await glob()
    expect(outcomeOf(result)).toEqual({ root: '.', paths: ['b.ts', 'src/a.ts'], skippedNames: 0 })
    expect(textOf(result)).toBe('b.ts\nsrc/a.ts')
    expect(queries).toMatchObject([{ root: '/project', glob: '*.ts', includeIgnored: false, sort: 'newest' }])
  })
  it('looks into one folder and at ignored files when asked', async () => {
    const { glob, queries } = await bench({ paths: ['/other/a.ts'] })
    expect(textOf(await glob({ path: '/other', include_ignored: true }))).toBe('/other/a.ts')
    expect(queries).toMatchObject([{ root: '/other', includeIgnored: true }])
  })
  it('says that nothing was found, and what was not looked at', async () => {
    const { glob } = await bench()
    expect(textOf(await glob())).toBe('No files match *.ts. Ignored files were not searched; set include_ignored to search them too.')
    expect(textOf(await glob({ include_ignored: true }))).toBe('No files match *.ts.')
  })
  it('shows 100 of more, with where the others are, and the value is complete', async () => {
    const { glob, blobs } = await bench({ paths: [...many(60), ...many(41, 'test')] })
    const result = await glob()
    const [[path, whole]] = [...blobs.spills] as [[string, string]]
    expect(outcomeOf(result)).toMatchObject({ savedTo: path, paths: expect.objectContaining({ length: 101 }) as unknown })
    expect(whole.split('\n')).toHaveLength(102)
    const lines = textOf(result).split('\n')
    expect(lines.slice(99)).toEqual(['test/f39.ts', '', `(100 of 101 files, newest first; all of them: ${path})`, 'By folder: src/ 60, test/ 41'])
  })
  it('of exactly 100 saves nothing', async () => {
    const { glob, blobs } = await bench({ paths: many(100) })
    expect([textOf(await glob()).split('\n').length, blobs.spills.size]).toEqual([100, 0])
  })
  it('says when the whole list could not be saved', async () => {
    const { glob } = await bench({ paths: many(101) }, { putSpill: 'fails' })
    expect(textOf(await glob())).toContain('(100 of 101 files, newest first; the whole list could not be saved, so narrow the search)')
  })
  it('gives a program everything and writes no file for it', async () => {
    const { glob, blobs } = await bench({ paths: many(101) })
    const result = await glob({}, { isNested: true })
    expect([(outcomeOf(result) as { paths: string[] }).paths.length, blobs.spills.size, result.meta]).toEqual([101, 0, undefined])
  })
  it('counts names that cannot be shown', async () => {
    const { glob } = await bench({ paths: ['/project/a.ts'], skippedNames: 2 })
    expect(textOf(await glob())).toBe('a.ts\n(2 files with names that are not valid UTF-8 are left out)')
  })
  it('looks into every open folder and leads paths with its name', async () => {
    const folders = [{ name: 'work', path: '/project' }, { name: 'lib', path: '/lib' }]
    const { glob } = await bench({ paths: ['/project/a.ts', '/lib/b.ts'] }, { folders })
    expect(outcomeOf(await glob())).toEqual({ root: 'work, lib', paths: ['work/a.ts', 'lib/b.ts'], skippedNames: 0 })
  })

  const refused: readonly [string, object, string, string][] = [
    ['a blank pattern', { pattern: ' ' }, 'INVALID_ARGS', 'pattern is blank'],
    ['a missing pattern', { pattern: undefined }, 'INVALID_ARGS', 'pattern'],
    ['a blank path', { path: '' }, 'INVALID_ARGS', 'path is blank'],
    ['a folder that is not there', { path: 'missing' }, 'SEARCH_FAILED', 'missing does not exist'],
    ['a file for a folder', { path: 'a.ts' }, 'SEARCH_FAILED', 'a.ts is not a folder'],
  ]
  it.each(refused)('refuses %s', async (_name, args, code, message) => {
    const given = Object.fromEntries(Object.entries({ pattern: '*', ...args }).filter(([, value]) => value !== undefined))
    expect(outcomeOf(await (await bench()).run('glob', given))).toEqual({ code, message: expect.stringContaining(message) as string })
  })
  it('reports a bad pattern as the search does', async () => {
    const { glob } = await bench({ error: new SearchError('SEARCH_INVALID_PATTERN', 'unclosed [') })
    expect(outcomeOf(await glob({ pattern: '[' }))).toEqual({ code: 'SEARCH_INVALID_PATTERN', message: 'unclosed [' })
  })
})

describe('grep', () => {
  it('shows matching lines by file, and passes every argument on', async () => {
    const { grep, queries } = await bench({ matches: [match('/project/a.ts', 3, 'hit 1'), match('/project/a.ts', 7, 'hit 2'), match('/project/b.ts', 1, 'hit 3')] })
    const result = await grep({ include: '*.{ts,tsx}', ignore_case: true, multiline: true, type: 'ts', include_ignored: true, context: 2 })
    expect(outcomeOf(result)).toEqual({
      matches: [
        { path: 'a.ts', lineNumber: 3, line: 'hit 1' },
        { path: 'a.ts', lineNumber: 7, line: 'hit 2' },
        { path: 'b.ts', lineNumber: 1, line: 'hit 3' },
      ],
      notes: [],
    })
    expect(textOf(result)).toBe('Found 3 matches in 2 files\n\na.ts\nLine 3: hit 1\nLine 7: hit 2\n\nb.ts\nLine 1: hit 3')
    expect(queries).toMatchObject([{ root: '/project', pattern: 'hit', include: '*.{ts,tsx}', ignoreCase: true, multiline: true, type: 'ts', includeIgnored: true, contextLines: 2 }])
  })
  it('marks context and gaps', async () => {
    const { grep } = await bench({ matches: [match('/project/a', 1, 'x', true), match('/project/a', 2), match('/project/a', 3, 'y', true), match('/project/a', 8, 'z', true), match('/project/a', 9)] })
    expect(textOf(await grep({ context: 1 }))).toBe('Found 2 matches in 1 file\n\na\nLine 1- x\nLine 2: hit\nLine 3- y\n…\nLine 8- z\nLine 9: hit')
  })
  it('shows 250 of more, the rest is in a file', async () => {
    const { grep, blobs } = await bench({ matches: Array.from({ length: 251 }, (_, index) => match('/project/a', index + 1)) })
    const result = await grep()
    const [[path, whole]] = [...blobs.spills] as [[string, string]]
    expect(textOf(result)).toMatch(/^Found 251 matches in 1 file, the first 250 shown\n/)
    expect(textOf(result).endsWith(`Line 250: hit\n\n(250 of 251 matches; all of them: ${path})`)).toBe(true)
    expect(whole.endsWith('\nLine 251: hit\n')).toBe(true)
    expect((outcomeOf(result) as { matches: unknown[] }).matches).toHaveLength(251)
  })
  it('shows as many as head_limit says, with their context', async () => {
    const { grep } = await bench({ matches: [match('/project/a', 1), match('/project/a', 2, 'x', true), match('/project/a', 4, 'y', true), match('/project/a', 5)] })
    expect(textOf(await grep({ head_limit: 1, context: 1 }))).toContain('a\nLine 1: hit\nLine 2- x\n\n(1 of 2 matches; all of them: ')
  })
  it('lists files or counts', async () => {
    const { grep } = await bench({ matches: [match('/project/a', 1), match('/project/a', 2), match('/project/b', 1)] })
    expect(textOf(await grep({ output_mode: 'files' }))).toBe('Found 3 matches in 2 files\n\na\nb')
    expect(textOf(await grep({ output_mode: 'count' }))).toBe('Found 3 matches in 2 files\n\na: 2\nb: 1')
    expect(textOf(await grep({ output_mode: 'files', head_limit: 1 }))).toMatch(/\n\na\n\n\(1 of 2 files; all of them: /)
  })
  it('cuts a long line between characters, in the page only', async () => {
    const long = 'é'.repeat(1_500)
    const { grep } = await bench({ matches: [match('/project/a', 1, long)] })
    const result = await grep()
    expect(textOf(result)).toContain(`Line 1: ${'é'.repeat(1_000)}… (line cut)`)
    expect(outcomeOf(result)).toMatchObject({ matches: [{ line: long }] })
  })
  it('stands in for a line that is not text, and says what else it did', async () => {
    const { grep } = await bench({ matches: [match('/project/a', 1, null)], skippedNames: 1, overlaidPaths: ['/project/b'], notes: ['fallback'] })
    expect(textOf(await grep())).toBe(
      'Found 1 match in 1 file\n\na\nLine 1: (this line is not valid UTF-8)\n(1 files with names that are not valid UTF-8 were left out)\n(unsaved text of the editor was searched in b)\n(fallback)',
    )
  })
  it('says that nothing was found', async () => expect(textOf(await (await bench()).grep({ include_ignored: true }))).toBe('No lines match hit.'))
  it('takes a file as path', async () => {
    const { grep, queries } = await bench({ matches: [match('/project/a.ts', 1)] })
    expect(textOf(await grep({ path: 'a.ts' }))).toContain('a.ts\nLine 1: hit')
    expect(queries).toMatchObject([{ root: '/project/a.ts' }])
  })
  it('gives a program everything and writes no file for it', async () => {
    const { grep, blobs } = await bench({ matches: Array.from({ length: 300 }, (_, index) => match('/project/a', index + 1)) })
    await grep({}, { isNested: true })
    expect(blobs.spills.size).toBe(0)
  })

  const refused: readonly [string, object, string, string][] = [
    ['an empty pattern', { pattern: '' }, 'INVALID_ARGS', 'pattern is empty'],
    ['a blank path', { path: ' ' }, 'INVALID_ARGS', 'path is blank'],
    ['a path that is not there', { path: 'missing' }, 'SEARCH_FAILED', 'missing does not exist'],
    ['an include that excludes', { include: '!*.ts' }, 'INVALID_ARGS', 'cannot exclude'],
    ['an include that is a list', { include: '*.ts,*.js' }, 'INVALID_ARGS', 'not a list'],
    ['a blank include', { include: '' }, 'INVALID_ARGS', 'include is blank'],
    ['too much context', { context: 21 }, 'INVALID_ARGS', '0 to 20'],
    ['half a line of context', { context: 0.5 }, 'INVALID_ARGS', 'context'],
    ['a limit of nothing', { head_limit: 0 }, 'INVALID_ARGS', '1 to 1000'],
    ['an unknown mode', { output_mode: 'all' }, 'INVALID_ARGS', 'output_mode'],
  ]
  it.each(refused)('refuses %s', async (_name, args, code, message) =>
    expect(outcomeOf(await (await bench()).grep(args))).toEqual({ code, message: expect.stringContaining(message) as string }))
  it('takes white space as a pattern and a comma in braces', async () =>
    expect((await (await bench()).grep({ pattern: ' ', include: '*.{ts,js}' })).isError).toBe(false))
})

describe('both', () => {
  it('overlap with their like', async () => {
    const { ctx } = await bench()
    expect(['glob', 'grep'].map((name) => ctx.tools.executionMode({ name, arguments: { pattern: 'x' } }))).toEqual(['parallel', 'parallel'])
  })
  it('end after 30 s', async () => {
    const { grep, mount, ctx } = await bench()
    const clock = createManualClock()
    await mount(timeOutGuard({ clock }))
    expect(['glob', 'grep'].map((name) => ctx.tools.get(name)?.timeoutMs)).toEqual([30_000, 30_000])
    expect((await grep()).isError).toBe(false)
  })
  it('need a session', async () => expect(outcomeOf(await (await bench()).grep({}, { agent: null }))).toMatchObject({ code: 'INVALID_ARGS' }))
  it('go with their plugin, prompt section too', async () => {
    const { ctx, fiber, promptSections } = await bench()
    await fiber.dispose()
    expect([ctx.tools.get('glob'), ctx.tools.get('grep'), promptSections]).toEqual([undefined, undefined, []])
  })
})

describe('the cards', () => {
  const result = async (name: string, args: unknown, meta: Json | undefined, isError = false) =>
    (await bench()).ctx.tools.get(name)?.presentResult?.(args as never, { content: [{ type: 'text', text: 't' }], isError, ...(meta !== undefined && { meta }) })
  const pending = async (name: string, args: unknown) => (await bench()).ctx.tools.get(name)?.presentCall?.(args as never)

  it('say what is searched', async () => {
    expect(await pending('glob', { pattern: '*.ts' })).toEqual({ card: 'generic', title: 'Find *.ts', kind: 'search', subject: '*.ts' })
    expect(await pending('glob', { pattern: '*.ts', path: 'src' })).toEqual({ card: 'generic', title: 'Find *.ts in src', kind: 'search', subject: '*.ts in src' })
    expect(await pending('grep', { pattern: 'x', path: 'src', include: '*.ts' })).toEqual({ card: 'generic', title: 'Search for x in src (*.ts)', kind: 'search', subject: 'x in src (*.ts)' })
    expect(await pending('grep', {})).toBeUndefined()
  })
  it('show what was found, from the facts', async () => {
    const { glob, grep } = await bench({ paths: ['/project/a.ts'], matches: [match('/project/a', 1, 'c', true), match('/project/a', 2), match('/project/b', 3)] })
    expect(await result('glob', { pattern: '*' }, (await glob()).meta)).toEqual({ card: 'search', shape: 'paths', paths: ['a.ts'], total: 1, truncated: false })
    expect(await result('grep', { pattern: 'x' }, (await grep()).meta)).toEqual({
      card: 'search',
      shape: 'matches',
      files: [
        { path: 'a', matches: [{ lineNumber: 2, line: 'hit' }] },
        { path: 'b', matches: [{ lineNumber: 3, line: 'hit' }] },
      ],
      total: 2,
      truncated: false,
      query: { pattern: 'x', isCaseSensitive: true },
    })
  })
  it('tell where in the line a match begins', async () => {
    const { grep } = await bench({ matches: [{ ...match('/project/a', 2), column: 7 }] })
    expect(await result('grep', { pattern: 'x' }, (await grep()).meta)).toMatchObject({ files: [{ path: 'a', matches: [{ lineNumber: 2, line: 'hit', column: 7 }] }] })
  })
  it.each<[object, object]>([
    [{ ignore_case: true, multiline: true, include_ignored: true }, { isCaseSensitive: false, isMultiline: true, includesIgnored: true }],
    [{ include: '*.{ts,tsx}' }, { isCaseSensitive: true, files: '*.{ts,tsx}' }],
    [{ path: 'src/' }, { isCaseSensitive: true, files: 'src/' }],
    [{ path: 'src', include: '*.ts' }, { isCaseSensitive: true, files: 'src/**/*.ts' }],
    [{ path: 'src', include: 'lib/*.ts' }, { isCaseSensitive: true, files: 'src/lib/*.ts' }],
  ])('hold the search for the editor’s own view: %j', async (args, query) => {
    const { grep } = await bench({ matches: [match('/project/a', 2)] })
    expect(await result('grep', { pattern: 'x', ...args }, (await grep()).meta)).toMatchObject({ query: { pattern: 'x', ...query } })
  })
  it('keep at most 65 536 bytes, but one item however large', async () => {
    const { glob, grep } = await bench({ paths: many(5_000), matches: [match('/project/a', 1, 'x'.repeat(1_000)), ...Array.from({ length: 500 }, (_, index) => match('/project/b', index, 'y'.repeat(500)))] })
    for (const { meta } of [await glob(), await grep()]) {
      expect(JSON.stringify(meta).length).toBeLessThan(66_500)
      expect(meta).toMatchObject({ truncated: true })
    }
    const { glob: one } = await bench({ paths: [`/project/${'d'.repeat(70_000)}`] })
    expect((await one()).meta).toMatchObject({ truncated: false, total: 1 })
  })
  it('show an error as text, and nothing for facts they cannot read', async () => {
    expect(await result('grep', { pattern: 'x' }, undefined, true)).toEqual({ card: 'generic', content: [{ type: 'text', text: 't' }] })
    for (const meta of [undefined, 'x', {}, { paths: [1], total: 1, truncated: false }, { files: [{ path: 'a', matches: [{ line: 1 }] }], total: 1, truncated: false }] as const)
      expect([await result('glob', { pattern: 'x' }, meta as Json | undefined), await result('grep', { pattern: 'x' }, meta as Json | undefined)]).toEqual([undefined, undefined])
  })
})

describe('a path on a line of its own', () => {
  const check = (path: string, shown: string) => expect(onOneLine(path)).toBe(shown)
  it('is as it is', () => check('/w/naïve “a” \\ b', '/w/naïve “a” \\ b'))
  it('is quoted when it would break the line or move the cursor', () => {
    check('a\nb', String.raw`"a\nb"`)
    check('a\u001b[2J', String.raw`"a\u001b[2J"`)
    check('a\u0085\u2028', String.raw`"a\u0085\u2028"`)
  })
})

describe('a shown path', () => {
  const check = (path: string, folders: readonly WorkspaceFolder[], shown: string) => expect(shownPath(path, '/w/app', folders)).toBe(shown)
  const two = [{ name: 'app', path: '/w/app' }, { name: 'lib', path: '/w/lib/' }]
  it('is relative inside the folder', () => check('/w/app/a', [], 'a'))
  it('is absolute outside', () => check('/w/apple/a', [], '/w/apple/a'))
  it('is a dot for the folder itself', () => check('/w/app', [], '.'))
  it('is led by the folder’s name when several are open', () => check('/w/lib/a', two, 'lib/a'))
  it('belongs to the innermost folder', () => check('/w/app/sub/a', [...two, { name: 'sub', path: '/w/app/sub' }], 'sub/a'))
  it('is in plain letters inside a virtual folder, as an address outside', () => {
    const shown = (path: string, cwd: string, folders: readonly WorkspaceFolder[] = []) => shownPath(path, cwd, folders)
    expect(shown('memfs:///w/%C3%A9%20%281%29.ts', 'memfs:///w')).toBe('é (1).ts')
    expect(shown('memfs:///a%20b', 'memfs:///')).toBe('a b')
    expect(shown('memfs:///w/a%20b', '/w', [{ name: 'far', path: 'memfs:///w' }, { name: 'near', path: '/w' }])).toBe('far/a b')
    expect(shown('memfs:///x/a%20b', 'memfs:///w')).toBe('memfs:///x/a%20b')
    expect(shown('/w/a%20b', '/w')).toBe('a%20b')
  })
  it('is not led by a name that two folders have', () => check('/w/app/a', [...two, { name: 'app', path: '/x/app' }], 'a'))
})
