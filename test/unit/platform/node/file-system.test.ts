import { execFileSync } from 'node:child_process'
import { chmod, link, lstat, mkdir, mkdtemp, open, readdir, readFile, readlink, realpath, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Expectation, FileVersion } from '../../../../extension/capabilities/file-system.ts'
import { NodeFileSystem, type NodeFileSystemOptions } from '../../../../extension/platform/node/file-system.ts'

let root: string
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'files-')))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const window = { offset: 1, limit: 2000, maxLineLength: 2000, maxBytes: 51_200 }
const at = (...parts: readonly string[]) => join(root, ...parts)

const setup = (options: NodeFileSystemOptions = {}) => {
  const files = new NodeFileSystem(options)
  const resolve = (path: string) => files.resolve(path, root)
  const read = async (path: string) => files.readText(await resolve(path), { maxBytes: 1e9 })
  const write = async (path: string, text: string, expect?: Expectation, signal?: AbortSignal) => {
    const target = await resolve(path)
    const current: Expectation = expect ?? (target.exists ? { kind: 'version', version: (await files.readLines(target, window)).version } : { kind: 'absent' })
    return files.writeText({ target, text, expect: current, label: 'test', ...(signal && { signal }) })
  }
  const edit = async (path: string, start: number, end: number, newText: string) => {
    const target = await resolve(path)
    const { version } = await files.readLines(target, window)
    return files.editText({ target, replacements: [{ start, end, newText }], expect: { kind: 'version', version }, label: 'test' })
  }
  return { files, resolve, read, write, edit }
}

describe('links', () => {
  it('a file behind links has one key and one path', async () => {
    await mkdir(at('real'))
    await writeFile(at('real/a'), 'x')
    await symlink('real', at('folder'))
    await symlink('../real/a', at('real/b'))
    const { resolve } = setup()
    const targets = await Promise.all(['real/a', 'folder/a', 'folder/b', 'real/b'].map(resolve))
    expect(targets.map(({ path, key }) => [path, key])).toEqual(targets.map(() => [at('real/a'), targets[0]!.key]))
  })
  it('what does not exist yet stands below the deepest real folder', async () => {
    await mkdir(at('real'))
    await symlink('real', at('folder'))
    expect(await setup().resolve('folder/new/a')).toEqual({ key: at('real/new/a'), path: at('real/new/a'), spelling: 'folder/new/a', isDanglingLink: false, exists: false })
  })
  it('`..` leaves the real folder, not the link', async () => {
    await mkdir(at('deep/real'), { recursive: true })
    await writeFile(at('deep/a'), 'x')
    await symlink('deep/real', at('folder'))
    const { files } = setup()
    expect((await files.resolve('../a', at('folder'))).path).toBe(at('deep/a'))
  })
  it('writing goes through a link, which stays', async () => {
    await writeFile(at('a'), 'old')
    await symlink('a', at('b'))
    await setup().write('b', 'new')
    expect([await readlink(at('b')), await readFile(at('a'), 'utf8'), await readdir(root)]).toEqual(['a', 'new', ['a', 'b']])
  })
  it('a link that points to nothing is known and refused', async () => {
    await symlink('nowhere', at('b'))
    const { resolve, read, write } = setup()
    expect(await resolve('b')).toMatchObject({ path: at('b'), isDanglingLink: true, exists: false })
    await expect(read('b')).rejects.toMatchObject({ code: 'FS_NOT_FOUND' })
    await expect(write('b', 'x')).rejects.toMatchObject({ code: 'FS_NOT_REGULAR_FILE', message: expect.stringContaining('link to a file that does not exist') })
    expect(await readlink(at('b'))).toBe('nowhere')
  })
  it('a folder link that points to nothing leads nowhere', async () => {
    await symlink('nowhere', at('b'))
    await expect(setup().write('b/c', 'x')).rejects.toMatchObject({ code: 'FS_IO_ERROR' })
    expect(await readdir(root)).toEqual(['b'])
  })
  it('links in a circle are an error', async () => {
    await symlink('b', at('a'))
    await symlink('a', at('b'))
    await expect(setup().resolve('a')).rejects.toMatchObject({ code: 'FS_IO_ERROR', message: expect.stringContaining('circle') })
  })
  it('another hard link keeps the old content', async () => {
    await writeFile(at('a'), 'old')
    await link(at('a'), at('b'))
    await setup().write('a', 'new')
    expect([await readFile(at('a'), 'utf8'), await readFile(at('b'), 'utf8'), (await stat(at('b'))).nlink]).toEqual(['new', 'old', 1])
  })
})

