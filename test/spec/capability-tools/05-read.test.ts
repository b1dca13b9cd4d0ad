import { execFileSync } from 'node:child_process'
import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LanguageAnswer, Languages, LanguageSymbol } from '../../../extension/capabilities/languages.ts'
import { createFileRig, failed, type FileRig } from '../../support/file-rig.ts'
import { notebookJson } from '../../support/notebook-json.ts'
import { lockedPdf, pdfBytes } from '../../support/pdf-bytes.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'

/* Chapter 5, the line "read" of chapter 19, and 20.12. What needs an editor stands in test/editor/file-system.test.ts. */

let rig: FileRig
let languages: Pick<Languages, 'ask'>
/** Something comes in between. */
let beforeReading: () => Promise<void>
beforeAll(async () => {
  rig = await createFileRig({
    alter: (world) => {
      const readLines = world.files.readLines.bind(world.files)
      const files = Object.assign(world.files, {
        readLines: async (...args: Parameters<typeof readLines>) => {
          await beforeReading()
          return await readLines(...args)
        },
      })
      // Nothing here asks a language service for more.
      return { ...world, files, languages: { ask: (...question) => languages.ask(...question) } as Partial<Languages> as Languages }
    },
  })
})
afterAll(() => rig.application.dispose())
beforeEach(async () => {
  beforeReading = async () => undefined
  languages = { ask: async () => ({ kind: 'symbols', symbols: [] }) }
  await rig.next()
})

const shown = async (name: string, args: object = {}) => textOf(await rig.read(name, args))
const enveloped = (name: string, ...body: readonly string[]) => [`<file path="${name}">`, ...body, '</file>'].join('\n')

describe('offset and limit', () => {
  beforeEach(() => rig.put('f', 'line\n'.repeat(2_100)))
  it.each([
    ['offset 1', { offset: 1, limit: 1 }, '1: line\n\n(Lines 1-1 of 2100. Go on with offset 2.)'],
    ['limit 1', { limit: 1 }, '1: line\n\n(Lines 1-1 of 2100. Go on with offset 2.)'],
    ['the last line', { offset: 2_100 }, '2100: line\n\n(End of file, 2100 lines.)'],
  ])('%s', async (_name, args, body) => expect(await shown('f', args)).toBe(enveloped('f', body)))
  it('limit 2 000 is the most', async () => expect(await shown('f', { limit: 2_000 })).toMatch(/\n2000: line\n\n\(Lines 1-2000 of 2100\. Go on with offset 2001\.\)/))
  it.each([
    ['offset 0', { offset: 0 }],
    ['offset fractional', { offset: 1.5 }],
    ['limit 0', { limit: 0 }],
    ['limit 2 001', { limit: 2_001 }],
    ['limit fractional', { limit: 2.5 }],
  ])('%s is refused', async (_name, args) => expect(outcomeOf(await rig.read('f', args))).toEqual(failed('INVALID_ARGS', /must be a whole number/)))
  it('offset past end', async () => expect(outcomeOf(await rig.read('f', { offset: 2_101 }))).toEqual(failed('FS_NOT_FOUND', /has 2100 lines, so there is no line 2101/)))
})

