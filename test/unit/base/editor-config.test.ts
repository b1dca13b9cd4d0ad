import { describe, expect, it } from 'vitest'
import { editorConfigFor, storedAsConfigured } from '../../../extension/base/editor-config.ts'

const facts = async (files: Readonly<Record<string, string>>, path: string) => {
  const asked: string[] = []
  const { charset, ...rest } = await editorConfigFor(path, async (at) => {
    asked.push(at)
    return files[at] ?? null
  })
  return { ...rest, ...(charset && { charset: `${charset.codec.label}${charset.hasBom ? ' with a mark' : ''}` }), asked }
}
const section = (glob: string) => ({ '/w/.editorconfig': `[${glob}]\nend_of_line = crlf` })
const appliesTo = async (glob: string, path: string) => (await facts(section(glob), `/w/${path}`)).endOfLine === 'crlf'

describe('the properties of a new file', () => {
  it('come from the nearest file that says something, up to the root', async () => {
    const files = {
      '/.editorconfig': '[*]\ncharset = latin1\n',
      '/w/.editorconfig': '; a comment\nroot = TRUE\n[*]\nend_of_line = lf # why\ninsert_final_newline = true\n[*.md]\ncharset=utf-8-bom',
      '/w/a/.editorconfig': '\u{FEFF}[*.md]\r\nEnd_Of_Line = CRLF\r\n',
    }
    expect(await facts(files, '/w/a/x.md')).toEqual({ charset: 'utf8 with a mark', endOfLine: 'crlf', insertFinalNewline: true, asked: ['/w/a/.editorconfig', '/w/.editorconfig'] })
    expect(await facts(files, '/w/b/x.txt')).toMatchObject({ endOfLine: 'lf', insertFinalNewline: true })
    expect(await facts(files, '/other/x')).toMatchObject({ charset: 'latin1' })
  })
  it('are none where no file is', async () => expect(await facts({}, '/w/x')).toEqual({ asked: ['/w/.editorconfig', '/.editorconfig'] }))
  it('leave out words that are not known', async () => expect(await facts({ '/w/.editorconfig': '[*]\nend_of_line = what\ncharset = ebcdic\ninsert_final_newline = unset\nnonsense' }, '/w/x')).toMatchObject({ asked: expect.any(Array) as unknown }))

  it.each([
    ['*', 'a/b.c', true],
    ['*.ts', 'a/b.ts', true],
    ['*.ts', 'a/b.tsx', false],
    ['*.{ts,js}', 'x.js', true],
    ['{package.json,*.yml}', 'a/package.json', true],
    ['lib/**.js', 'lib/a/b.js', true],
    ['lib/**.js', 'lib/b.js', true],
    ['lib/**.js', 'other/b.js', false],
    ['lib/*.js', 'lib/a/b.js', false],
    ['/top.txt', 'top.txt', true],
    ['/top.txt', 'a/top.txt', false],
    ['a?c', 'abc', true],
    ['[!a]b', 'cb', true],
    ['[!a]b', 'ab', false],
    ['f{1..3}', 'f2', true],
    ['f{1..3}', 'f4', false],
    ['f{-1..1}', 'f0', true],
    ['{one}', '{one}', true],
    ['[broken', 'broken', false],
  ])('[%s] applies to %s: %s', async (glob, path, applies) => expect(await appliesTo(glob, path)).toBe(applies))
})

describe('a text stored as configured', () => {
  it('has the line ends that are asked for, unless it brings its own', () => {
    expect(storedAsConfigured('a\nb\n', { endOfLine: 'crlf' }).text).toBe('a\r\nb\r\n')
    expect(storedAsConfigured('a\r\nb\n', { endOfLine: 'lf' }).text).toBe('a\r\nb\n')
  })
  it('ends in a line end where that is asked for', () => {
    expect(['a', 'a\n', '', 'a\r\nb'].map((text) => storedAsConfigured(text, { insertFinalNewline: true }).text)).toEqual(['a\n', 'a\n', '', 'a\r\nb\r\n'])
    expect(storedAsConfigured('a', { insertFinalNewline: true, endOfLine: 'crlf' }).text).toBe('a\r\n')
    expect(storedAsConfigured('a\n', { insertFinalNewline: false }).text).toBe('a\n')
  })
})