describe('where a path begins', () => {
  it("a folder's name leads into it when there are several folders", async () => {
    const folders = [
      { name: 'one', path: at('x/one') },
      { name: 'two', path: at('y') },
    ]
    const several = setup({ folders: () => folders })
    expect((await several.resolve('two/a')).path).toBe(at('y/a'))
    expect((await several.resolve('three/a')).path).toBe(at('three/a'))
    expect((await setup({ folders: () => folders.slice(1) }).resolve('two/a')).path).toBe(at('two/a'))
  })
  it('a URI of another scheme is not here', async () => {
    await expect(setup().resolve('vscode-vfs://github/a')).rejects.toMatchObject({ code: 'FS_IO_ERROR', message: expect.stringContaining("this machine's disk") })
  })
  it('a name that is too long', async () => {
    await expect(setup().write('x'.repeat(300), 'a', { kind: 'absent' })).rejects.toMatchObject({ code: 'FS_IO_ERROR', message: expect.stringContaining('too long') })
  })
})

describe('what is no regular file', () => {
  it('a FIFO is neither opened nor replaced', async () => {
    execFileSync('mkfifo', [at('fifo')])
    const { files, read, write, resolve } = setup()
    const expected = { code: 'FS_NOT_REGULAR_FILE', message: expect.stringContaining('FIFO') }
    await expect(read('fifo')).rejects.toMatchObject(expected)
    await expect(files.readLines(await resolve('fifo'), window)).rejects.toMatchObject(expected)
    await expect(write('fifo', 'x', { kind: 'absent' })).rejects.toMatchObject(expected)
    expect((await files.stat(await resolve('fifo'))).kind).toBe('other')
    expect((await lstat(at('fifo'))).isFIFO()).toBe(true)
  })
  it('a socket and a device', async () => {
    const server = createServer().listen(at('socket'))
    await expect(setup().read('socket')).rejects.toMatchObject({ code: 'FS_NOT_REGULAR_FILE' })
    await expect(setup().read('/dev/zero')).rejects.toMatchObject({ code: 'FS_NOT_REGULAR_FILE' })
    await new Promise((resolve) => server.close(resolve))
  })
  it('files that say they are empty are read to their end', async () => {
    if (process.platform === 'linux') expect((await setup().read('/proc/self/status')).text).toContain('Pid:')
  })
})

describe('modes', () => {
  const modeOf = async (path: string) => ((await stat(at(path))).mode & 0o7777).toString(8)
  it.each([0o755, 0o600, 0o666, 0o4755])('%o is kept', async (mode) => {
    await writeFile(at('a'), 'old')
    await chmod(at('a'), mode)
    const { write, edit } = setup()
    await write('a', 'new')
    await edit('a', 0, 1, 'N')
    expect([await readFile(at('a'), 'utf8'), await modeOf('a')]).toEqual(['New', mode.toString(8)])
  })
  it('a new file and its folders follow the umask', () => {
    // The umask belongs to a whole process, and worker threads cannot change it.
    const script = `
      import { NodeFileSystem } from ${JSON.stringify(new URL('../../../../extension/platform/node/file-system.ts', import.meta.url).href)}
      process.umask(0o027)
      const files = new NodeFileSystem()
      await files.writeText({ target: await files.resolve('d/a', ${JSON.stringify(root)}), text: '', expect: { kind: 'absent' }, label: '' })`
    execFileSync(process.execPath, ['--input-type=module-typescript', '-e', script])
    return Promise.all([modeOf('d/a'), modeOf('d')]).then((modes) => expect(modes).toEqual(['640', '750']))
  })
  it('the owner is kept', async () => {
    if (process.getuid?.() !== 0) return
    await writeFile(at('a'), 'old')
    execFileSync('chown', ['1234:2345', at('a')])
    await setup().write('a', 'new')
    const { uid, gid } = await stat(at('a'))
    expect([uid, gid]).toEqual([1234, 2345])
  })
})

