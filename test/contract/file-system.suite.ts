import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { FileError, MAX_WHOLE_TEXT_CHARS, type Expectation, type FileErrorCode, type FileSystem, type FileVersion, type LineWindow, type TextForm, type TextReplacement } from '../../extension/capabilities/file-system.ts'
import { inWorld, type SuiteEnv } from './suite.ts'

/** A provider, an empty folder to try it on, and a way to the files behind its back. Paths are relative to the folder, with `/`. */
export interface FileSystemWorld {
  readonly files: FileSystem
  /** Absolute. */
  readonly root: string
  put(path: string, bytes: Uint8Array): Promise<void>
  /** Null when it is not there. */
  get(path: string): Promise<Uint8Array | null>
  remove(path: string): Promise<void>
  makeFolder(path: string): Promise<void>
  makeReadonly(path: string): Promise<void>
  /** Every file below the folder, sorted. */
  list(): Promise<readonly string[]>
  dispose(): Promise<void>
}

const bytesOf = (...parts: readonly (string | readonly number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part)] : part)))
const utf16 = (text: string) => [0xff, 0xfe, ...Buffer.from(text, 'utf16le')]
const mark = [0xef, 0xbb, 0xbf]
const maxBytes = 1_000_000
const window: LineWindow = { offset: 1, limit: 2000, maxLineLength: 2000, maxBytes: 51_200 }

