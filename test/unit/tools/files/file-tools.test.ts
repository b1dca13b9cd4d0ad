import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { chmod, link, mkdir, mkdtemp, readFile, rm, stat, symlink, unlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../../extension/base/json.ts'
import { FileError, type ChangeOutcome, type FileKey, type FileSystem, type FileVersion, type TextFile } from '../../../../extension/capabilities/file-system.ts'
import { fileChangesFrom } from '../../../../extension/core/tools/file-changes.ts'
import { observationPlugin } from '../../../../extension/features/observation/plugin.ts'
import { NodeFileSystem } from '../../../../extension/platform/node/file-system.ts'
import { fileTools } from '../../../../extension/tools/files/plugin.ts'
import { createFakeAgent, type FakeAgent } from '../../../support/fake-agent.ts'
import { createMemoryBlobStore } from '../../../support/memory-blob-store.ts'
import { noEditor } from '../../../support/no-editor.ts'
import { createToolBench, outcomeOf, textOf, type RunOptions } from '../../../support/tool-bench.ts'

let root: string
let folder: string
let count = 0
beforeAll(async () => {
  root = realpathSync(await mkdtemp(join(tmpdir(), 'bosun-files-')))
})
afterAll(() => rm(root, { recursive: true }))
beforeEach(async () => {
  folder = join(root, String(++count))
  await mkdir(folder)
})
const at = (name: string) => join(folder, name)
const put = (name: string, content: string | Uint8Array) => writeFile(at(name), content)
const bytesOf = (name: string) => readFile(at(name))
const contentOf = (name: string) => readFile(at(name), 'utf8')

const bench = async (options: { files?: FileSystem; agent?: FakeAgent } = {}) => {
  const made = createToolBench(options.agent ?? createFakeAgent({ cwd: folder }))
  const files: FileSystem = options.files ?? new NodeFileSystem()
  const blobs = createMemoryBlobStore()
  await made.mount(observationPlugin({ files, dispatch: made.kernel.dispatch, logger: made.logger }))
  const fiber = await made.mount(fileTools({ ...noEditor, files, blobs }))
  return {
    ...made,
    blobs,
    fiber,
    read: (file_path: string, more: object = {}, run?: RunOptions) => made.run('read', { file_path, ...more }, run),
    write: (file_path: string, content: string, more: object = {}, run?: RunOptions) => made.run('write', { file_path, content, ...more }, run),
    edit: (file_path: string, old_string: string, new_string: string, more: object = {}, run?: RunOptions) => made.run('edit', { file_path, old_string, new_string, ...more }, run),
  }
}
const failed = (code: string, message: string | RegExp = /./) => ({ code, message: expect.stringMatching(message) as string })

describe('read', () => {
  it('gives numbered lines, the exact total and where it ends', async () => {
    await put('a.ts', 'one\ntwo\n')
    const result = await (await bench()).read('a.ts')
    expect(outcomeOf(result)).toEqual({ path: 'a.ts', offset: 1, lines: [{ number: 1, text: 'one' }, { number: 2, text: 'two' }], totalLines: 2 })
    expect(textOf(result)).toBe('<file path="a.ts">\n1: one\n2: two\n\n(End of file, 2 lines.)\n</file>')
  })

  const windows: readonly [string, string, object, string][] = [
    ['an empty file', '', {}, '(The file is empty.)'],
    ['a last line without an end', 'a\nb', {}, '1: a\n2: b\n\n(End of file, 2 lines.)'],
    ['CRLF without its CR', 'a\r\nb\r\n', {}, '1: a\n2: b\n\n(End of file, 2 lines.)'],
    ['a window in the middle, with where to go on', '1\n2\n3\n4\n', { offset: 2, limit: 2 }, '2: 2\n3: 3\n\n(Lines 2-3 of 4. Go on with offset 4.)'],
    ['the last line of a window', '1\n2\n', { offset: 2, limit: 1 }, '2: 2\n\n(End of file, 2 lines.)'],
    ['a line over 2 000 characters cut', `${'x'.repeat(2_001)}\ny`, {}, `1: ${'x'.repeat(2_000)}… (line truncated to 2000 chars)\n2: y\n\n(End of file, 2 lines.)`],
    ['one line', 'a', {}, '1: a\n\n(End of file, 1 line.)'],
  ]
  it.each(windows)('shows %s', async (_name, content, args, body) => {
    await put('f', content)
    expect(textOf(await (await bench()).read('f', args))).toBe(`<file path="f">\n${body.startsWith('(') ? `\n${body}` : body}\n</file>`)
  })
  it('stops at 51 200 bytes with whole lines', async () => {
    await put('f', `${'x'.repeat(999)}\n`.repeat(100))
    expect(textOf(await (await bench()).read('f'))).toContain('51: x'.padEnd(40, 'x'))
    expect(textOf(await (await bench()).read('f'))).toMatch(/\(Output stopped at 51200 bytes, line 51 of 100\. Go on with offset 52\.\)\n<\/file>$/)
  })
  it('shows at most 2 000 lines', async () => {
    await put('f', 'x\n'.repeat(2_001))
    expect(textOf(await (await bench()).read('f'))).toContain('(Lines 1-2000 of 2001. Go on with offset 2001.)')
  })
  it('names an encoding that is not UTF-8, and shows its text', async () => {
    await put('utf16', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('naïve\r\n', 'utf16le')]))
    await put('latin1', Buffer.from('naïve\n', 'latin1'))
    const { read } = await bench()
    expect(textOf(await read('utf16'))).toContain('1: naïve\n\n(End of file, 1 line. Stored as utf16le.)')
    expect(textOf(await read('latin1'))).toContain('1: naïve\n')
  })
  it('drops a BOM', async () => {
    await put('f', '\u{FEFF}a')
    expect(textOf(await (await bench()).read('f'))).toContain('1: a\n')
  })
  it('follows links', async () => {
    await put('f', 'a')
    await symlink('f', at('l'))
    expect(textOf(await (await bench()).read('l'))).toContain('<file path="l">\n1: a')
  })
  it('shows unsaved text of the editor and says so', async () => {
    await put('f', 'a')
    const { read } = await bench({ files: withDirty(new NodeFileSystem()) })
    expect(textOf(await read('f'))).toContain('(End of file, 1 line. This is the text in the editor, with changes that are not saved.)')
  })
  it('overlaps with its like', async () => {
    const { ctx } = await bench()
    expect([ctx.tools.executionMode({ name: 'read', arguments: { file_path: 'a' } }), ctx.tools.executionMode({ name: 'edit', arguments: { file_path: 'a', old_string: 'a', new_string: 'b' } })]).toEqual(['parallel', 'exclusive'])
  })

  const refused: readonly [string, string, object, string, RegExp][] = [
    ['a blank path', ' ', {}, 'INVALID_ARGS', /file_path is blank/],
    ['offset 0', 'f', { offset: 0 }, 'INVALID_ARGS', /offset must be/],
    ['a broken offset', 'f', { offset: 1.5 }, 'INVALID_ARGS', /offset must be/],
    ['a broken limit', 'f', { limit: 1.5 }, 'INVALID_ARGS', /limit must be/],
    ['limit 0', 'f', { limit: 0 }, 'INVALID_ARGS', /limit must be/],
    ['limit 2001', 'f', { limit: 2001 }, 'INVALID_ARGS', /from 1 to 2000, not 2001/],
    ['an offset past the end', 'f', { offset: 3 }, 'FS_NOT_FOUND', /has 2 lines, so there is no line 3/],
    ['a file that is not there', 'gone', {}, 'FS_NOT_FOUND', /gone does not exist/],
    ['a name with a slip, with what stands beside it', 'notes.txt', {}, 'FS_NOT_FOUND', /notes\.txt does not exist[^]* Similar names there: notes\.md\.$/],
    ['a file in a folder that is not there', 'no/f', {}, 'FS_NOT_FOUND', /no\/f does not exist/],
    ['a folder, with what is in it', '.', {}, 'FS_NOT_REGULAR_FILE', /is a folder, not a file[^]*\nf\nsub\/$/],
    ['a FIFO', 'pipe', {}, 'FS_NOT_REGULAR_FILE', /not a regular file/],
    ['a device', '/dev/zero', {}, 'FS_NOT_REGULAR_FILE', /not a regular file/],
    ['links in a circle', 'circle', {}, 'FS_IO_ERROR', /circle/],
    ['a path that cannot be', 'a\0b', {}, 'FS_IO_ERROR', /NUL/],
    ['a binary file', 'bin', {}, 'FS_NOT_TEXT', /binary/],
    ['a link to nothing', 'dangling', {}, 'FS_NOT_FOUND', /does not exist/],
  ]
  it.each(refused)('refuses %s', async (name, path, args, code, message) => {
    await put('f', 'a\nb\n')
    await mkdir(at('sub'))
    if (name === 'a FIFO') execFileSync('mkfifo', [at('pipe')])
    if (name === 'a name with a slip, with what stands beside it') await put('notes.md', '')
    if (name === 'a binary file') await put('bin', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0x80, 0xff]))
    if (name === 'links in a circle') await symlink('circle', at('circle'))
    if (name === 'a link to nothing') await symlink('nowhere', at('dangling'))
    expect(outcomeOf(await (await bench()).read(path, args))).toEqual(failed(code, message))
  })
  it('lists at most 50 names of a folder', async () => {
    for (let index = 10; index < 65; index += 1) await put(`f${index}`, '')
    expect(outcomeOf(await (await bench()).read('.'))).toMatchObject(failed('FS_NOT_REGULAR_FILE', /f59\nand 5 more$/))
  })
  it('says what it was asked when the hint cannot be had', async () => {
    const unlistable = (files: NodeFileSystem) => delegate(files, { readDirectory: () => Promise.reject(new FileError('FS_IO_ERROR', 'permission denied')) })
    const { read } = await bench({ files: unlistable(new NodeFileSystem()) })
    expect(outcomeOf(await read('gone'))).toEqual(failed('FS_NOT_FOUND', /gone does not exist/))
    expect(outcomeOf(await read('.'))).toEqual(failed('FS_NOT_REGULAR_FILE', /is a folder/))
  })
  it('shows names with line breaks on one line', async () => {
    await mkdir(at('odd'))
    await put('odd/two\nlines', 'a')
    const { read } = await bench()
    expect(textOf(await read('odd/two\nlines'))).toBe('<file path="odd/two&#10;lines">\n1: a\n\n(End of file, 1 line.)\n</file>')
    expect(outcomeOf(await read('odd'))).toEqual(failed('FS_NOT_REGULAR_FILE', /\n"two\\nlines"$/))
    expect(outcomeOf(await read('odd/two'))).toEqual(failed('FS_NOT_FOUND', /Similar names there: "two\\nlines"\.$/))
  })
  it('accepts limits 1 and 2 000 and offset 1 of an empty file', async () => {
    await put('f', '')
    const { read } = await bench()
    for (const args of [{ limit: 1 }, { limit: 2_000 }, { offset: 1 }]) expect((await read('f', args)).isError).toBe(false)
  })
  it('stopped before it starts does nothing', async () => expect(outcomeOf(await (await bench()).read('f', {}, { signal: AbortSignal.abort() }))).toMatchObject({ code: 'ABORTED_BEFORE_DISPATCH' }))
  it('a huge file shows its window and the exact total', async () => {
    await put('big', 'line\n'.repeat(2_200_000)) // 11 MB: over the streaming threshold
    expect(textOf(await (await bench()).read('big', { offset: 2_199_999, limit: 5 }))).toBe('<file path="big">\n2199999: line\n2200000: line\n\n(End of file, 2200000 lines.)\n</file>')
  })
})