describe('between the check and the change', () => {
  const interfere = async (path: string, interference: () => Promise<void>) => {
    const { write } = setup({ beforePublish: interference })
    return write(path, 'ours')
  }
  it("another program's change wins", async () => {
    await writeFile(at('a'), 'old')
    await expect(interfere('a', () => writeFile(at('a'), 'theirs'))).rejects.toMatchObject({ code: 'FS_STALE_VERSION' })
    expect([await readFile(at('a'), 'utf8'), await readdir(root)]).toEqual(['theirs', ['a']])
  })
  it("another program's replacement by the same content does no harm", async () => {
    await writeFile(at('a'), 'old')
    await interfere('a', async () => {
      await writeFile(at('b'), 'old')
      await rename(at('b'), at('a'))
    })
    expect(await readFile(at('a'), 'utf8')).toBe('ours')
  })
  it('a deletion wins', async () => {
    await writeFile(at('a'), 'old')
    await expect(interfere('a', () => unlink(at('a')))).rejects.toMatchObject({ code: 'FS_STALE_VERSION' })
    expect(await readdir(root)).toEqual([])
  })
  it('a creation wins', async () => {
    await expect(interfere('a', () => writeFile(at('a'), 'theirs'))).rejects.toMatchObject({ code: 'FS_STALE_VERSION' })
    expect([await readFile(at('a'), 'utf8'), await readdir(root)]).toEqual(['theirs', ['a']])
  })
  it('a link that takes the place of the file is not followed', async () => {
    await writeFile(at('a'), 'old')
    await writeFile(at('other'), 'old')
    await expect(
      interfere('a', async () => {
        await unlink(at('a'))
        await symlink('other', at('a'))
      }),
    ).rejects.toMatchObject({ code: 'FS_STALE_VERSION' })
    expect([await readFile(at('other'), 'utf8'), await readdir(root)]).toEqual(['old', ['a', 'other']])
  })
  it('a link that takes the place of a folder on the way is not followed', async () => {
    await mkdir(at('d'))
    await mkdir(at('elsewhere'))
    await expect(
      interfere('d/a', async () => {
        await rename(at('d'), at('e'))
        await symlink('elsewhere', at('d'))
      }),
    ).rejects.toMatchObject({ code: 'FS_STALE_VERSION' })
    expect(await readdir(at('elsewhere'))).toEqual([])
  })
  it('a stop leaves no trace, not even the folders that were made', async () => {
    const stop = new AbortController()
    const { write } = setup({ beforePublish: async () => stop.abort() })
    await expect(write('x/y/a', 'ours', undefined, stop.signal)).rejects.toMatchObject({ code: 'FS_ABORTED' })
    expect(await readdir(root)).toEqual([])
  })
  it('what somebody else put into a folder that was made stays', async () => {
    const stop = new AbortController()
    const { write } = setup({
      beforePublish: async () => {
        await writeFile(at('x/theirs'), '')
        stop.abort()
      },
    })
    await expect(write('x/y/a', 'ours', undefined, stop.signal)).rejects.toMatchObject({ code: 'FS_ABORTED' })
    expect(await readdir(at('x'))).toEqual(['theirs'])
  })
  it('the old content is there until the new one is, whole', async () => {
    await writeFile(at('a'), 'old')
    let seen = ''
    await setup({ beforePublish: async () => void (seen = await readFile(at('a'), 'utf8')) }).write('a', 'ours')
    expect([seen, await readFile(at('a'), 'utf8')]).toEqual(['old', 'ours'])
  })
})

describe('files of any size', () => {
  it('10 MiB and one byte around it give the same lines as the whole text', async () => {
    const { files, read, resolve } = setup()
    const line = `${'é€😀x'.repeat(20)}\r\n`
    for (const size of [10 * 1024 * 1024 - 1, 10 * 1024 * 1024, 10 * 1024 * 1024 + 1]) {
      const unit = Buffer.from(line)
      const bytes = Buffer.alloc(size, '.')
      for (let offset = 0; offset + unit.length <= size; offset += unit.length) unit.copy(bytes, offset)
      await writeFile(at('a'), bytes)
      const { text, version, form } = await read('a')
      const result = await files.readLines(await resolve('a'), { ...window, offset: 50_000, limit: 3 })
      const lines = text.split('\r\n')
      expect({ lines: result.lines.map(({ text }) => text), totalLines: result.totalLines, version: result.version, form: result.form }).toEqual({
        lines: lines.slice(49_999, 50_002),
        totalLines: lines.length,
        version,
        form,
      })
    }
  })
  it('an invalid byte at the very end of a large file makes it Latin-1 from its first line', async () => {
    await writeFile(at('a'), Buffer.concat([Buffer.from('é\n'.repeat(500_000)), Buffer.from([0xe9])]))
    const { files, resolve, read } = setup()
    const { lines, form, totalLines, version } = await files.readLines(await resolve('a'), { ...window, limit: 1 })
    expect({ lines, encoding: form.encoding, totalLines }).toEqual({ lines: [{ number: 1, text: 'Ã©', isCut: false }], encoding: 'latin1', totalLines: 500_001 })
    expect(version).toBe((await read('a')).version)
  })
  it('a late NUL in what is no UTF-8 makes it binary', async () => {
    await writeFile(at('a'), Buffer.concat([Buffer.from([0xe9]), Buffer.alloc(600_000, 'a'), Buffer.from([0])]))
    const { files, resolve } = setup()
    await expect(files.readLines(await resolve('a'), window)).rejects.toMatchObject({ code: 'FS_NOT_TEXT' })
  })
  it('a NUL counts as binary among the first 8 192 bytes', async () => {
    const { read } = setup()
    for (const [offset, isText] of [
      [8191, false],
      [8192, true],
    ] as const) {
      const bytes = Buffer.alloc(9000, 'a')
      bytes[offset] = 0
      await writeFile(at('a'), bytes)
      const outcome = await read('a').then(
        () => true,
        (error: { code: string }) => (error.code === 'FS_NOT_TEXT' ? false : error),
      )
      expect([offset, outcome]).toEqual([offset, isText])
    }
  })
  it('100 MB are read by lines in a few MB, and stop at once when told', async () => {
    const file = await open(at('big'), 'w')
    const chunk = Buffer.from(`${'x'.repeat(99)}\n`.repeat(10_000))
    for (let index = 0; index < 100; index++) await file.write(chunk)
    await file.close()
    const { files, resolve } = setup()
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().external
    let peak = 0
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().arrayBuffers + process.memoryUsage().external)), 5)
    const { totalLines, lines } = await files.readLines(await resolve('big'), { ...window, offset: 999_999 })
    clearInterval(watch)
    expect([totalLines, lines.length]).toEqual([1_000_000, 2])
    expect(peak - before).toBeLessThan(20_000_000)
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 5)
    await expect(files.readLines(await resolve('big'), window, stop.signal)).rejects.toMatchObject({ code: 'FS_ABORTED' })
  })
  it('a single line of 20 MB is cut and counted', async () => {
    await writeFile(at('a'), 'x'.repeat(20_000_000))
    const { files, resolve } = setup()
    const { lines, totalLines } = await files.readLines(await resolve('a'), window)
    expect([lines[0]?.text.length, lines[0]?.isCut, totalLines]).toEqual([2000, true, 1])
  })
})