/** What every `FileSystem` does. Free of any test runner, so that it also runs inside the editor's extension host. */
export function fileSystemContract({ describe, it, create }: SuiteEnv<FileSystemWorld>): void {
  const withWorld = (body: (world: FileSystemWorld) => Promise<void>) => inWorld(create, body)
  const at = ({ files, root }: FileSystemWorld, path: string) => files.resolve(path, root)
  const fails = (work: Promise<unknown>, code: FileErrorCode, message = /./) =>
    assert.rejects(work, (error: unknown) => {
      assert.ok(error instanceof FileError, String(error))
      assert.equal(error.code, code, error.message)
      assert.match(error.message, message)
      return true
    })
  const versionOfBytes = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}` as FileVersion
  const form = (encoding: string, hasBom: boolean, eol: TextForm['eol']): TextForm => ({ encoding, hasBom, eol })

  describe('resolving', () => {
    it('a relative path, an absolute one and a file URI name the same file', () =>
      withWorld(async (world) => {
        await world.put('a b.txt', bytesOf('x'))
        const full = `${world.root}/a b.txt`
        const targets = await Promise.all(['a b.txt', './x/../a b.txt', full, new URL(`file://${full}`).href.replace('%20', ' ')].map((path) => at(world, path)))
        assert.deepEqual(new Set(targets.map(({ key }) => key)).size, 1)
        assert.equal(targets[0]?.spelling, 'a b.txt')
        assert.equal(targets[0]?.exists, true)
        assert.equal((await world.files.readText(targets[0], { maxBytes })).text, 'x')
      }))
    it('a file that is not there, in a folder that is not there', () =>
      withWorld(async (world) => {
        const target = await at(world, 'no/such/file')
        assert.deepEqual([target.exists, target.isDanglingLink], [false, false])
        assert.ok(target.path.endsWith('no/such/file'))
      }))
    it('a folder exists', () => withWorld(async (world) => assert.equal((await at(world, '.')).exists, true)))
    it('NUL is refused', () => withWorld((world) => fails(at(world, 'a\0b'), 'FS_IO_ERROR', /NUL/)))
    it('a signal that fired', () => withWorld(({ files, root }) => fails(files.resolve('a', root, AbortSignal.abort()), 'FS_ABORTED')))
  })

  describe('stat and folders', () => {
    it('a file, a folder and a file that may not be written', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('abc'))
        await world.put('r', bytesOf('abc'))
        await world.makeReadonly('r')
        const facts = async (path: string) => {
          const { kind, size, isReadonly } = await world.files.stat(await at(world, path))
          return kind === 'file' ? { kind, size, isReadonly } : { kind }
        }
        assert.deepEqual(await facts('a'), { kind: 'file', size: 3, isReadonly: false })
        assert.deepEqual(await facts('r'), { kind: 'file', size: 3, isReadonly: true })
        assert.deepEqual(await facts('.'), { kind: 'directory' })
      }))
    it('what is not there', () => withWorld(async (world) => fails(world.files.stat(await at(world, 'a')), 'FS_NOT_FOUND')))
    it('names in a folder, sorted, with their kind', () =>
      withWorld(async (world) => {
        for (const path of ['b', 'a', 'c/d']) await world.put(path, bytesOf(''))
        assert.deepEqual(await world.files.readDirectory(await at(world, '.')), [
          { name: 'a', kind: 'file' },
          { name: 'b', kind: 'file' },
          { name: 'c', kind: 'directory' },
        ])
      }))
    it('a folder that is not there', () => withWorld(async (world) => fails(world.files.readDirectory(await at(world, 'a')), 'FS_NOT_FOUND')))
  })

  describe('reading text', () => {
    const check = (bytes: Uint8Array, text: string, expected: TextForm) =>
      withWorld(async (world) => {
        await world.put('a', bytes)
        const file = await world.files.readText(await at(world, 'a'), { maxBytes })
        assert.deepEqual({ text: file.text, form: file.form }, { text, form: expected })
        // The same file by lines.
        const { lines, totalLines, form, version, wholeText } = await world.files.readLines(await at(world, 'a'), { ...window, limit: 5000 })
        assert.equal(wholeText, text)
        const expectedLines = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)
        assert.deepEqual({ lines: lines.map(({ text }) => text), totalLines, form, version }, { lines: expectedLines, totalLines: expectedLines.length, form: expected, version: file.version })
      })

    it('an empty file', () => check(bytesOf(''), '', form('utf8', false, 'none')))
    it('UTF-8', () => check(bytesOf('aé€😀\n'), 'aé€😀\n', form('utf8', false, 'lf')))
    it('UTF-8 with a mark', () => check(bytesOf(mark, 'é\r\n'), 'é\r\n', form('utf8', true, 'crlf')))
    it('UTF-16', () => check(bytesOf(utf16('a😀\r\nb\n')), 'a😀\r\nb\n', form('utf16le', true, 'mixed')))
    it('no final line end', () => check(bytesOf('a\nb'), 'a\nb', form('utf8', false, 'lf')))
    it('a lone CR is data', () => check(bytesOf('a\rb\n'), 'a\rb\n', form('utf8', false, 'lf')))
    it('bytes that are no UTF-8', () => check(bytesOf('caf', [0xe9], '\n'), 'café\n', form('latin1', false, 'lf')))
    it('a NUL after the first 8 192 bytes', () => check(bytesOf('a\n'.repeat(4096), [0], 'b'), `${'a\n'.repeat(4096)}\0b`, form('utf8', false, 'lf')))
  })

  describe('reading by lines', () => {
    it('begins at the offset, ends at the limit, and counts all', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('1\n2\n3\n4\n'))
        const { lines, totalLines, isByteCapped } = await world.files.readLines(await at(world, 'a'), { ...window, offset: 2, limit: 2 })
        assert.deepEqual({ lines, totalLines, isByteCapped }, { lines: [{ number: 2, text: '2', isCut: false }, { number: 3, text: '3', isCut: false }], totalLines: 4, isByteCapped: false })
      }))
    it('cuts a long line and says so', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('x'.repeat(5000), '\ny\n'))
        const { lines } = await world.files.readLines(await at(world, 'a'), window)
        assert.deepEqual(lines, [{ number: 1, text: 'x'.repeat(2000), isCut: true }, { number: 2, text: 'y', isCut: false }])
      }))
    it('the byte cap ends the window', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('ab\ncd\ne\n'))
        const { lines, totalLines, isByteCapped } = await world.files.readLines(await at(world, 'a'), { ...window, maxBytes: 5 })
        assert.deepEqual([lines.length, totalLines, isByteCapped], [1, 3, true])
      }))
    it('past the end there is nothing, and the total is told', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('1\n'))
        const { lines, totalLines } = await world.files.readLines(await at(world, 'a'), { ...window, offset: 5 })
        assert.deepEqual([lines, totalLines], [[], 1])
      }))
  })

  describe('the whole text beside a window', () => {
    for (const [length, comes] of [[MAX_WHOLE_TEXT_CHARS, true], [MAX_WHOLE_TEXT_CHARS + 1, false]] as const) {
      it(`of ${length} characters ${comes ? 'comes' : 'does not come'} along`, () =>
        withWorld(async (world) => {
          await world.put('a', bytesOf('x\n'.repeat(length / 2), length % 2 === 0 ? '' : 'x'))
          const { wholeText } = await world.files.readLines(await at(world, 'a'), { ...window, limit: 1 })
          assert.equal(wholeText?.length, comes ? length : undefined)
        }))
    }
  })

  describe('what cannot be read', () => {
    const both = async (world: FileSystemWorld, path: string, code: FileErrorCode, message = /./) => {
      const target = await at(world, path)
      await fails(world.files.readText(target, { maxBytes }), code, message)
      await fails(world.files.readLines(target, window), code, message)
    }
    it('a missing file', () => withWorld((world) => both(world, 'no/a', 'FS_NOT_FOUND', /no\/a/)))
    it('a folder', () => withWorld((world) => both(world, '.', 'FS_NOT_REGULAR_FILE', /folder/)))
    it('a binary file', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('x', [0], 'y'))
        await both(world, 'a', 'FS_NOT_TEXT')
        assert.deepEqual(Uint8Array.from(await world.files.readBytes(await at(world, 'a'), { maxBytes })), bytesOf('x', [0], 'y'))
      }))
    it('a file over the cap', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('abc'))
        await fails(world.files.readText(await at(world, 'a'), { maxBytes: 2 }), 'FS_TOO_LARGE', /3 bytes.*2/)
        await fails(world.files.readBytes(await at(world, 'a'), { maxBytes: 2 }), 'FS_TOO_LARGE')
        assert.equal((await world.files.readText(await at(world, 'a'), { maxBytes: 3 })).text, 'abc')
      }))
    it('after a stop', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('abc'))
        const signal = AbortSignal.abort()
        await fails(world.files.readText(await at(world, 'a'), { maxBytes, signal }), 'FS_ABORTED')
        await fails(world.files.readLines(await at(world, 'a'), window, signal), 'FS_ABORTED')
      }))
  })

  describe('versions', () => {
    const versionOf = async (world: FileSystemWorld, path: string) => (await world.files.readText(await at(world, path), { maxBytes })).version
    it('are equal for equal contents, however often the file was touched, and differ otherwise', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('abc'))
        const first = await versionOf(world, 'a')
        assert.equal(first, versionOfBytes(bytesOf('abc')))
        await world.put('a', bytesOf('abc'))
        assert.equal(await versionOf(world, 'a'), first)
        await world.put('a', bytesOf('abd'))
        assert.notEqual(await versionOf(world, 'a'), first)
        await world.put('a', bytesOf(mark, 'abc'))
        assert.notEqual(await versionOf(world, 'a'), first)
      }))
  })

  const write = async (world: FileSystemWorld, path: string, text: string, expect: Expectation | 'current' = 'current') => {
    const target = await at(world, path)
    return world.files.writeText({ target, text, expect: expect === 'current' ? await currentOf(world, path) : expect, label: 'test' })
  }
  const currentOf = async (world: FileSystemWorld, path: string): Promise<Expectation> => {
    const target = await at(world, path)
    if (!target.exists) return { kind: 'absent' }
    return { kind: 'version', version: (await world.files.readLines(target, window)).version }
  }
  /** Changes nothing: not the file, and nothing beside it. */
  const refuses = async (world: FileSystemWorld, path: string, work: () => Promise<unknown>, code: FileErrorCode, message = /./) => {
    const before = [await world.get(path), await world.list()]
    await fails(work(), code, message)
    assert.deepEqual([await world.get(path), await world.list()], before)
  }

  describe('writing', () => {
    const check = (old: Uint8Array | null, text: string, bytes: Uint8Array, outcome: object = {}) =>
      withWorld(async (world) => {
        if (old) await world.put('a', old)
        const result = await write(world, 'a', text)
        assert.deepEqual(await world.get('a'), Buffer.from(bytes))
        assert.deepEqual(await world.list(), ['a'])
        const now = await world.files.readText(await at(world, 'a'), { maxBytes })
        assert.deepEqual({ version: result.version, form: result.form, after: result.after }, { version: now.version, form: now.form, after: now.text })
        for (const [key, value] of Object.entries(outcome)) assert.deepEqual(result[key as keyof typeof result], value)
      })

    it('a new file', () => check(null, 'é\n', bytesOf('é\n'), { before: null, wasReformatted: false, isUnsaved: false }))
    it('an empty new file', () => check(null, '', bytesOf('')))
    it('other content', () => check(bytesOf('old'), 'new\r\n', bytesOf('new\r\n'), { before: 'old' }))
    it('the same content', () => check(bytesOf('same'), 'same', bytesOf('same'), { before: 'same' }))
    it('nothing', () => check(bytesOf('old'), '', bytesOf('')))
    it('keeps a mark', () => check(bytesOf(mark, 'old'), 'é', bytesOf(mark, 'é'), { before: 'old' }))
    it('a mark that comes with the text is not doubled', () => check(bytesOf(mark, 'old'), '\u{FEFF}é', bytesOf(mark, 'é')))
    it('keeps UTF-16', () => check(bytesOf(utf16('old')), 'a😀\n', bytesOf(utf16('a😀\n')), { before: 'old' }))
    it('keeps Latin-1', () => check(bytesOf([0xe9]), 'ü\n', bytesOf([0xfc], '\n'), { before: 'é' }))
    it('keeps CRLF where every line ended so, for a text that brings none', () =>
      check(bytesOf('a\r\nb\r\n'), 'c\nb\n\n', bytesOf('c\r\nb\r\n\r\n'), { before: 'a\r\nb\r\n', wasReformatted: false }))
    it('keeps CRLF in UTF-16, too', () => check(bytesOf(utf16('a\r\n')), 'b\n', bytesOf(utf16('b\r\n'))))
    it('line ends that come with a text stay as they are sent', () => check(bytesOf('a\r\n'), 'a\nb\r\n', bytesOf('a\nb\r\n')))
    it('line ends of a file that mixes them are no guide', () => check(bytesOf('a\r\nb\n'), 'a\nc\n', bytesOf('a\nc\n')))
    it('LF gives way to the CRLF of a text', () => check(bytesOf('a\n'), 'a\r\n', bytesOf('a\r\n')))
    it('makes the folders on the way', () =>
      withWorld(async (world) => {
        await write(world, 'x/y/z', 'a')
        assert.deepEqual(await world.list(), ['x/y/z'])
      }))
    it('over a binary file says that there was no text before', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('x', [0]))
        const target = await at(world, 'a')
        const version = versionOfBytes(bytesOf('x', [0]))
        const { before } = await world.files.writeText({ target, text: 'y', expect: { kind: 'version', version }, label: 'test' })
        assert.equal(before, null)
        assert.deepEqual(await world.get('a'), Buffer.from('y'))
      }))
    it('a file that came meanwhile is not overwritten', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('theirs'))
        await refuses(world, 'a', () => write(world, 'a', 'ours', { kind: 'absent' }), 'FS_STALE_VERSION', /Read it again/)
      }))
    it('a file that changed meanwhile is not overwritten', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('old'))
        const expect = await currentOf(world, 'a')
        await world.put('a', bytesOf('theirs'))
        await refuses(world, 'a', () => write(world, 'a', 'ours', expect), 'FS_STALE_VERSION')
      }))
    it('a file that was deleted meanwhile does not come back', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('old'))
        const expect = await currentOf(world, 'a')
        await world.remove('a')
        await refuses(world, 'a', () => write(world, 'a', 'ours', expect), 'FS_STALE_VERSION')
      }))
    it('a file that was only touched is not stale', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('old'))
        const expect = await currentOf(world, 'a')
        await world.put('a', bytesOf('old'))
        assert.equal((await write(world, 'a', 'new', expect)).before, 'old')
      }))
    it('a folder is not replaced', () =>
      withWorld(async (world) => {
        await world.makeFolder('d')
        await refuses(world, 'd', () => write(world, 'd', 'x', { kind: 'absent' }), 'FS_NOT_REGULAR_FILE')
      }))
    it('below a file nothing can be written', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('x'))
        await refuses(world, 'a', () => write(world, 'a/b', 'x', { kind: 'absent' }), 'FS_IO_ERROR', /part of its path is a file/)
      }))
    it('a read-only file stays as it is', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('x'))
        await world.makeReadonly('a')
        await refuses(world, 'a', () => write(world, 'a', 'y'), 'FS_READONLY', /read-only/)
      }))
    it('half a character cannot be stored', () =>
      withWorld(async (world) => refuses(world, 'a', () => write(world, 'a', 'a\n\u{D800}', { kind: 'absent' }), 'FS_UNENCODABLE', /U\+D800.*line 2, column 1/)))
    it('what the encoding of the file cannot hold is refused', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf([0xe9]))
        await refuses(world, 'a', () => write(world, 'a', 'x€'), 'FS_UNENCODABLE', /latin1.*"€" \(U\+20AC\) at line 1, column 2/)
      }))
    it('a stop before the change changes nothing', () =>
      withWorld(async (world) => {
        const target = await at(world, 'a')
        await refuses(world, 'a', () => world.files.writeText({ target, text: 'x', expect: { kind: 'absent' }, label: 'test', signal: AbortSignal.abort() }), 'FS_ABORTED')
      }))
    it('two writers: one wins, the other is told', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('old'))
        const expect = await currentOf(world, 'a')
        const results = await Promise.allSettled(['one', 'two'].map((text) => write(world, 'a', text, expect)))
        assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
        const winner = results[0]?.status === 'fulfilled' ? 'one' : 'two'
        assert.deepEqual(await world.get('a'), Buffer.from(winner))
      }))
    it('two creators: one wins, the other is told', () =>
      withWorld(async (world) => {
        const results = await Promise.allSettled(['one', 'two'].map((text) => write(world, 'x/a', text, { kind: 'absent' })))
        assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
        assert.deepEqual(await world.list(), ['x/a'])
      }))
  })

  describe('editing', () => {
    const edit = async (world: FileSystemWorld, path: string, replacements: readonly TextReplacement[], expect?: Expectation) => {
      const current = expect ?? (await currentOf(world, path))
      assert.equal(current.kind, 'version')
      return world.files.editText({ target: await at(world, path), replacements, expect: current, label: 'test' })
    }
    const check = (old: Uint8Array, replacements: readonly TextReplacement[], bytes: Uint8Array, text: readonly [string, string]) =>
      withWorld(async (world) => {
        await world.put('a', old)
        const { before, after, version, form } = await edit(world, 'a', replacements)
        assert.deepEqual(await world.get('a'), Buffer.from(bytes))
        assert.deepEqual([before, after], text)
        const now = await world.files.readText(await at(world, 'a'), { maxBytes })
        assert.deepEqual({ version, form }, { version: now.version, form: now.form })
        assert.deepEqual(await world.list(), ['a'])
      })

    it('one range', () => check(bytesOf('abc'), [{ start: 1, end: 2, newText: 'X' }], bytesOf('aXc'), ['abc', 'aXc']))
    it('several ranges, growing and shrinking', () =>
      check(bytesOf('abcdef'), [{ start: 0, end: 1, newText: '' }, { start: 2, end: 2, newText: '--' }, { start: 5, end: 6, newText: 'é' }], bytesOf('b--cdeé'), ['abcdef', 'b--cdeé']))
    it('keeps mixed line ends', () => check(bytesOf('a\r\nb\nc\r\n'), [{ start: 3, end: 4, newText: 'B' }], bytesOf('a\r\nB\nc\r\n'), ['a\r\nb\nc\r\n', 'a\r\nB\nc\r\n']))
    it('keeps a mark', () => check(bytesOf(mark, 'ab'), [{ start: 0, end: 1, newText: 'é' }], bytesOf(mark, 'éb'), ['ab', 'éb']))
    it('keeps UTF-16', () => check(bytesOf(utf16('a😀b')), [{ start: 3, end: 4, newText: '€' }], bytesOf(utf16('a😀€')), ['a😀b', 'a😀€']))
    it('keeps Latin-1', () => check(bytesOf([0xe9, 0xff], 'b'), [{ start: 2, end: 3, newText: 'ü' }], bytesOf([0xe9, 0xff, 0xfc]), ['éÿb', 'éÿü']))
    it('keeps a missing final line end', () => check(bytesOf('a\nb'), [{ start: 0, end: 1, newText: 'A' }], bytesOf('A\nb'), ['a\nb', 'A\nb']))
    it('may leave nothing', () => check(bytesOf('abc'), [{ start: 0, end: 3, newText: '' }], bytesOf(''), ['abc', '']))
    it('right after an edit needs no new reading', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('abc'))
        const first = await edit(world, 'a', [{ start: 0, end: 1, newText: 'X' }])
        await edit(world, 'a', [{ start: 1, end: 2, newText: 'Y' }], { kind: 'version', version: first.version })
        assert.deepEqual(await world.get('a'), Buffer.from('XYc'))
      }))
    it('a file that changed meanwhile stays', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('abc'))
        const expect = await currentOf(world, 'a')
        await world.put('a', bytesOf('abX'))
        await refuses(world, 'a', () => edit(world, 'a', [{ start: 0, end: 1, newText: '' }], expect), 'FS_STALE_VERSION')
      }))
    it('a file that was deleted stays so', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('abc'))
        const expect = await currentOf(world, 'a')
        await world.remove('a')
        await refuses(world, 'a', () => edit(world, 'a', [], expect), 'FS_STALE_VERSION')
      }))
    it('two editors: one wins, the other is told', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('abc'))
        const expect = await currentOf(world, 'a')
        const results = await Promise.allSettled(['X', 'Y'].map((newText) => edit(world, 'a', [{ start: 0, end: 1, newText }], expect)))
        assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
      }))
    it('half a character cannot be left', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('a😀'))
        await refuses(world, 'a', () => edit(world, 'a', [{ start: 1, end: 2, newText: '' }]), 'FS_UNENCODABLE')
      }))
  })

  describe('editing several files', () => {
    const first = (newText: string): readonly TextReplacement[] => [{ start: 0, end: 1, newText }]
    const editAll = async (world: FileSystemWorld, changes: readonly (readonly [path: string, replacements: readonly TextReplacement[], expect?: { readonly kind: 'version'; readonly version: FileVersion }])[]) => {
      const edits = []
      for (const [path, replacements, expect] of changes) edits.push({ target: await at(world, path), replacements, expect: expect ?? (await versionNow(world, path)) })
      return await world.files.editTexts({ edits, label: 'test' })
    }
    const versionNow = async (world: FileSystemWorld, path: string) => ({ kind: 'version', version: (await world.files.readLines(await at(world, path), window)).version }) as const
    const textsOf = async (world: FileSystemWorld) => {
      const texts: Record<string, string> = {}
      for (const path of await world.list()) texts[path] = Buffer.from((await world.get(path))!).toString('utf8')
      return texts
    }

    it('changes each of them and says how they were and are, in the order of the edits', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('abc\n'))
        await world.put('sub/b', bytesOf(mark, 'abc\r\n'))
        const outcomes = await editAll(world, [
          ['sub/b', first('XYZ')],
          ['a', [...first('1'), { start: 2, end: 3, newText: '' }]],
        ])
        assert.deepEqual(
          outcomes.map(({ before, after, isUnsaved }) => [before, after, isUnsaved]),
          [
            ['abc\r\n', 'XYZbc\r\n', false],
            ['abc\n', '1b\n', false],
          ],
        )
        assert.deepEqual(await textsOf(world), { a: '1b\n', 'sub/b': '\u{FEFF}XYZbc\r\n' })
        assert.deepEqual(outcomes.map(({ version }) => version), await Promise.all(['sub/b', 'a'].map(async (path) => versionOfBytes((await world.get(path))!))))
      }))
    const refusals: readonly [name: string, code: FileErrorCode, prepare: (world: FileSystemWorld) => Promise<void>][] = [
      ['is another version', 'FS_STALE_VERSION', (world) => world.put('b', bytesOf('other'))],
      ['is gone', 'FS_STALE_VERSION', (world) => world.remove('b')],
      ['is read-only', 'FS_READONLY', (world) => world.makeReadonly('b')],
    ]
    for (const [name, code, prepare] of refusals) {
      it(`changes none of them when one ${name}`, () =>
        withWorld(async (world) => {
          await world.put('a', bytesOf('abc'))
          await world.put('b', bytesOf('abc'))
          const edits = [
            { target: await at(world, 'a'), replacements: first('X'), expect: await versionNow(world, 'a') },
            { target: await at(world, 'b'), replacements: first('X'), expect: await versionNow(world, 'b') },
          ]
          await prepare(world)
          const before = await textsOf(world)
          await assert.rejects(world.files.editTexts({ edits, label: 'test' }), (error: unknown) => {
            assert.ok(error instanceof FileError, String(error))
            assert.equal(error.code, code)
            return true
          })
          assert.deepEqual(await textsOf(world), before)
        }))
    }
    it('changes none of them when the new text cannot be stored in one', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('abc'))
        await world.put('b', bytesOf('a😀'))
        const before = await textsOf(world)
        await fails(editAll(world, [['a', first('X')], ['b', [{ start: 1, end: 2, newText: '' }]]]), 'FS_UNENCODABLE')
        assert.deepEqual(await textsOf(world), before)
      }))
  })

  describe('putting bytes', () => {
    const put = async (world: FileSystemWorld, path: string, bytes: Uint8Array | null, expect?: Expectation) =>
      world.files.putBytes({ target: await at(world, path), bytes, expect: expect ?? { kind: 'absent' } })
    const of = (bytes: Uint8Array): Expectation => ({ kind: 'version', version: versionOfBytes(bytes) })
    const binary = bytesOf('a', [0, 1, 255])

    it('makes a file of them, with its folders', () =>
      withWorld(async (world) => {
        assert.equal(await put(world, 'x/a', binary), versionOfBytes(binary))
        assert.deepEqual(await world.get('x/a'), Buffer.from(binary))
      }))
    it('replaces what stands there, whatever it is', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf(mark, 'old'))
        await put(world, 'a', binary, of(bytesOf(mark, 'old')))
        assert.deepEqual([await world.get('a'), await world.list()], [Buffer.from(binary), ['a']])
      }))
    it('takes a file away', () =>
      withWorld(async (world) => {
        await world.put('a', binary)
        assert.equal(await put(world, 'a', null, of(binary)), null)
        assert.deepEqual(await world.list(), [])
      }))
    it('nothing happens to what changed or came meanwhile', () =>
      withWorld(async (world) => {
        await world.put('a', binary)
        for (const bytes of [bytesOf('x'), null]) {
          await fails(put(world, 'a', bytes, of(bytesOf('other'))), 'FS_STALE_VERSION')
          await fails(put(world, 'a', bytes), 'FS_STALE_VERSION')
        }
        await fails(put(world, 'b', null, of(binary)), 'FS_STALE_VERSION')
        assert.deepEqual([await world.get('a'), await world.list()], [Buffer.from(binary), ['a']])
      }))
    it('a read-only file stays', () =>
      withWorld(async (world) => {
        await world.put('a', binary)
        await world.makeReadonly('a')
        for (const bytes of [bytesOf('x'), null]) await fails(put(world, 'a', bytes, of(binary)), 'FS_READONLY')
        assert.deepEqual(await world.get('a'), Buffer.from(binary))
      }))
    it('reads bytes as the content of the file', () =>
      withWorld(async (world) => {
        await world.put('a', bytesOf('x'))
        const target = await at(world, 'a')
        assert.deepEqual(
          await Promise.all([bytesOf(mark, 'é\r\n'), bytesOf([0xe9]), binary].map((bytes) => world.files.decode(target, bytes))),
          ['é\r\n', 'é', null],
        )
      }))
  })
}