/** As the editor's provider says it: the buffer holds unsaved changes. */
const withDirty = (files: NodeFileSystem): FileSystem =>
  delegate(files, {
    readLines: async (...args) => ({ ...(await files.readLines(...args)), source: 'buffer', isDirty: true }),
    readText: async (...args): Promise<TextFile> => ({ ...(await files.readText(...args)), source: 'buffer', isDirty: true }),
  })
function delegate(files: NodeFileSystem, over: Partial<FileSystem>): FileSystem {
  return {
    resolve: files.resolve.bind(files),
    stat: files.stat.bind(files),
    readText: files.readText.bind(files),
    readLines: files.readLines.bind(files),
    readBytes: files.readBytes.bind(files),
    readDirectory: files.readDirectory.bind(files),
    writeText: files.writeText.bind(files),
    editText: files.editText.bind(files),
    editTexts: files.editTexts.bind(files),
    putBytes: files.putBytes.bind(files),
    decode: files.decode.bind(files),
    ...over,
  }
}

describe('write', () => {
  it('creates a file with its folders and says where it was nothing before', async () => {
    const { write, agent } = await bench()
    const result = await write('deep/er/a.ts', 'one\ntwo')
    expect(await contentOf('deep/er/a.ts')).toBe('one\ntwo')
    expect(outcomeOf(result)).toEqual({
      operation: 'create',
      path: 'deep/er/a.ts',
      target: at('deep/er/a.ts'),
      before: null,
      after: 'one\ntwo',
      beforeImage: null,
      hunks: [],
      added: 0,
      removed: 0,
    })
    expect(textOf(result)).toBe('Created deep/er/a.ts.')
    expect(fileChangesFrom(result.meta)).toEqual([{ path: at('deep/er/a.ts'), before: null }])
    expect(agent.log.map(({ type }) => type)).toEqual(['fs/before-image', 'fs/observed'])
  })
  it('replaces a file that was read, and keeps it as it was before, first', async () => {
    await put('a', 'old\nsame\n')
    const { read, write, blobs, agent } = await bench()
    await read('a')
    const result = await write('a', 'new\nsame\n')
    expect([await contentOf('a'), textOf(result)]).toEqual(['new\nsame\n', 'Replaced the content of a.'])
    const before = fileChangesFrom(result.meta)[0]?.before ?? ''
    expect(Buffer.from(await blobs.getBeforeImage(agent.id, before)).toString()).toBe('old\nsame\n')
    expect(agent.log[1]).toEqual({ type: 'fs/before-image', data: { callId: expect.any(String) as string, path: at('a'), digest: before }, ignorable: true })
    expect(result.meta).toMatchObject({ operation: 'update', hunks: [{ oldStart: 1, newStart: 1, oldText: 'old\nsame\n', newText: 'new\nsame\n' }], added: 1, removed: 1 })
  })
  it('takes empty and identical content', async () => {
    await put('a', 'x')
    const { read, write } = await bench()
    await read('a')
    expect(outcomeOf(await write('a', 'x'))).toMatchObject({ operation: 'update', before: 'x', after: 'x', hunks: [] })
    await write('a', '')
    expect(await contentOf('a')).toBe('')
  })
  it('keeps the CRLF of a file, and says so', async () => {
    await put('a', 'old\r\nsame\r\n')
    const { read, write } = await bench()
    await read('a')
    const result = await write('a', 'new\nsame\n')
    expect([await contentOf('a'), textOf(result)]).toEqual(['new\r\nsame\r\n', 'Replaced the content of a.\nIts lines end in CRLF, as they did before.'])
    expect(outcomeOf(result)).toMatchObject({ before: 'old\nsame\n', after: 'new\nsame\n', added: 1, removed: 1, keepsCrlf: true })
  })
  it('writes line ends as they are sent, gives texts with \\n', async () => {
    const { write } = await bench()
    expect(outcomeOf(await write('a', 'x\r\ny'))).toMatchObject({ after: 'x\ny' })
    expect(await contentOf('a')).toBe('x\r\ny')
  })
  it('keeps mode, encoding and BOM; new files follow the umask', async () => {
    await put('run.sh', '\u{FEFF}a')
    await chmod(at('run.sh'), 0o755)
    const { read, write } = await bench()
    await read('run.sh')
    await write('run.sh', 'b')
    await write('new', 'c')
    expect([(await stat(at('run.sh'))).mode & 0o777, await contentOf('run.sh'), (await stat(at('new'))).mode & 0o777]).toEqual([0o755, '\u{FEFF}b', 0o666 & ~process.umask()])
  })
  it('goes through a link and leaves it', async () => {
    await put('real', 'a')
    await symlink('real', at('link'))
    const { read, write } = await bench()
    await read('link')
    await write('link', 'b')
    expect([await contentOf('real'), await readFile(at('link'), 'utf8')]).toEqual(['b', 'b'])
  })
  it('leaves other hard links as they were', async () => {
    await put('a', 'old')
    await link(at('a'), at('b'))
    const { read, write } = await bench()
    await read('a')
    await write('a', 'new')
    expect([await contentOf('a'), await contentOf('b')]).toEqual(['new', 'old'])
  })

  it('has null before for content that was not text', async () => {
    const files = new NodeFileSystem()
    const { write } = await bench({ files: delegate(files, { writeText: async (change): Promise<ChangeOutcome> => ({ ...(await files.writeText(change)), before: null }) }) })
    await write('a', 'x')
    expect(outcomeOf(await write('a', 'y'))).toMatchObject({ operation: 'update', before: null, after: 'y', hunks: [] })
  })
  it('has no texts and no diff for 10 MiB or more', async () => {
    const { write } = await bench()
    const result = await write('a', 'x'.repeat(10 * 1024 * 1024))
    expect(outcomeOf(result)).toMatchObject({ before: null, after: null, hunks: [] })
  })

  const refused: readonly [string, string, string, RegExp][] = [
    ['a blank path', ' ', 'INVALID_ARGS', /blank/],
    ['a file that was not read', 'old', 'FS_NOT_OBSERVED', /Read it first/],
    ['a folder', 'sub', 'FS_NOT_REGULAR_FILE', /folder/],
    ['a path below a file', 'old/x', 'FS_IO_ERROR', /file/],
    ['a link to nothing', 'dangling', 'FS_NOT_REGULAR_FILE', /link/],
    ['a read-only file', 'locked', 'FS_READONLY', /read-only/],
  ]
  it.each(refused)('refuses %s, and nothing changes', async (_name, path, code, message) => {
    await put('old', 'old')
    await mkdir(at('sub'))
    await symlink('nowhere', at('dangling'))
    await put('locked', 'locked')
    await chmod(at('locked'), 0o444)
    const { read, write } = await bench()
    await read('locked')
    expect(outcomeOf(await write(path, 'new'))).toEqual(failed(code, message))
    expect([await contentOf('old'), await contentOf('locked')]).toEqual(['old', 'locked'])
    await expect(stat(at('nowhere'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
  it('refuses wider rights that are not offered', async () => expect(outcomeOf(await (await bench()).write('a', 'b', { justification: 'x' }))).toEqual(failed('INVALID_ARGS', /justification/)))
  it('does not happen when the file as it was cannot be kept', async () => {
    await put('a', 'old')
    const made = createToolBench(createFakeAgent({ cwd: folder }))
    const files: FileSystem = new NodeFileSystem()
    await made.mount(observationPlugin({ files, dispatch: made.kernel.dispatch, logger: made.logger }))
    await made.mount(fileTools({ ...noEditor, files, blobs: { putAttachment: () => Promise.reject(new Error('unused')), putBeforeImage: () => Promise.reject(new Error('disk full')) } }))
    await made.run('read', { file_path: 'a' })
    expect((await made.run('write', { file_path: 'a', content: 'new' })).isError).toBe(true)
    expect((await made.run('edit', { file_path: 'a', old_string: 'old', new_string: 'new' })).isError).toBe(true)
    expect(await contentOf('a')).toBe('old')
  })
  it('tells what the editor’s save actions made of it, and that the next edit may follow', async () => {
    const { write, edit } = await bench({ files: formatting(new NodeFileSystem()) })
    const result = await write('a', 'x=1\ny=2\n')
    expect(textOf(result)).toBe("Created a.\nThe editor's save actions changed the text further:\n1: x = 1\n2: y = 2")
    expect(result.meta).toMatchObject({ wasReformatted: true })
    expect((await edit('a', 'x = 1', 'x = 3')).isError).toBe(false)
  })
  it('tells that it stands unsaved beside changes of the person', async () => {
    const files = new NodeFileSystem()
    const { write } = await bench({ files: delegate(files, { writeText: async (change) => ({ ...(await files.writeText(change)), isUnsaved: true }) }) })
    const result = await write('a', 'x')
    expect(textOf(result)).toMatch(/^Created a\.\nThe person has unsaved changes in this file/)
    expect(result.meta).toMatchObject({ isUnsaved: true })
  })
})

/** An editor that puts spaces around `=` on save. */
const formatting = (files: NodeFileSystem): FileSystem => {
  const format = async (outcome: ChangeOutcome, target: { readonly key: FileKey; readonly path: string }): Promise<ChangeOutcome> => {
    const after = outcome.after.replaceAll(/ *= */g, ' = ')
    await writeFile(target.path, after)
    const { version } = await files.readText(await files.resolve(target.path, '/'), { maxBytes: 1e6 })
    return { ...outcome, after, version, wasReformatted: after !== outcome.after }
  }
  return delegate(files, {
    writeText: async (change) => format(await files.writeText(change), change.target),
    editText: async (change) => format(await files.editText(change), change.target),
  })
}

describe('edit', () => {
  it('changes what was named, and shows how it reads now', async () => {
    await put('a.ts', 'one\ntwo\nthree\nfour\nfive\nsix\n')
    const { read, edit, blobs, agent } = await bench()
    await read('a.ts', { limit: 1 })
    const result = await edit('a.ts', 'three', 'THREE')
    expect(await contentOf('a.ts')).toBe('one\ntwo\nTHREE\nfour\nfive\nsix\n')
    expect(textOf(result)).toBe('Edited a.ts at line 3. It now reads:\n1: one\n2: two\n3: THREE\n4: four\n5: five\n6: six')
    expect(outcomeOf(result)).toMatchObject({ path: 'a.ts', before: 'one\ntwo\nthree\nfour\nfive\nsix\n', after: 'one\ntwo\nTHREE\nfour\nfive\nsix\n', replacements: 1, lines: [3], added: 1, removed: 1 })
    const before = fileChangesFrom(result.meta)[0]?.before ?? ''
    expect(Buffer.from(await blobs.getBeforeImage(agent.id, before)).toString()).toContain('three')
  })
  it('again needs no second read', async () => {
    await put('a', '1 2 3')
    const { read, edit } = await bench()
    await read('a')
    await edit('a', '1', 'x')
    await edit('a', '2', 'y')
    expect(await contentOf('a')).toBe('x y 3')
  })
  it('follows an own write without a read', async () => {
    const { write, edit } = await bench()
    await write('a', 'x')
    await edit('a', 'x', 'y')
    expect(await contentOf('a')).toBe('y')
  })
  it('replaces all and shows the places, shortened', async () => {
    await put('a', Array.from({ length: 100 }, (_, index) => (index % 10 === 0 ? 'hit' : `l${index}`)).join('\n'))
    const { read, edit } = await bench()
    await read('a')
    const result = await edit('a', 'hit', 'HIT', { replace_all: true })
    expect(outcomeOf(result)).toMatchObject({ replacements: 10, lines: [1, 11, 21, 31, 41, 51, 61, 71, 81, 91] })
    expect(textOf(result)).toMatch(/^Edited a in 10 places\. It now reads:\n1: HIT\n2: l1\n3: l2\n4: l3\n…\n8: l7\n/)
    expect(textOf(result).split('\n').length).toBeLessThan(55)
  })
  it('takes a line to tell matches apart', async () => {
    await put('a', 'x\nx\nx\n')
    const { read, edit } = await bench()
    await read('a')
    await edit('a', 'x', 'y', { near_line: 3 })
    expect(await contentOf('a')).toBe('x\nx\ny\n')
  })
  it('deletes the whole content', async () => {
    await put('a', 'all')
    const { read, edit } = await bench()
    await read('a')
    expect(textOf(await edit('a', 'all', ''))).toBe('Edited a at line 1. It now reads:')
    expect(await contentOf('a')).toBe('')
  })

  const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
  const faithful: readonly [string, Uint8Array, Uint8Array][] = [
    ['CRLF', Buffer.from('a\r\nold\r\nb\r\n'), Buffer.from('a\r\nnew\r\nline\r\nb\r\n')],
    ['mixed line ends', Buffer.from('a\r\nold\nb\rc\n'), Buffer.from('a\r\nnew\nline\nb\rc\n')],
    ['no final line end', Buffer.from('a\nold'), Buffer.from('a\nnew\nline')],
    ['a BOM', Buffer.from('\u{FEFF}a\nold\n'), Buffer.from('\u{FEFF}a\nnew\nline\n')],
    ['UTF-16 with CRLF', utf16('ä\r\nold\r\n'), utf16('ä\r\nnew\r\nline\r\n')],
    ['Latin-1', Buffer.from('ä\nold\nÿ', 'latin1'), Buffer.from('ä\nnew\nline\nÿ', 'latin1')],
  ]
  it.each(faithful)('leaves every other byte of a file with %s', async (_name, before, after) => {
    await put('f', before)
    await chmod(at('f'), 0o755)
    const { read, edit } = await bench()
    await read('f')
    await edit('f', 'old', 'new\nline')
    expect(await bytesOf('f')).toEqual(Buffer.from(after))
    expect((await stat(at('f'))).mode & 0o777).toBe(0o755)
  })
  it('refuses a character the file cannot hold, and nothing changes', async () => {
    await put('f', Buffer.from('ä old', 'latin1'))
    const { read, edit } = await bench()
    await read('f')
    expect(outcomeOf(await edit('f', 'old', '€😀'))).toEqual(failed('FS_UNENCODABLE', /cannot hold/))
    expect(await bytesOf('f')).toEqual(Buffer.from('ä old', 'latin1'))
  })

  const refused: readonly [string, string, object, string, RegExp][] = [
    ['a miss', 'a', { old_string: 'nothing' }, 'FS_EDIT_NOT_FOUND', /Nothing was changed/],
    ['an ambiguous text', 'a', { old_string: 'l' }, 'FS_AMBIGUOUS_EDIT', /2 times/],
    ['an empty old text', 'a', { old_string: '' }, 'INVALID_ARGS', /old_string is empty/],
    ['equal texts', 'a', { old_string: 'old', new_string: 'old' }, 'INVALID_ARGS', /the same text/],
    ['texts that differ in line ends only', 'a', { old_string: 'x\ny', new_string: 'x\r\ny' }, 'INVALID_ARGS', /the same text/],
    ['a line that cannot be', 'a', { near_line: 0 }, 'INVALID_ARGS', /near_line must be 1 or more/],
    ['a file that was not read', 'unread', {}, 'FS_NOT_OBSERVED', /Read it first/],
    ['a file that was seen not to exist', 'gone', {}, 'FS_NOT_FOUND', /Create it with write/],
    ['a binary file', 'late', { old_string: 'x', new_string: 'y' }, 'FS_NOT_TEXT', /binary/],
    ['wider rights that are not offered', 'a', { sandbox_permissions: 'workspace-write' }, 'INVALID_ARGS', /sandbox_permissions/],
  ]
  it.each(refused)('refuses %s, and not a byte changes', async (name, path, args, code, message) => {
    await put('a', 'old old2\n')
    await put('unread', 'old')
    const agent = createFakeAgent({ cwd: folder })
    const { read, run, ctx } = await bench({ agent })
    await read('a')
    await read('gone')
    if (name === 'a binary file') {
      const binary = Buffer.from([0x78, 0, 0xff, 0xfe, 0x80])
      await put('late', binary)
      // As if it had been text when it was read: the guard is passed, the content is not text.
      const target = await new NodeFileSystem().resolve('late', folder)
      ctx.observations.observe(agent, target, { version: 'sha256:none' as FileVersion })
    }
    const result = await run('edit', { file_path: path, old_string: 'old', new_string: 'new', ...args })
    expect(outcomeOf(result)).toEqual(failed(code, message))
    expect([await contentOf('a'), await contentOf('unread')]).toEqual(['old old2\n', 'old'])
  })
  it('tells what the editor’s save actions made of it', async () => {
    await put('a', 'x = 1\n')
    const { read, edit } = await bench({ files: formatting(new NodeFileSystem()) })
    await read('a')
    expect(textOf(await edit('a', 'x = 1', 'x=2'))).toBe("Edited a at line 1. It now reads:\n1: x = 2\nThe editor's save actions changed the text further:\n1: x = 2")
  })
})

describe('the stale-read guard', () => {
  it('refuses an edit and a write after an outside change, until it is read again', async () => {
    await put('a', 'old')
    const { read, edit, write } = await bench()
    await read('a')
    await put('a', 'theirs old')
    expect(outcomeOf(await edit('a', 'old', 'new'))).toEqual(failed('FS_STALE_VERSION', /-old[^]*\+theirs old/))
    expect(outcomeOf(await write('a', 'new'))).toEqual(failed('FS_STALE_VERSION', /-old[^]*\+theirs old/))
    expect(await contentOf('a')).toBe('theirs old')
    await read('a')
    await edit('a', 'old', 'new')
    expect(await contentOf('a')).toBe('theirs new')
  })
  it('is decided before matching', async () => {
    await put('a', 'old')
    const { read, edit } = await bench()
    await read('a')
    await put('a', 'other')
    expect(outcomeOf(await edit('a', 'nowhere', 'x'))).toMatchObject({ code: 'FS_STALE_VERSION' })
  })
  it('does not mind a new time or a new inode with the same content', async () => {
    await put('a', 'old')
    const { read, edit } = await bench()
    await read('a')
    await unlink(at('a'))
    await put('a', 'old')
    await utimes(at('a'), 1, 1)
    expect((await edit('a', 'old', 'new')).isError).toBe(false)
  })
  it('calls a deleted file stale for both', async () => {
    await put('a', 'old')
    const { read, edit, write } = await bench()
    await read('a')
    await unlink(at('a'))
    expect(outcomeOf(await edit('a', 'old', 'new'))).toEqual(failed('FS_STALE_VERSION', /deleted/))
    expect(outcomeOf(await write('a', 'new'))).toEqual(failed('FS_STALE_VERSION', /deleted/))
  })
  it('lets a failed read be followed by creation', async () => {
    const { read, write } = await bench()
    await read('a')
    expect((await write('a', 'x')).isError).toBe(false)
  })
  it('lets one of two racing edits win', async () => {
    await put('a', 'old')
    const { read, edit } = await bench()
    await read('a')
    const codes = (await Promise.all([edit('a', 'old', 'one'), edit('a', 'old', 'two')])).map((result) => (result.isError ? result.error.info?.code : 'won'))
    expect(new Set(codes)).toEqual(new Set(['FS_STALE_VERSION', 'won']))
    expect(await contentOf('a')).toBe(codes[0] === 'won' ? 'one' : 'two')
  })
  it('knows a file by every spelling', async () => {
    await put('a', 'old')
    await symlink('a', at('link'))
    const { read, edit } = await bench()
    await read('link')
    expect((await edit(at('a'), 'old', 'new')).isError).toBe(false)
  })
  it('is kept over a resume', async () => {
    await put('a', 'old')
    const first = await bench()
    await first.read('a')
    const resumed = await bench({ agent: createFakeAgent({ cwd: folder, events: first.agent.log }) })
    expect((await resumed.edit('a', 'old', 'new')).isError).toBe(false)
    expect(outcomeOf(await (await bench()).edit('a', 'new', 'x'))).toMatchObject({ code: 'FS_NOT_OBSERVED' })
  })
  it('says that the change is in the editor when the buffer is dirty', async () => {
    await put('a', 'old')
    const { read, edit, ctx, agent } = await bench({ files: withDirty(new NodeFileSystem()) })
    await read('a')
    ctx.observations.observe(agent, await new NodeFileSystem().resolve('a', folder), { version: 'sha256:before' as FileVersion })
    expect(outcomeOf(await edit('a', 'old', 'new'))).toEqual(failed('FS_STALE_VERSION', /unsaved changes in the editor, made since/))
  })
})

describe('a program in Code Mode', () => {
  it('gets the same values, and its calls have no cards', async () => {
    await put('a', 'old')
    const { read, edit } = await bench()
    expect((await read('a', {}, { isNested: true })).meta).toBeUndefined()
    expect(outcomeOf(await edit('a', 'old', 'new', {}, { isNested: true }))).toMatchObject({ before: 'old', after: 'new' })
  })
})

describe('the cards', () => {
  const present = async (name: string) => (await bench()).ctx.tools.get(name)!
  const text = [{ type: 'text', text: 't' }] as const
  const pending = async (name: string, args: unknown) => (await present(name)).presentCall?.(args as never)
  const done = async (name: string, args: unknown, meta?: Json, isError = false) => (await present(name)).presentResult?.(args as never, { content: text, isError, ...(meta !== undefined && { meta }) })
  const bad: readonly (Json | undefined)[] = [undefined, null, 'x', {}, { operation: 'update' }, { operation: 'update', hunks: [{ oldText: 1 }] }, { operation: 'move', hunks: [] }, { path: 'a', lines: [{ number: 'x' }], offset: 1, totalLines: 1 }]

  it('of read', async () => {
    expect(await pending('read', { file_path: 'a' })).toEqual({ card: 'generic', title: 'Read a', kind: 'read', subject: 'a', locations: [{ path: 'a' }] })
    expect(await pending('read', { file_path: 'a', offset: 5 })).toMatchObject({ title: 'Read a (from line 5)', locations: [{ path: 'a', line: 5 }] })
    expect(await pending('read', { file_path: 'a', offset: 5, limit: 10 })).toMatchObject({ title: 'Read a (5 - 14)' })
    expect(await pending('read', { file_path: 'a', limit: 10 })).toMatchObject({ title: 'Read a (1 - 10)' })
    expect(await pending('read', { file_path: 1 })).toBeUndefined()
    await put('a.tsx', 'x\n')
    await put('b.constructor', 'x\n')
    const { read } = await bench()
    expect(await done('read', { file_path: 'a.tsx' }, (await read('a.tsx')).meta)).toEqual({ card: 'read', path: 'a.tsx', offset: 1, lines: [{ number: 1, text: 'x' }], totalLines: 1, lang: 'typescript' })
    expect((await read('b.constructor')).meta).not.toHaveProperty('lang')
    expect(await done('read', { file_path: 'a' }, undefined, true)).toEqual({ card: 'generic', content: text })
    for (const meta of bad) expect(await done('read', { file_path: 'a' }, meta)).toBeUndefined()
  })
  it.each([
    [{ ranges: [[3, 4], [9, 9]] }, 'Read a (3 - 4, 9 - 9)', { path: 'a', line: 3 }],
    [{ symbol: 'A.b' }, 'Read a (A.b)', { path: 'a' }],
    [{ offset: 3 }, 'Read a (from line 3)', { path: 'a', line: 3 }],
    [{}, 'Read a', { path: 'a' }],
  ])('of read of %j', async (args, title, location) => expect(await pending('read', { file_path: 'a', ...args })).toMatchObject({ title, locations: [location] }))
  it('of read keep at most 16 384 bytes of lines', async () => {
    await put('f', `${'x'.repeat(999)}\n`.repeat(40))
    const { meta } = await (await bench()).read('f')
    expect((meta as { lines: unknown[] }).lines).toHaveLength(16)
  })
  it('of write', async () => {
    const args = { file_path: 'a', content: 'n\n' }
    expect(await pending('write', args)).toEqual({ card: 'diff', title: 'Write a', diffs: [{ path: 'a', oldText: null, newText: 'n\n' }], locations: [{ path: 'a' }] })
    expect(await pending('write', { file_path: 'a' })).toBeUndefined()
    const { write } = await bench()
    const whole = [{ path: 'a', oldText: null, newText: 'n\n' }]
    expect(await done('write', args, (await write('a', 'n\n')).meta)).toEqual({ card: 'diff', title: 'Created a', diffs: whole })
    expect(await done('write', args, (await write('a', 'm\n')).meta)).toEqual({ card: 'diff', title: 'Wrote a', diffs: [{ path: 'a', oldText: 'n\n', newText: 'm\n', oldStart: 1, newStart: 1 }] })
    expect(await done('write', args, (await write('a', 'm\n')).meta)).toEqual({ card: 'diff', title: 'Wrote a', diffs: whole })
    for (const meta of bad) expect(await done('write', args, meta)).toEqual({ card: 'diff', title: 'Wrote a', diffs: whole })
    expect(await done('write', args, undefined, true)).toEqual({ card: 'generic', title: 'Write a', content: text })
    expect(await done('write', { file_path: 1 })).toBeUndefined()
  })
  it('of edit', async () => {
    const args = { file_path: 'a', old_string: 'o', new_string: 'n' }
    expect(await pending('edit', args)).toEqual({ card: 'diff', title: 'Edit a', diffs: [{ path: 'a', oldText: 'o', newText: 'n' }], locations: [{ path: 'a' }] })
    expect(await pending('edit', { ...args, old_string: '' })).toMatchObject({ diffs: [{ oldText: null }] })
    expect(await pending('edit', {})).toBeUndefined()
    await put('a', 'o')
    const { read, edit } = await bench()
    await read('a')
    expect(await done('edit', args, (await edit('a', 'o', 'n')).meta)).toEqual({ card: 'diff', title: 'Edited a', diffs: [{ path: 'a', oldText: 'o', newText: 'n', oldStart: 1, newStart: 1 }] })
    const hunk = { oldStart: 1, newStart: 1, oldText: '', newText: 'n' }
    expect(await done('edit', args, { operation: 'update', hunks: [hunk], isUnsaved: true, wasReformatted: true, omittedHunks: 2 })).toEqual({
      card: 'diff',
      title: 'Edited a',
      diffs: [{ path: 'a', oldText: null, newText: 'n', oldStart: 1, newStart: 1 }],
      note: 'The editor’s save actions changed the text further. Not saved: the file had unsaved changes of yours. 2 more changed regions are not shown here.',
    })
    for (const meta of bad) expect(await done('edit', args, meta)).toEqual({ card: 'generic', title: 'Edit a', content: text })
    expect(await done('edit', args, undefined, true)).toEqual({ card: 'generic', title: 'Edit a', content: text })
  })
  it('of a change keep at most 65 536 bytes of regions', async () => {
    const line = `${'x'.repeat(200)}\n`
    await put('a', Array.from({ length: 2_000 }, (_, index) => (index % 20 === 0 ? 'hit\n' : line)).join(''))
    const { read, edit } = await bench()
    await read('a')
    const { meta } = await edit('a', 'hit', 'HIT', { replace_all: true })
    expect(JSON.stringify(meta).length).toBeLessThan(75_000)
    expect(meta).toMatchObject({ omittedHunks: expect.any(Number) as number, added: 100, removed: 100 })
  })
})

it('all go with their plugin, prompt sections too', async () => {
  const { ctx, fiber, promptSections } = await bench()
  expect(promptSections.map(({ order }) => order)).toEqual([100, 101, 102])
  await fiber.dispose()
  expect([...['read', 'write', 'edit'].map((name) => ctx.tools.get(name)), promptSections]).toEqual([undefined, undefined, undefined, []])
})
