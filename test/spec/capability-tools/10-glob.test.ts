import { execFileSync } from 'node:child_process'
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCount } from '../../support/run-count.ts'
import { createSearchRig, type SearchRig } from '../../support/search-rig.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'

/* Chapter 10: glob, and its items of chapter 19, through the pipeline over a real folder. What needs no folder: test/unit/tools/search. */

let rig: SearchRig
beforeAll(async () => {
  rig = await createSearchRig()
})
afterAll(() => rig.dispose())

const bench: SearchRig['bench'] = (...options) => rig.bench(...options)
const paths = async (args: object, isMultiRoot = false, inner: readonly string[] = []) => (outcomeOf(await (await bench(isMultiRoot, inner)).glob(args)) as { paths: string[] }).paths

describe('glob', () => {
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

describe('a list over the cap', () => {
  it('is a page of the newest 100, with the place of all of them and how they lie', async () => {
    for (let index = 0; index < 120; index++) await rig.put(`many/d${index % 2}/f${index}.cap`, '', 1000 + index)
    const { glob, blobs } = await bench()
    const result = await glob({ pattern: '*.cap' })
    const lines = textOf(result).split('\n')
    const [[place, whole]] = [...blobs.spills] as [[string, string]]
    expect([lines[0], lines[99], lines.slice(100)]).toEqual(['many/d0/f0.cap', 'many/d1/f99.cap', ['', `(100 of 120 files, newest first; all of them: ${place})`, 'By folder: many/ 120']])
    expect([place.endsWith('glob-results.txt'), whole.trimEnd().split('\n').length]).toEqual([true, 120])
    expect((outcomeOf(result) as { paths: string[] }).paths).toHaveLength(120)
  })
})

describe('odd trees', () => {
  it('a name that is no UTF-8 is counted, and does no harm', async () => {
    if (process.platform !== 'linux') return
    await rig.put('names/ok.nm', '')
    writeFileSync(Buffer.concat([Buffer.from(`${rig.at('names')}/bad`), Buffer.from([0xff]), Buffer.from('.nm')]), '')
    expect(textOf(await (await bench()).glob({ pattern: '*', path: 'names' }))).toBe('names/ok.nm\n(1 files with names that are not valid UTF-8 are left out)')
  })
  it('a FIFO, a link in a circle and a folder that may not be looked into are passed over', async () => {
    await rig.put('odd-tree/in/a.txt', '')
    await rig.put('odd-tree/closed/b.txt', '')
    execFileSync('mkfifo', [rig.at('odd-tree/pipe')])
    symlinkSync('..', rig.at('odd-tree/in/up'))
    symlinkSync('self', rig.at('odd-tree/self'))
    chmodSync(rig.at('odd-tree/closed'), 0)
    const found = await paths({ pattern: '**', path: 'odd-tree' })
    chmodSync(rig.at('odd-tree/closed'), 0o755)
    // Root may look into every folder.
    expect(found.filter((path) => !path.includes('closed'))).toEqual(['odd-tree/in/a.txt'])
  })
  it('a tree of many files is listed whole', async () => {
    const count = runCount({ full: 100_000, desk: 20_000 })
    execFileSync('bash', ['-c', `mkdir -p huge && cd huge && for d in $(seq 1 ${count / 1000}); do mkdir -p d$d; (cd d$d && seq -f 'f%g.big' 1 1000 | xargs touch); done`], { cwd: rig.at('.') })
    const { glob } = await bench()
    const result = await glob({ pattern: '*.big' })
    expect((outcomeOf(result) as { paths: string[] }).paths).toHaveLength(count)
    expect(textOf(result)).toContain(`(100 of ${count} files, newest first; all of them: `)
  })
})