describe('a text file', () => {
  const rows: readonly [name: string, content: string | Uint8Array, body: string][] = [
    ['empty file', '', '\n(The file is empty.)'],
    ['no final newline', 'a\nb', '1: a\n2: b\n\n(End of file, 2 lines.)'],
    ['CRLF', 'a\r\nb\r\n', '1: a\n2: b\n\n(End of file, 2 lines.)'],
    ['lone CR', 'a\rb\n', '1: a\rb\n\n(End of file, 1 line.)'],
    ['5 000-char line', `${'x'.repeat(5_000)}\ny\n`, `1: ${'x'.repeat(2_000)}… (line truncated to 2000 chars)\n2: y\n\n(End of file, 2 lines.)`],
    ['BOM', '\u{FEFF}a\n', '1: a\n\n(End of file, 1 line.)'],
    ['invalid UTF-8 late in file', Buffer.concat([Buffer.from('a\n'.repeat(100)), Buffer.from([0xe9, 0x0a])]), `${Array.from({ length: 100 }, (_, index) => `${index + 1}: a\n`).join('')}101: é\n\n(End of file, 101 lines. Stored as latin1.)`],
  ]
  it.each(rows)('%s', async (_name, content, body) => {
    await rig.put('f', content)
    expect(await shown('f')).toBe(enveloped('f', body))
  })
  it('byte cap before line cap', async () => {
    await rig.put('f', `${'x'.repeat(1_023)}\n`.repeat(60))
    expect(await shown('f')).toMatch(/\n50: x+\n\n\(Output stopped at 51200 bytes, line 50 of 60\. Go on with offset 51\.\)/)
  })
  it('10 MiB ± 1 same result', async () => {
    const size = 10 * 1024 * 1024
    const line = 'twelve chars' + '\n'
    const answers: string[] = []
    for (const [index, length] of [size - 1, size, size + 1].entries()) {
      await rig.put(`f${index}`, Buffer.from(line.repeat(Math.ceil(length / line.length)).slice(0, length)))
      answers.push((await shown(`f${index}`, { offset: 700_000, limit: 2 })).replace(`f${index}`, 'f').replace(/of \d+/, 'of N'))
    }
    expect(new Set(answers)).toEqual(new Set([enveloped('f', '700000: twelve chars\n700001: twelve chars\n\n(Lines 700000-700001 of N. Go on with offset 700002.)')]))
  })
  it.each([
    [8_191, false],
    [8_192, true],
    [8_193, true],
  ])('NUL at byte %d: readable %s', async (at, isReadable) => {
    const bytes = Buffer.from('a\n'.repeat(5_000))
    bytes[at] = 0
    await rig.put('f', bytes)
    const result = await rig.read('f', { limit: 1 })
    if (isReadable) expect(textOf(result)).toContain('1: a\n')
    else expect(outcomeOf(result)).toEqual(failed('FS_NOT_TEXT', /binary/))
  })
  it('symlink', async () => {
    await rig.put('f', 'a')
    await symlink('f', rig.at('l'))
    expect(await shown('l')).toBe(enveloped('l', '1: a\n\n(End of file, 1 line.)'))
  })
  it('an image is refused with the tool that shows it', async () => {
    await rig.put('a.PNG', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0xff]))
    expect(outcomeOf(await rig.read('a.PNG'))).toEqual(failed('FS_NOT_TEXT', /is an image, not text\. Look at it with read_image\.$/))
  })
  it('SVG is text', async () => {
    await rig.put('a.svg', '<svg/>\n')
    expect(await shown('a.svg')).toContain('1: <svg/>')
  })
})

describe('what is no regular file', () => {
  it('directory, with what is in it', async () => {
    await rig.put('d/a', '')
    await mkdir(rig.at('d/sub'))
    expect(outcomeOf(await rig.read('d'))).toEqual(failed('FS_NOT_REGULAR_FILE', /is a folder[^]*\na\nsub\/$/))
  })
  it('FIFO', async () => {
    execFileSync('mkfifo', [rig.at('pipe')])
    expect(outcomeOf(await rig.read('pipe'))).toEqual(failed('FS_NOT_REGULAR_FILE', /FIFO/))
  })
  it('dangling symlink', async () => {
    await symlink('nowhere', rig.at('l'))
    expect(outcomeOf(await rig.read('l'))).toEqual(failed('FS_NOT_FOUND'))
  })
  it('a path with a newline', async () => {
    await rig.put('a\nb', 'x')
    expect(await shown('a\nb')).toContain('<file path="a&#10;b">\n1: x')
  })
})

