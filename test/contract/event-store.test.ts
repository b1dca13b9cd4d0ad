import { spawn } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, unlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../extension/base/json.ts'
import type { EventFile, EventStore } from '../../extension/capabilities/event-store.ts'
import { NodeEventStore } from '../../extension/platform/node/event-store.ts'
import { createMemoryDisk, createMemoryEventStore } from '../support/memory-event-store.ts'

/** A disk with windows on it. */
interface World {
  /** Another host over the same disk. */
  window(): EventStore
  /** The whole text of a log. */
  text(id: string): Promise<string>
  /** Damage from outside. */
  append(id: string, text: string): Promise<void>
  /** The bytes that a repair kept. */
  kept(id: string, name: string): Promise<string>
  dispose(): Promise<void>
}

const worlds: Readonly<Record<string, () => Promise<World>>> = {
  'in memory': async () => {
    const disk = createMemoryDisk()
    let pid = 1
    return {
      window: () => createMemoryEventStore({ disk, pid: pid++ }),
      text: async (id) => disk.logs.get(id)!.text,
      append: async (id, text) => void (disk.logs.get(id)!.text += text),
      kept: async (id, name) => disk.logs.get(id)!.cuts.get(name)!,
      dispose: async () => {},
    }
  },
  'on the disk': async () => {
    const root = await mkdtemp(join(tmpdir(), 'event-store-'))
    return {
      window: () => new NodeEventStore({ root }),
      text: (id) => readFile(join(root, id, 'events.jsonl'), 'utf8'),
      append: (id, text) => appendFile(join(root, id, 'events.jsonl'), text),
      kept: (id, name) => readFile(join(root, id, name), 'utf8'),
      dispose: () => rm(root, { recursive: true, force: true }),
    }
  },
}

