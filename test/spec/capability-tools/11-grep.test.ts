import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, chmodSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProcessRunner } from '../../../extension/capabilities/process.ts'
import { isRunning, until } from '../../contract/process-runner.suite.ts'
import { createSearchRig, type SearchRig } from '../../support/search-rig.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'

/* Chapter 11: grep, and its items of chapter 19, through the pipeline over a real folder. What needs no folder: test/unit/tools/search. */

let rig: SearchRig
beforeAll(async () => {
  rig = await createSearchRig()
})
afterAll(() => rig.dispose())

const bench: SearchRig['bench'] = (...options) => rig.bench(...options)
const put: SearchRig['put'] = (...file) => rig.put(...file)
const at = (path: string) => rig.at(path)

describe('grep', () => {
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

describe('a result over the cap', () => {
  it('is a page of 250 lines with the place of the whole, and a long line is cut between characters in both', async () => {
    await put('over/a.over', `${'é'.repeat(1_500)} mark\n${'mark\n'.repeat(299)}`)
    const { grep, blobs } = await bench()
    const result = await grep({ pattern: 'mark', path: 'over' })
    const [[place, whole]] = [...blobs.spills] as [[string, string]]
    expect(textOf(result).startsWith(`Found 300 matches in 1 file, the first 250 shown\n\nover/a.over\nLine 1: ${'é'.repeat(1_000)}… (line cut)\nLine 2: mark\n`)).toBe(true)
    expect(textOf(result).endsWith(`Line 250: mark\n\n(250 of 300 matches; all of them: ${place})`)).toBe(true)
    expect([place.endsWith('grep-results.txt'), whole.startsWith(`over/a.over\nLine 1: ${'é'.repeat(1_000)}… (line cut)\n`), whole.endsWith('Line 300: mark\n')]).toEqual([true, true, true])
    const { matches } = outcomeOf(result) as { matches: { line: string }[] }
    expect([matches.length, matches[0]?.line]).toEqual([300, `${'é'.repeat(1_500)} mark`])
  })
})

describe('odd trees', () => {
  it('a name that is no UTF-8 is counted, and does no harm', async () => {
    if (process.platform !== 'linux') return
    await put('names/ok.nm', 'named\n')
    writeFileSync(Buffer.concat([Buffer.from(`${at('names')}/bad`), Buffer.from([0xff]), Buffer.from('.nm')]), 'named\n')
    expect(textOf(await (await bench()).grep({ pattern: 'named', path: 'names' }))).toBe('Found 1 match in 1 file\n\nnames/ok.nm\nLine 1: named\n(1 files with names that are not valid UTF-8 were left out)')
  })
  it('a FIFO, a link in a circle and a folder that may not be looked into are passed over, and what was closed is told', async () => {
    await put('odd-tree/in/a.txt', 'tree\n')
    await put('odd-tree/closed/b.txt', 'tree\n')
    execFileSync('mkfifo', [at('odd-tree/pipe')])
    symlinkSync('..', at('odd-tree/in/up'))
    symlinkSync('self', at('odd-tree/self'))
    chmodSync(at('odd-tree/closed'), 0)
    const text = textOf(await (await bench()).grep({ pattern: 'tree', path: 'odd-tree' }))
    chmodSync(at('odd-tree/closed'), 0o755)
    expect(text).toContain('odd-tree/in/a.txt\nLine 1: tree')
    expect(text.includes('1 files or folders could not be read.') || text.includes('closed/b.txt')).toBe(true)
    expect(text).not.toContain('/up/')
  })
  it('a file of a gigabyte of nothing is binary and searched no further', async () => {
    await put('sparse/zeros.bin', 'zero\n')
    truncateSync(at('sparse/zeros.bin'), 1_000_000_000)
    await put('sparse/small.txt', 'zero\n')
    expect(textOf(await (await bench()).grep({ pattern: '^zero$', path: 'sparse' }))).toContain('small.txt\nLine 1: zero')
  })
  it('a file that grows while it is searched ends', async () => {
    await put('growing/log.txt', 'grow\n'.repeat(100))
    const writer = spawn('bash', ['-c', `while :; do printf 'grow\\n%.0s' {1..50} >> log.txt; done`], { cwd: at('growing'), stdio: 'ignore' })
    try {
      const outcome = outcomeOf(await (await bench()).grep({ pattern: 'grow', path: 'growing' })) as { matches?: unknown[]; code?: string }
      // It may grow faster than it is searched: then there is a cap.
      if (outcome.matches) expect(outcome.matches.length).toBeGreaterThanOrEqual(100)
      else expect(outcome.code).toBe('SEARCH_RAW_OUTPUT_OVERFLOW')
    } finally {
      const gone = new Promise((resolve) => writer.once('exit', resolve))
      writer.kill('SIGKILL')
      await gone
    }
    appendFileSync(at('growing/log.txt'), 'over\n')
  })
  it.each([String.raw`(a+)+$`, String.raw`(a|aa)+b`, String.raw`^(([a-z])+.)+[A-Z]([a-z])+$`])('an expression that others cannot bear is quick here: %s', async (pattern) => {
    await put('bomb/a.txt', `${'a'.repeat(100_000)}!\n`)
    expect((outcomeOf(await (await bench()).grep({ pattern, path: 'bomb' })) as { matches: unknown[] }).matches).toEqual([])
  })
  it.each([String.raw`(\w{1000}){1000}`, 'a{100000}{100000}'])('an expression that would need too much memory is refused: %s', async (pattern) =>
    expect(outcomeOf(await (await bench()).grep({ pattern, path: 'bomb' }))).toMatchObject({ code: 'SEARCH_INVALID_PATTERN' }))
})

describe('a stop', () => {
  it('kills ripgrep while it works', async () => {
    const pids: number[] = []
    // In the place of ripgrep a program that would never end.
    const start: ProcessRunner['start'] = async (spec) => {
      const running = await rig.runner.start({ ...spec, command: 'bash', args: ['-c', 'sleep 1000'] })
      pids.push(running.pid)
      return running
    }
    const stop = new AbortController()
    const { grep } = await bench(false, [], { processes: { ...rig.runner, start, dispose: () => Promise.resolve() } })
    const result = grep({ pattern: 'hit' }, stop.signal)
    await until(() => pids.length === 1)
    stop.abort()
    expect(['SEARCH_ABORTED', 'ABORTED']).toContain((outcomeOf(await result) as { code: string }).code)
    await until(() => !pids.some(isRunning))
  })
})

describe('without ripgrep', () => {
  it('a search says what the person can do', async () => {
    const { grep } = await bench(false, [], { findProgram: () => Promise.resolve('/no/such/rg') })
    expect(outcomeOf(await grep({ pattern: 'hit' }))).toEqual({ code: 'SEARCH_FAILED', message: expect.stringContaining('could not be started') as string })
  })
})
