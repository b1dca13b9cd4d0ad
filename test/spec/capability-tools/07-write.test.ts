import { execFileSync } from 'node:child_process'
import { chmod, link, lstat, mkdir, readdir, rm, stat, symlink } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFileRig, failed, type FileRig } from '../../support/file-rig.ts'
import { pdfBytes } from '../../support/pdf-bytes.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'

/* Chapter 7, the line "write" of chapter 19, and 20.2. What needs an editor stands in test/editor/file-system.test.ts. */

let rig: FileRig
beforeAll(async () => {
  rig = await createFileRig()
})
afterAll(() => rig.application.dispose())
beforeEach(() => rig.next())

const modeOf = async (name: string) => (await stat(rig.at(name))).mode & 0o777
const card = (args: object, result: Awaited<ReturnType<FileRig['write']>>) => rig.application.ctx.tools.get('write')?.presentResult?.(args as never, result)

describe('write', () => {
  it('create with parents', async () => {
    const result = await rig.write('deep/er/a.ts', 'one\r\ntwo')
    expect(textOf(result)).toBe('Created deep/er/a.ts.')
    expect(outcomeOf(result)).toMatchObject({ path: 'deep/er/a.ts', operation: 'create', before: null, after: 'one\ntwo' })
    expect(await rig.contentOf('deep/er/a.ts')).toBe('one\r\ntwo')
  })
  it('empty content', async () => {
    expect(outcomeOf(await rig.write('a', ''))).toMatchObject({ operation: 'create', after: '' })
    expect(await rig.contentOf('a')).toBe('')
  })
  it('identical content is still an update, and its card shows the whole text', async () => {
    await rig.put('a', 'same\n')
    await rig.read('a')
    const result = await rig.write('a', 'same\n')
    expect(outcomeOf(result)).toMatchObject({ operation: 'update', before: 'same\n', after: 'same\n', hunks: [] })
    expect(card({ file_path: 'a', content: 'same\n' }, result)).toMatchObject({ card: 'diff', diffs: [{ path: 'a', oldText: null, newText: 'same\n' }] })
  })
  it('mode kept, new file mode from umask', async () => {
    await rig.put('run.sh', 'a')
    await chmod(rig.at('run.sh'), 0o751)
    await rig.read('run.sh')
    await rig.write('run.sh', 'b')
    await rig.write('new', 'c')
    expect([await modeOf('run.sh'), await modeOf('new')]).toEqual([0o751, 0o666 & ~process.umask()])
  })
  it('through symlink: its target is replaced and the link kept', async () => {
    await rig.put('real', 'a')
    await symlink('real', rig.at('link'))
    await rig.read('link')
    await rig.write('link', 'b')
    expect([await rig.contentOf('real'), (await lstat(rig.at('link'))).isSymbolicLink()]).toEqual(['b', true])
  })
  it('dangling symlink is refused', async () => {
    await symlink('nowhere', rig.at('link'))
    expect(outcomeOf(await rig.write('link', 'x'))).toEqual(failed('FS_NOT_REGULAR_FILE', /link to a file that does not exist/))
    expect(await readdir(rig.folder)).toEqual(['link'])
  })
  it('hard-link count: the other name keeps the old content', async () => {
    await rig.put('a', 'old')
    await link(rig.at('a'), rig.at('b'))
    await rig.read('a')
    await rig.write('a', 'new')
    expect([await rig.contentOf('a'), await rig.contentOf('b'), (await stat(rig.at('a'))).nlink]).toEqual(['new', 'old', 1])
  })
  it('parent is a file', async () => {
    await rig.put('a', 'x')
    expect(outcomeOf(await rig.write('a/b', 'y'))).toEqual(failed('FS_IO_ERROR', /part of its path is a file/))
    expect(await rig.contentOf('a')).toBe('x')
  })
  it('binary old content → `before` null', async () => {
    await rig.put('a.pdf', Buffer.concat([pdfBytes([['x']]), Buffer.from([0, 0xff])]))
    await rig.read('a.pdf')
    expect(outcomeOf(await rig.write('a.pdf', 'text'))).toMatchObject({ operation: 'update', before: null, after: 'text', hunks: [] })
  })
  it('read-only file is refused', async () => {
    await rig.put('a', 'x')
    await chmod(rig.at('a'), 0o444)
    await rig.read('a')
    expect(outcomeOf(await rig.write('a', 'y'))).toEqual(failed('FS_READONLY', /read-only/))
    expect(await rig.contentOf('a')).toBe('x')
  })
  it('directory at target', async () => {
    await mkdir(rig.at('d'))
    expect(outcomeOf(await rig.write('d', 'x'))).toEqual(failed('FS_NOT_REGULAR_FILE', /folder/))
  })
  it('symlink loop', async () => {
    await symlink('loop', rig.at('loop'))
    expect(outcomeOf(await rig.write('loop', 'x'))).toMatchObject({ code: expect.stringMatching(/^FS_(IO_ERROR|NOT_REGULAR_FILE)$/) as string })
  })
  it('trailing newline variants are kept as they are sent', async () => {
    for (const content of ['a', 'a\n', 'a\n\n', '\n']) {
      await rig.write(`f${content.length}`, content)
      expect(await rig.contentOf(`f${content.length}`)).toBe(content)
      await rm(rig.at(`f${content.length}`))
      await rig.next()
    }
  })
  it('a FIFO that took the place of a file that was read is refused, and nothing waits for it', async () => {
    await rig.put('a', 'x')
    await rig.read('a')
    await rm(rig.at('a'))
    execFileSync('mkfifo', [rig.at('a')])
    expect(outcomeOf(await rig.write('a', 'y'))).toEqual(failed('FS_NOT_REGULAR_FILE', /FIFO/))
    expect(outcomeOf(await rig.edit('a', 'x', 'y'))).toEqual(failed('FS_NOT_REGULAR_FILE', /FIFO/))
    expect((await lstat(rig.at('a'))).isFIFO()).toBe(true)
  })
  it('a path with a newline', async () => {
    await rig.write('a\nb', 'x')
    expect(await readdir(rig.folder)).toEqual(['a\nb'])
  })
  it('says on which name it fails where a folder has a name that is not UTF-8', async () => {
    execFileSync('bash', ['-c', `cd "$1" && mkdir $'odd\\xff' && echo x > $'odd\\xff/a'`, 'bash', rig.folder])
    expect(outcomeOf(await rig.read('odd\u{FFFD}/a'))).toEqual(failed('FS_NOT_FOUND'))
    expect((await rig.run('glob', { pattern: '**' })).isError).toBe(false)
  })
  it('a character that cannot be stored', async () => {
    expect(outcomeOf(await rig.write('a', 'x\u{D800}'))).toEqual(failed('INVALID_ARGS', /arguments\.content holds half a character/))
    expect(await readdir(rig.folder)).toEqual([])
  })
})