describe.each(Object.entries(worlds))('an event store %s', (_, createWorld) => {
  const open: World[] = []
  const files: EventFile[] = []
  afterEach(async () => {
    await Promise.allSettled(files.splice(0).map((file) => file.close()))
    await Promise.all(open.splice(0).map((world) => world.dispose()))
  })

  const world = async () => {
    const created = await createWorld()
    open.push(created)
    return created
  }
  const kept = (file: EventFile) => {
    files.push(file)
    return file
  }
  /** A store with one closed session `a` of `count` lines. */
  const stored = async (count: number, disk?: World) => {
    const on = disk ?? (await world())
    const store = on.window()
    const file = kept(await store.create({ id: 'a', version: 0 }))
    for (let n = 0; n < count; n++) file.append({ n })
    await file.close()
    return { on, store }
  }
  const linesOf = async (file: EventFile) => {
    const lines: JsonObject[] = []
    for await (const batch of file.read()) lines.push(...batch)
    return lines
  }
  const numbers = (...ns: number[]) => ns.map((n) => ({ n }))

  it('gives a log as it is, torn tail and all', async () => {
    const { window, text, append } = await world()
    const store = window()
    const file = await store.create({ version: 0, id: 'a', createdAt: 1 })
    file.append({ seq: 0 })
    await file.close()
    await append('a', '{"torn')
    const pieces: Uint8Array[] = []
    for await (const piece of store.bytes('a')) pieces.push(piece)
    expect(Buffer.concat(pieces).toString()).toBe(await text('a'))
    await expect(store.bytes('gone')[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })

  it('leaves nothing of a session that nobody used', async () => {
    const { store } = await stored(0)
    expect(await store.list()).toEqual([])
    await expect(store.open('a', 'write')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })

  it('stores nothing before the first append, then the header first', async () => {
    const on = await world()
    const store = on.window()
    const file = kept(await store.create({ id: 'a', version: 0, cwd: '/é' }))
    await file.flush()
    expect(await store.list()).toEqual([])
    file.append({ type: 'x', text: 'line\nbreak' })
    await file.flush()
    expect(await on.text('a')).toBe('{"id":"a","version":0,"cwd":"/é"}\n{"type":"x","text":"line\\nbreak"}\n')
  })

  it('gives back header and lines in order', async () => {
    const { store } = await stored(5)
    const file = kept(await store.open('a', 'write'))
    expect(file.header()).toEqual({ id: 'a', version: 0 })
    expect(await linesOf(file)).toEqual(numbers(0, 1, 2, 3, 4))
    expect([file.access, file.writer, file.repair]).toEqual(['write', undefined, undefined])
  })

  it('goes on where it was', async () => {
    const { store } = await stored(1)
    const file = kept(await store.open('a', 'write'))
    file.append({ n: 1 })
    await file.close()
    expect(await linesOf(kept(await store.open('a', 'read-only')))).toEqual(numbers(0, 1))
  })

  it('gives a reader what another window has written since, whole lines only, and a bounded part at a time', async () => {
    const { on, store } = await stored(2)
    const writer = kept(await on.window().open('a', 'write'))
    await linesOf(writer)
    const reader = kept(await store.open('a', 'read-only'))
    expect(await linesOf(reader)).toEqual(numbers(0, 1))
    expect(await reader.readMore(1_000)).toEqual([])
    writer.append({ n: 2 })
    writer.append({ n: 3 })
    await writer.flush()
    expect(await reader.readMore(1_000)).toEqual(numbers(2, 3))
    expect(await reader.readMore(1_000)).toEqual([])
    await on.append('a', '{"n":4}\n{"long":"')
    expect(await reader.readMore(1_000)).toEqual(numbers(4))
    expect(await reader.readMore(1_000)).toEqual([])
    await on.append('a', `${'x'.repeat(500)}"}\n{"n":5}\n{"n":6}\n`)
    const rest: JsonObject[] = []
    for (let batch = await reader.readMore(20); batch.length > 0; batch = await reader.readMore(20)) rest.push(...batch)
    expect(rest).toEqual([{ long: 'x'.repeat(500) }, ...numbers(5, 6)])
  })
  it('tells a reader that what was added is no log', async () => {
    const { on, store } = await stored(2)
    const reader = kept(await store.open('a', 'read-only'))
    await linesOf(reader)
    await on.append('a', 'no JSON\n')
    await expect(reader.readMore(1_000)).rejects.toMatchObject({ code: 'UNREADABLE' })
  })
  it('tells a reader that what it has read was cut off', async () => {
    const { on, store } = await stored(4)
    const reader = kept(await store.open('a', 'read-only'))
    await linesOf(reader)
    await reader.readMore(1_000)
    const writer = kept(await on.window().open('a', 'write'))
    await linesOf(writer)
    await writer.cut(1, 'a test')
    await expect(reader.readMore(1_000)).rejects.toMatchObject({ code: 'UNREADABLE' })
  })

  it('writes lines of many waiting flushes in order', async () => {
    const { on, store } = await stored(0)
    const file = kept(await store.create({ id: 'a', version: 0 }))
    const flushes: Promise<void>[] = []
    for (let n = 0; n < 50; n++) {
      file.append({ n })
      flushes.push(file.flush())
    }
    await Promise.all(flushes)
    const lines = (await on.text('a')).trimEnd().split('\n').slice(1)
    expect(lines).toEqual(Array.from({ length: 50 }, (_, n) => `{"n":${n}}`))
  })

  it('reads the newest lines alone', async () => {
    const { store } = await stored(1_000)
    const file = kept(await store.open('a', 'read-only'))
    expect(await file.readTail(3)).toEqual(numbers(997, 998, 999))
    expect(await file.readTail(0)).toEqual([])
    expect((await file.readTail(5_000)).length).toBe(1_000)
  })

  it.each(['../a', '.hidden', '', 'a/b', 'a'.repeat(129)])('refuses the id %j', async (id) => {
    const store = (await world()).window()
    await expect(store.create({ id })).rejects.toMatchObject({ code: 'INVALID_ID' })
  })

  it('refuses to create what is there', async () => {
    const { store } = await stored(1)
    await expect(store.create({ id: 'a' })).rejects.toMatchObject({ code: 'SESSION_ALREADY_EXISTS' })
  })

  describe('with two windows', () => {
    it('opens for reading what the other one writes, and says who does', async () => {
      const { on, store } = await stored(1)
      const writer = kept(await store.open('a', 'write'))
      const reader = kept(await on.window().open('a', 'write'))
      expect([writer.access, reader.access, reader.writer !== undefined]).toEqual(['write', 'read-only', true])
      reader.append({ n: 9 })
      await reader.flush()
      expect(await linesOf(reader)).toEqual(numbers(0))
    })

    it('opens for writing once the other one closed', async () => {
      const { on, store } = await stored(1)
      await kept(await store.open('a', 'write')).close()
      expect(kept(await on.window().open('a', 'write')).access).toBe('write')
    })

    it('refuses to remove what the other one writes', async () => {
      const { on, store } = await stored(1)
      const writer = kept(await store.open('a', 'write'))
      await expect(on.window().remove('a')).rejects.toMatchObject({ code: 'SESSION_BUSY' })
      await writer.close()
      await on.window().remove('a')
      expect(await store.list()).toEqual([])
      await expect(store.remove('a')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    })
  })

  describe('of a damaged log', () => {
    const check = async (damage: string, lines: readonly JsonObject[], repair: { readonly cut: string; readonly line: number } | null) => {
      const { on, store } = await stored(2)
      await on.append('a', damage)
      const reader = kept(await store.open('a', 'read-only'))
      expect(await linesOf(reader)).toEqual(lines)
      expect(reader.repair).toBeUndefined()

      const file = kept(await store.open('a', 'write'))
      expect(await linesOf(file)).toEqual(lines)
      if (repair === null) expect(file.repair).toBeUndefined()
      else {
        const cutBytes = new TextEncoder().encode(repair.cut).length
        expect(file.repair).toEqual({ cutBytes, keptAs: 'events.jsonl.cut-1', reason: expect.stringContaining(`line ${repair.line}`) })
        expect(await on.kept('a', file.repair!.keptAs)).toBe(repair.cut)
      }
      file.append({ n: 'next' })
      await file.close()
      expect(await linesOf(kept(await store.open('a', 'write')))).toEqual([...lines, { n: 'next' }])
    }

    it('cuts half a line', () => check('{"n":2', numbers(0, 1), { cut: '{"n":2', line: 4 }))
    it('cuts what is no JSON', () => check('\0\0\0\n', numbers(0, 1), { cut: '\0\0\0\n', line: 4 }))
    it('cuts what is no object', () => check('[2]\n', numbers(0, 1), { cut: '[2]\n', line: 4 }))
    it('cuts good lines after a bad one, and keeps them', () => check('x\n{"n":3}\n', numbers(0, 1), { cut: 'x\n{"n":3}\n', line: 4 }))
    it('keeps a whole line that lacks its end', () => check('{"n":2}', numbers(0, 1, 2), null))

    it('cuts where it is told, and numbers what it keeps', async () => {
      const { on, store } = await stored(4)
      const file = kept(await store.open('a', 'write'))
      expect(await linesOf(file)).toHaveLength(4)
      await file.cut(3, 'no good')
      await file.cut(1, 'no better')
      expect(file.repair).toEqual({ cutBytes: 16, keptAs: 'events.jsonl.cut-2', reason: 'no better' })
      expect([await on.kept('a', 'events.jsonl.cut-1'), await on.kept('a', 'events.jsonl.cut-2')]).toEqual(['{"n":3}\n', '{"n":1}\n{"n":2}\n'])
      expect(await linesOf(file)).toEqual(numbers(0))
    })
  })

  describe('listing', () => {
    it('gives header, facts and note', async () => {
      const { on, store } = await stored(2)
      const file = kept(await store.open('a', 'write'))
      await file.putNote({ title: 'old' })
      await file.putNote({ title: 'new' })
      await file.close()
      const session = await store.describe('a')
      expect(await store.list()).toEqual([session])
      expect(session).toMatchObject({ id: 'a', header: { id: 'a', version: 0 }, note: { title: 'new' }, size: (await on.text('a')).length })
      expect(session.notedAt).toBeGreaterThanOrEqual(0)
    })

    it('reads both ends of a log', async () => {
      const { store } = await stored(3)
      expect(await store.peek('a', 65_536)).toEqual({ head: numbers(0, 1, 2), tail: numbers(0, 1, 2) })
    })
  })
})

describe('an event store on the disk', () => {
  const roots: string[] = []
  const files: EventFile[] = []
  afterEach(async () => {
    await Promise.allSettled(files.splice(0).map((file) => file.close()))
    await Promise.all(roots.splice(0).map((root) => rm(root, { recursive: true, force: true })))
  })
  const stored = async (lines: number, times: { readonly heartbeatMs?: number; readonly staleMs?: number } = {}) => {
    const root = await mkdtemp(join(tmpdir(), 'event-store-'))
    roots.push(root)
    const store = new NodeEventStore({ root, ...times })
    const file = await store.create({ id: 'a', version: 0 })
    files.push(file)
    for (let n = 0; n < lines; n++) file.append({ n })
    await file.flush()
    return { root, store, file, log: join(root, 'a', 'events.jsonl') }
  }

  it('keeps its files for their owner alone and leaves no drafts', async () => {
    const { root, log, file } = await stored(1)
    await file.putNote({ a: 1 })
    await file.close()
    expect((await stat(log)).mode & 0o777).toBe(0o600)
    expect((await stat(join(root, 'a'))).mode & 0o777).toBe(0o700)
    expect((await readdir(join(root, 'a'))).sort()).toEqual(['events.jsonl', 'note.json'])
  })

  it.each([
    ['empty', 0],
    ['cut inside its header', 5],
  ])('lists a log that is %s with its problem and does not touch it', async (_, size) => {
    const { store, file, log } = await stored(1)
    await file.close()
    await truncate(log, size)
    const bytes = await readFile(log, 'utf8')
    await expect(store.open('a', 'write')).rejects.toMatchObject({ code: 'UNREADABLE' })
    expect(await store.list()).toMatchObject([{ id: 'a', header: null, problem: expect.any(String) }])
    expect(await readFile(log, 'utf8')).toBe(bytes)
    await store.remove('a')
    expect(await store.list()).toEqual([])
  })

  it('opens a log whose end is cut at any byte after the header, losing only what is cut', async () => {
    const { store, file, log } = await stored(3)
    await file.close()
    const text = await readFile(log, 'utf8')
    const headerEnd = text.indexOf('\n')
    for (let size = headerEnd; size <= text.length; size++) {
      await rm(join(log, '..'), { recursive: true })
      const again = await store.create({ id: 'a', version: 0 })
      for (let n = 0; n < 3; n++) again.append({ n })
      await again.close()
      await truncate(log, size)
      const opened = await store.open('a', 'write')
      const lines: JsonObject[] = []
      for await (const batch of opened.read()) lines.push(...batch)
      const rest = text.slice(headerEnd + 1, size)
      const good = rest.split('\n').filter((line) => line.endsWith('}'))
      const torn = rest.endsWith('}') ? '' : rest.slice(rest.lastIndexOf('\n') + 1)
      expect(lines).toEqual(good.map((line) => JSON.parse(line) as unknown))
      expect(opened.repair?.cutBytes ?? 0).toBe(torn.length)
      await opened.close()
    }
  })

  it('takes over the lease of a process that is gone', async () => {
    const { store, root } = await stored(1)
    const child = await gonePid()
    await rewriteLease(root, { pid: child })
    const opened = await store.open('a', 'write')
    files.push(opened)
    expect(opened.access).toBe('write')
  })

  it('takes over a lease whose heartbeat stopped, and the old writer writes nothing more', async () => {
    const { root, file, log } = await stored(1, { heartbeatMs: 60_000, staleMs: 40 })
    let isLost = false
    file.onLeaseLost(() => (isLost = true))
    await new Promise((resolve) => setTimeout(resolve, 60))
    const other = await new NodeEventStore({ root, heartbeatMs: 20, staleMs: 40 }).open('a', 'write')
    files.push(other)
    expect(other.access).toBe('write')
    file.append({ n: 'lost' })
    await expect(file.flush()).rejects.toMatchObject({ code: 'WRITE_FAILED', message: expect.stringContaining('took it over') })
    expect(isLost).toBe(true)
    expect(await readFile(log, 'utf8')).toBe('{"id":"a","version":0}\n{"n":0}\n')
  })

  it.each([
    ['forward', -4],
    ['back', 4],
  ])('is not taken for dead by a clock that was set %s by hours while its window lives', async (_, hours) => {
    const { root, file, log } = await stored(1, { heartbeatMs: 100, staleMs: 1_000 })
    const lease = join(root, 'a', 'lease.json')
    // The holder beat before the clock was set.
    const beat = new Date(Date.now() + hours * 3_600_000)
    await utimes(lease, beat, beat)
    const other = await new NodeEventStore({ root, heartbeatMs: 400, staleMs: 1_000 }).open('a', 'write')
    files.push(other)
    expect([other.access, other.writer?.pid]).toEqual(['read-only', process.pid])
    file.append({ n: 'mine' })
    await file.flush()
    expect(await readFile(log, 'utf8')).toContain('mine')
  })

  it.each([
    ['forward', -4],
    ['back', 4],
  ])('does not stay taken by a holder that never beats again after the clock was set %s', async (_, hours) => {
    const { root } = await stored(1, { heartbeatMs: 60_000, staleMs: 1_000 })
    await rewriteLease(root, hours > 0 ? { host: 'elsewhere' } : {})
    const beat = new Date(Date.now() + hours * 3_600_000)
    await utimes(join(root, 'a', 'lease.json'), beat, beat)
    const other = await new NodeEventStore({ root, heartbeatMs: 20, staleMs: 1_000 }).open('a', 'write')
    files.push(other)
    expect(other.access).toBe('write')
  })

  it('opens for reading, and says why in words, where a folder takes no lease; nothing is left of the attempt', async () => {
    const { store, root, file } = await stored(1)
    await file.close()
    await mkdir(join(root, 'a', 'lease.json'))
    const before = await readdir(join(root, 'a'))
    const opened = await store.open('a', 'write')
    files.push(opened)
    expect(opened).toMatchObject({ access: 'read-only', obstacle: expect.stringMatching(/^Session a cannot be written: .*Make room on the disk/) })
    expect(opened.writer).toBeUndefined()
    expect(await opened.readTail(9)).toEqual([{ n: 0 }])
    await expect(store.remove('a')).rejects.toMatchObject({ code: 'WRITE_FAILED' })
    expect(await readdir(join(root, 'a'))).toEqual(before)
  })

  it('says that a session is not there when another window takes it away while it is read', async () => {
    const { store, root, file } = await stored(2)
    await file.close()
    const reader = await store.open('a', 'read-only')
    await new NodeEventStore({ root }).remove('a')
    await expect(reader.readTail(1)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await expect(reader.read()[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })

  it('keeps a lease alive by its heartbeat', async () => {
    const { root } = await stored(1, { heartbeatMs: 10, staleMs: 1_000 })
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const other = await new NodeEventStore({ root, staleMs: 1_000 }).open('a', 'write')
    files.push(other)
    expect(other.access).toBe('read-only')
  })

  it('fails for good once a write failed', async () => {
    const { store, root } = await stored(1)
    const file = await store.create({ id: 'b', version: 0 })
    files.push(file)
    await writeFile(join(root, 'b'), 'in the way')
    file.append({ n: 1 })
    await expect(file.flush()).rejects.toMatchObject({ code: 'WRITE_FAILED', message: expect.stringContaining('session b cannot be written') })
    await unlink(join(root, 'b'))
    file.append({ n: 2 })
    await expect(file.flush()).rejects.toMatchObject({ code: 'WRITE_FAILED' })
    await expect(file.close()).rejects.toMatchObject({ code: 'WRITE_FAILED' })
    expect((await store.list()).map(({ id }) => id)).toEqual(['a'])
  })

  it('writes nothing after it was closed', async () => {
    const { file, log } = await stored(1)
    await file.close()
    file.append({ n: 'late' })
    await expect(file.flush()).rejects.toMatchObject({ code: 'WRITE_FAILED' })
    expect(await readFile(log, 'utf8')).not.toContain('late')
  })

  it('refuses a second session of one id at its first write', async () => {
    const { store } = await stored(0)
    const first = await store.create({ id: 'b', version: 0 })
    const second = await store.create({ id: 'b', version: 0 })
    files.push(first, second)
    first.append({ n: 1 })
    await first.flush()
    second.append({ n: 2 })
    await expect(second.flush()).rejects.toMatchObject({ code: 'WRITE_FAILED' })
  })
})

async function gonePid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await new Promise((resolve) => child.once('exit', resolve))
  return child.pid!
}

async function rewriteLease(root: string, facts: { readonly pid?: number; readonly host?: string }): Promise<void> {
  const path = join(root, 'a', 'lease.json')
  const lease = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>
  await writeFile(path, JSON.stringify({ ...lease, ...facts }))
}