it('a version is that of the bytes', async () => {
  await writeFile(at('a'), '')
  expect((await setup().read('a')).version).toBe('sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' as FileVersion)
})

describe('what may not be touched, for a person without all rights', () => {
  /** The codes of the failures of a program that the superuser's rights do not help. */
  const codesOf = (work: string): readonly string[] => {
    const program = `
      import { NodeFileSystem } from ${JSON.stringify(new URL('../../../../extension/platform/node/file-system.ts', import.meta.url).href)}
      const files = new NodeFileSystem()
      const window = ${JSON.stringify(window)}
      const codes = []
      const attempt = async (work) => codes.push(await work().then(() => 'done', ({ code, message }) => code + ': ' + message))
      const at = (path) => files.resolve(path, ${JSON.stringify(root)})
      ${work}
      console.log(JSON.stringify(codes))`
    const rights = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--no-warnings', '-e', program], { ...rights, encoding: 'utf8', cwd: '/' })) as readonly string[]
  }
  beforeEach(() => chmod(root, 0o755))

  it.skipIf(process.platform === 'win32')('a file that may not be read is refused by name', async () => {
    await writeFile(at('secret'), 'x', { mode: 0o200 })
    expect(codesOf("await attempt(async () => files.readLines(await at('secret'), window)); await attempt(async () => files.readBytes(await at('secret'), { maxBytes: 10 }))")).toEqual([
      'FS_IO_ERROR: secret: permission denied (EACCES).',
      'FS_IO_ERROR: secret: permission denied (EACCES).',
    ])
  })
  it.skipIf(process.platform === 'win32')('a folder that may not be entered is refused by name', async () => {
    await mkdir(at('closed'))
    await writeFile(at('closed/a'), 'x')
    await chmod(at('closed'), 0o600)
    expect(codesOf("await attempt(async () => files.readLines(await at('closed/a'), window))")).toEqual(['FS_IO_ERROR: closed/a: permission denied (EACCES).'])
  })
  it.skipIf(process.platform === 'win32')('a folder that allows no new files is left as it is', async () => {
    await mkdir(at('d'))
    await chmod(at('d'), 0o555)
    expect(codesOf("await attempt(async () => files.writeText({ target: await at('d/a'), text: 'x', expect: { kind: 'absent' }, label: 'test' }))")).toEqual([expect.stringMatching(/^FS_READONLY: d\/a stands in a folder that allows no new files/) as string])
    expect(await readdir(at('d'))).toEqual([])
    await chmod(at('d'), 0o755)
  })
  it.skipIf(process.platform === 'win32')('a file of another person is read and not written', async () => {
    await writeFile(at('theirs'), 'x', { mode: 0o644 })
    if (process.getuid?.() !== 0) await chmod(at('theirs'), 0o444)
    expect(codesOf("await attempt(async () => { const target = await at('theirs'); const { version } = await files.readLines(target, window); await files.writeText({ target, text: 'y', expect: { kind: 'version', version }, label: 'test' }) })")).toEqual([
      'FS_READONLY: theirs is read-only. Nothing was changed; ask the person to allow writing first.',
    ])
    expect(await readFile(at('theirs'), 'utf8')).toBe('x')
  })
})