describe('ranges', () => {
  beforeEach(() => rig.put('f', Array.from({ length: 40 }, (_, index) => `l${index + 1}\n`).join('')))
  it('give several parts in one call, in their order, those that touch as one', async () => {
    expect(await shown('f', { ranges: [[10, 11], [2, 3], [4, 4]] })).toBe(enveloped('f', '2: l2\n3: l3\n4: l4\n…\n10: l10\n11: l11\n\n(Lines 2-4, 10-11 of 40.)'))
  })
  it('end with the file', async () => expect(await shown('f', { ranges: [[1, 1], [39, 99]] })).toBe(enveloped('f', '1: l1\n…\n39: l39\n40: l40\n\n(Lines 1-1, 39-40 of 40.)')))
  it('share the caps of one read', async () => {
    await rig.put('wide', `${'x'.repeat(1_023)}\n`.repeat(100))
    const text = await shown('wide', { ranges: [[1, 30], [50, 90]] })
    expect(text).toMatch(/\n69: x+\n\n\(Output stopped at 51200 bytes, line 69 of 100\. Go on with offset 70\.\)/)
    await rig.put('long', 'x\n'.repeat(5_000))
    expect(await shown('long', { ranges: [[1, 1_500], [2_001, 4_000]] })).toMatch(/\n2500: x\n\n\(Lines 1-1500, 2001-2500 of 5000\.\)/)
  })
  it.each([
    ['none', { ranges: [] }, /1 to 20 parts/],
    ['too many', { ranges: Array.from({ length: 21 }, () => [1, 1]) }, /1 to 20 parts/],
    ['one number', { ranges: [[1]] }, /\[first, last\]/],
    ['an end before its start', { ranges: [[3, 2]] }, /\[first, last\]/],
    ['a start below 1', { ranges: [[0, 2]] }, /\[first, last\]/],
    ['beside an offset', { ranges: [[1, 2]], offset: 1 }, /not several of them/],
  ])('refused: %s', async (_name, args, message) => expect(outcomeOf(await rig.read('f', args))).toEqual(failed('INVALID_ARGS', message)))
  it('past the end', async () => expect(outcomeOf(await rig.read('f', { ranges: [[1, 2], [41, 50]] }))).toEqual(failed('FS_NOT_FOUND', /no line 41/)))
})

describe('a symbol', () => {
  const symbol = (name: string, first: number, last: number, container?: string): LanguageSymbol => ({
    name, kind: 'function', uri: 'file:///f', range: { start: { line: first - 1, character: 0 }, end: { line: last - 1, character: 1 } }, ...(container !== undefined && { container }),
  })
  const answers = (...symbols: readonly LanguageSymbol[]): Pick<Languages, 'ask'> => ({ ask: async (): Promise<LanguageAnswer> => ({ kind: 'symbols', symbols }) })
  beforeEach(async () => {
    await rig.put('f.ts', Array.from({ length: 30 }, (_, index) => `l${index + 1}\n`).join(''))
    languages = answers(symbol('A', 1, 10), symbol('run', 2, 4, 'A'), symbol('B', 11, 20), symbol('run(x)', 12, 13, 'B'), symbol('run(x, y)', 15, 15, 'B'), symbol('top', 25, 26))
  })
  it('of a class is read alone', async () => expect(await shown('f.ts', { symbol: 'A.run' })).toContain('>\n2: l2\n3: l3\n4: l4\n\n(Lines 2-4 of 30. Go on with offset 5.)'))
  it('with several places gives each', async () => expect(await shown('f.ts', { symbol: 'B.run' })).toContain('\n12: l12\n13: l13\n…\n15: l15\n'))
  it('without a class gives every one of that name', async () => expect(await shown('f.ts', { symbol: 'run' })).toContain('(Lines 2-4, 12-13, 15-15 of 30.)'))
  it('that is not there is answered with those that are', async () =>
    expect(outcomeOf(await rig.read('f.ts', { symbol: 'C.run' }))).toEqual(failed('INVALID_ARGS', /has no symbol C\.run\. It has A, A\.run, B, B\.run, top\.$/)))
  it('is refused where no editor knows symbols, with another way', async () => {
    const plain = await createFileRig()
    try {
      await plain.next()
      await plain.put('f.ts', 'x')
      expect(outcomeOf(await plain.read('f.ts', { symbol: 'x' }))).toEqual(failed('LSP_UNAVAILABLE', /Find the line with grep/))
    } finally {
      await plain.application.dispose()
    }
  })
  it('beside a limit is refused', async () => expect(outcomeOf(await rig.read('f.ts', { symbol: 'A', limit: 3 }))).toEqual(failed('INVALID_ARGS', /not several/)))
})