describe('a new file', () => {
  const config = (text: string) => rig.put('.editorconfig', `root = true\n[*]\n${text}`)

  it('has the line ends of .editorconfig', async () => {
    await config('end_of_line = crlf')
    await rig.write('a', 'x\ny\n')
    expect(await rig.contentOf('a')).toBe('x\r\ny\r\n')
  })
  it('has the charset of .editorconfig', async () => {
    await config('charset = utf-16le\n[*.txt]\ncharset = latin1\n[*.md]\ncharset = utf-8-bom')
    for (const name of ['a', 'a.txt', 'a.md']) await rig.write(name, 'é')
    expect([await rig.bytesOf('a'), await rig.bytesOf('a.txt'), await rig.bytesOf('a.md')]).toEqual([Buffer.from('\u{FEFF}é', 'utf16le'), Buffer.from([0xe9]), Buffer.from('\u{FEFF}é')])
  })
  it('ends in a line end where .editorconfig asks for it, and the model is told', async () => {
    await config('insert_final_newline = true')
    const result = await rig.write('a', 'x')
    expect([await rig.contentOf('a'), textOf(result)]).toEqual(['x\n', 'Created a.\nA line end was added at its end, as the settings of the workspace ask.'])
    expect((await rig.edit('a', 'x\n', 'y\n')).isError).toBe(false)
  })
  it('goes by the nearest .editorconfig', async () => {
    await config('end_of_line = crlf')
    await rig.put('sub/.editorconfig', '[*]\nend_of_line = lf')
    await rig.write('sub/a', 'x\n')
    expect(await rig.contentOf('sub/a')).toBe('x\n')
  })
  it('that .editorconfig cannot store is refused', async () => {
    await config('charset = latin1')
    expect(outcomeOf(await rig.write('a', '漢'))).toEqual(failed('FS_UNENCODABLE', /latin1/))
  })
  it('is as it is sent where a pipe stands in the place of .editorconfig', async () => {
    execFileSync('mkfifo', [rig.at('.editorconfig')])
    await rig.write('a', 'x')
    expect(await rig.contentOf('a')).toBe('x')
  })
  it('alone follows .editorconfig: what is there keeps its form', async () => {
    await rig.put('a', 'x\n')
    await config('end_of_line = crlf\ncharset = utf-8-bom')
    await rig.read('a')
    await rig.write('a', 'y\n')
    expect(await rig.contentOf('a')).toBe('y\n')
  })
})