describe('a file that', () => {
  it.each([
    ['package-lock.json', '{}'],
    ['lib.min.js', 'x'],
    ['a.go', '// Code generated by protoc. DO NOT EDIT.\npackage a\n'],
    ['a.ts', '/* eslint-disable */\n/** @generated by a tool */\n'],
    ['a.py', '# This file was automatically generated\n'],
    ['a.cs', '// <auto-generated>\n'],
  ])('is generated is flagged: %s', async (name, content) => {
    await rig.put(name, content)
    expect(await shown(name)).toContain(' It is a generated file: change what it is made from.)')
    expect(outcomeOf(await rig.read(name))).toMatchObject({ isGenerated: true })
  })
  it.each([
    ['a.ts', "const words = '// DO NOT EDIT'\n"],
    ['b.ts', `${'x\n'.repeat(2_000)}// @generated\n`],
    ['c.md', 'How code is generated automatically.\n'],
  ])('only speaks of generating is not: %s', async (name, content) => {
    await rig.put(name, content)
    expect(await shown(name)).not.toContain('generated file')
  })
  it('git ignores is flagged, by every list from its folder to the top of its repository', async () => {
    await rig.put('.git/HEAD', '')
    await rig.put('.gitignore', '# comment\nbuild/\n/root-only\n*.log\n!kept.log\n\\#odd\na{b}\nblank\\  \ncut  \ndocs/*.txt\n**/deep/x\n')
    await rig.put('sub/.gitignore', '!back.log\nown\n')
    const ignored = ['build/a', 'sub/build/deeper/a', 'root-only', 'a.log', 'sub/b.log', '#odd', 'a{b}', 'blank ', 'cut', 'docs/a.txt', 'one/deep/x', 'sub/own']
    const seen = ['sub/root-only', 'kept.log', 'sub/back.log', 'own', 'docs/more/a.txt', 'plain', 'build.ts']
    for (const name of [...ignored, ...seen]) await rig.put(name, 'x')
    const flagged: string[] = []
    for (const name of [...ignored, ...seen]) if ((await shown(name)).includes(' git ignores it.)')) flagged.push(name)
    expect(flagged).toEqual(ignored)
    expect(ignored).toEqual(execFileSync('git', ['-c', 'core.excludesFile=', 'check-ignore', ...ignored, ...seen], { cwd: await realRepository(), encoding: 'utf8' }).trim().split('\n'))
  })
  it('stands beside a list with a very long run of blanks is looked up at once', async () => {
    await rig.put('.git/HEAD', '')
    await rig.put('.gitignore', `a${' '.repeat(200_000)}b\n*.log\n`)
    await rig.put('x.log', 'x')
    expect(await shown('x.log')).toContain(' git ignores it.)')
  })
  it('stands outside of a repository is not ignored', async () => {
    await rig.put('.gitignore', '*\n')
    await rig.put('a', 'x')
    expect(await shown('a')).not.toContain('git ignores')
  })
  it('vanishes between being found and being read counts as not there', async () => {
    await rig.put('a', 'x')
    beforeReading = () => rm(rig.at('a'))
    expect(outcomeOf(await rig.read('a'))).toEqual(failed('FS_NOT_FOUND'))
    expect(outcomeOf(await rig.write('a', 'new'))).toMatchObject({ operation: 'create' })
  })
  it('becomes a FIFO between being found and being read is refused, and nothing waits for it', async () => {
    await rig.put('a', 'x')
    beforeReading = async () => {
      await rm(rig.at('a'))
      execFileSync('mkfifo', [rig.at('a')])
    }
    expect(outcomeOf(await rig.read('a'))).toEqual(failed('FS_NOT_REGULAR_FILE', /FIFO/))
  })
  it('grows while it is read in parts is not put together of two versions', async () => {
    await rig.put('a', 'x\n'.repeat(10))
    let reads = 0
    beforeReading = async () => {
      if ((reads += 1) === 2) await rig.put('a', 'y\n'.repeat(20))
    }
    expect(outcomeOf(await rig.read('a', { ranges: [[1, 2], [5, 6]] }))).toEqual(failed('FS_IO_ERROR', /changed while its parts were read; read it again/))
  })
})

/** The same files as git would have them: `.git` made by git itself. */
async function realRepository(): Promise<string> {
  await rm(rig.at('.git'), { recursive: true })
  execFileSync('git', ['init', '-q'], { cwd: rig.folder })
  return rig.folder
}

describe('a notebook', () => {
  const text = [
    '# %% cell 1 [markdown] id=intro', '# Title', 'Words é', '',
    '# %% cell 2 [code python] id=calc', 'x = 1', 'print(x)', 'x',
    '# %% output of cell 2 [stdout]', '1', '2',
    '# %% output of cell 2 [image/png]', '(12 characters of data, not shown)',
    '# %% output of cell 2 [text/plain]', '<Figure>',
    '# %% output of cell 2 [error]', 'ValueError: no', '',
    '# %% cell 3 [code python] id=empty', '', '',
    '# %% cell 4 [raw]', 'plain string',
  ]
  it('is read as its cells, with ids, kinds and outputs', async () => {
    await rig.put('a.ipynb', notebookJson())
    const result = await rig.read('a.ipynb')
    expect(textOf(result)).toBe(
      ['<file path="a.ipynb" format="notebook">', ...text.map((line, index) => `${index + 1}: ${line}`), '', '(End of file, 23 lines. Cells of a notebook; edit changes their sources, without the headings.)', '</file>'].join('\n'),
    )
    expect(outcomeOf(result)).toMatchObject({ format: 'notebook', totalLines: 23 })
    expect(result.meta).not.toHaveProperty('lang')
  })
  it('can be read on by lines', async () => {
    await rig.put('a.ipynb', notebookJson())
    expect(await shown('a.ipynb', { offset: 6, limit: 2 })).toContain('6: x = 1\n7: print(x)\n\n(Lines 6-7 of 23. Go on with offset 8.')
  })
  it('with long outputs shows their beginning', async () => {
    const json = JSON.parse(notebookJson()) as { cells: { outputs?: unknown[] }[] }
    json.cells[1]!.outputs = [{ output_type: 'stream', name: 'stdout', text: 'y'.repeat(5_000) }, ...Array.from({ length: 30 }, () => ({ output_type: 'stream', name: 'stderr', text: 'z' }))]
    await rig.put('a.ipynb', JSON.stringify(json))
    const shownText = await shown('a.ipynb')
    expect(shownText).toContain('(3000 more characters of this output are not shown)')
    expect(shownText).toContain('# %% 11 more outputs of cell 2 are not shown')
  })
  it.each([
    ['of an older format', JSON.stringify({ nbformat: 3, worksheets: [] })],
    ['that is no JSON', 'nothing {'],
    ['that is empty', ''],
  ])('%s is read as text', async (_name, content) => {
    await rig.put('a.ipynb', content)
    expect(await shown('a.ipynb')).toMatch(/^<file path="a\.ipynb">/)
  })
})

describe('a PDF', () => {
  it('is read as its text, page by page', async () => {
    await rig.put('a.pdf', pdfBytes([['Hello', 'World'], []]))
    const result = await rig.read('a.pdf')
    expect(textOf(result)).toBe('<file path="a.pdf" format="pdf">\n1: # page 1 of 2\n2: Hello\n3: World\n4: # page 2 of 2\n5: (no text on this page)\n\n(End of file, 5 lines. The text of a PDF with 2 pages; pictures are not shown.)\n</file>')
    expect(outcomeOf(result)).toMatchObject({ format: 'pdf', pages: { total: 2, read: 2 } })
  })
  it('can be read on, and its change is seen', async () => {
    await rig.put('a.pdf', pdfBytes([['one', 'two']]))
    expect(await shown('a.pdf', { offset: 3 })).toContain('3: two')
    await rig.put('a.pdf', pdfBytes([['three']]))
    expect(await shown('a.pdf', { offset: 2 })).toContain('2: three')
  })
  it.each([
    ['behind a password', lockedPdf([['x']]), 'DOCUMENT_ENCRYPTED', /password/],
    ['that is damaged', Buffer.from('%PDF-1.7\nnothing'), 'DOCUMENT_DAMAGED', /cannot be read/],
  ])('%s is refused with what to do', async (_name, bytes, code, message) => {
    await rig.put('a.pdf', bytes)
    expect(outcomeOf(await rig.read('a.pdf'))).toEqual(failed(code, message))
  })
  it('that is too large is refused before it is read', async () => {
    await writeFile(rig.at('a.pdf'), '%PDF-1.7')
    await truncate(rig.at('a.pdf'), 60 * 1024 * 1024)
    expect(outcomeOf(await rig.read('a.pdf'))).toEqual(failed('FS_TOO_LARGE', /62914560 bytes/))
  })
  it('by name alone is text', async () => {
    await rig.put('a.pdf', 'just words')
    expect(await shown('a.pdf')).toContain('<file path="a.pdf">\n1: just words')
  })
  it('cannot be edited as text', async () => {
    await rig.put('a.pdf', Buffer.concat([pdfBytes([['x']]), Buffer.from([0, 0xff])]))
    await rig.read('a.pdf')
    expect(outcomeOf(await rig.edit('a.pdf', 'x', 'y'))).toEqual(failed('FS_NOT_TEXT'))
  })
})
