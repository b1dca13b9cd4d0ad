import { chmod, mkdtemp, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { BlobStore } from '../../extension/capabilities/blob-store.ts'
import { NodeBlobStore } from '../../extension/platform/node/blob-store.ts'
import { createMemoryBlobStore } from '../support/memory-blob-store.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const helloDigest = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'

const stores: Readonly<Record<string, () => Promise<{ store: BlobStore; spilled: (path: string) => Promise<string | undefined>; dispose: () => Promise<void> }>>> = {
  'in memory': async () => {
    const store = createMemoryBlobStore()
    return { store, spilled: async (path) => store.spills.get(path), dispose: async () => {} }
  },
  'on the disk': async () => {
    const root = await mkdtemp(join(tmpdir(), 'blob-store-'))
    return {
      store: new NodeBlobStore({ root }),
      spilled: (path) => readFile(path, 'utf8').catch(() => undefined),
      dispose: () => rm(root, { recursive: true, force: true }),
    }
  },
}

describe.each(Object.entries(stores))('a blob store %s', (_, createStore) => {
  const disposals: (() => Promise<void>)[] = []
  afterEach(() => Promise.all(disposals.splice(0).map((dispose) => dispose())))
  const made = async () => {
    const made = await createStore()
    disposals.push(made.dispose)
    return made
  }

  it('keeps an attachment under its digest and gives it back', async () => {
    const { store } = await made()
    const blob = await store.putAttachment('s', bytes('hello'), { mediaType: 'image/png', name: 'a.png' })
    expect(blob).toEqual({ attachmentId: `sha256:${helloDigest}`, mediaType: 'image/png', name: 'a.png', bytes: 5 })
    expect(await store.putAttachment('s', bytes('hello'), { mediaType: 'image/png' })).toEqual({ attachmentId: blob.attachmentId, mediaType: 'image/png', bytes: 5 })
    expect([...(await store.getAttachment('s', blob.attachmentId))]).toEqual([...bytes('hello')])
  })
  it('keeps attachments of sessions apart', async () => {
    const { store } = await made()
    const { attachmentId } = await store.putAttachment('s', bytes('hello'), { mediaType: 'image/png' })
    await expect(store.getAttachment('other', attachmentId)).rejects.toThrow('missing')
  })
  it('keeps what a file was before, byte for byte, and that there was none', async () => {
    const { store } = await made()
    const before = new Uint8Array([0, 255, 10, 13])
    const { digest } = await store.putBeforeImage('s', before)
    expect([...(await store.getBeforeImage('s', digest!))]).toEqual([...before])
    expect(await store.putBeforeImage('s', null)).toEqual({ digest: null })
    expect([...(await store.getBeforeImage('s', (await store.putBeforeImage('s', new Uint8Array())).digest!))]).toEqual([])
  })
  it('says what each session takes, by kind, and removes spilled output', async () => {
    const { store } = await made()
    expect(await store.usage()).toEqual([])
    await store.putAttachment('s', bytes('hello'), { mediaType: 'image/png' })
    await store.putBeforeImage('s', bytes('old'))
    await store.putSpill('t', 'x.txt', 'a longer text')
    await store.putSpill('t', 'y.txt', 'é')
    expect(await store.usage()).toEqual([
      { sessionId: 't', attachments: 0, before: 0, spill: 15, log: 0 },
      { sessionId: 's', attachments: 5, before: 3, spill: 0, log: 0 },
    ])
    await store.dropSpill('t')
    await store.dropSpill('never')
    expect((await store.usage()).map(({ sessionId, spill }) => [sessionId, spill]).filter(([, spill]) => spill !== 0)).toEqual([])
    // Spilling goes on afterwards.
    await store.putSpill('t', 'z.txt', 'z')
    expect((await store.usage()).find(({ sessionId }) => sessionId === 't')?.spill).toBe(1)
  })
  it('removes every attachment but those to keep, and knows a session without any', async () => {
    const { store } = await made()
    const first = await store.putAttachment('s', bytes('hello'), { mediaType: 'image/png' })
    const second = await store.putAttachment('s', bytes('other'), { mediaType: 'image/png' })
    await store.putAttachment('t', bytes('hello'), { mediaType: 'image/png' })
    await store.keepAttachments('s', [second.attachmentId])
    expect([await store.listAttachments('s'), await store.listAttachments('t')]).toEqual([[second.attachmentId], [first.attachmentId]])
    await store.keepAttachments('nobody', [])
  })
  it('shares attachments and before-images with another session, and lists them', async () => {
    const { store } = await made()
    const { attachmentId } = await store.putAttachment('a', bytes('hello'), { mediaType: 'image/png' })
    const { digest } = await store.putBeforeImage('a', bytes('before'))
    await store.share('a', 'b')
    await store.share('a', 'b')
    await store.share('nothing-there', 'b')
    expect([await store.listAttachments('b'), await store.listAttachments('c')]).toEqual([[attachmentId], []])
    expect([[...(await store.getAttachment('b', attachmentId))], [...(await store.getBeforeImage('b', digest!))]]).toEqual([[...bytes('hello')], [...bytes('before')]])
    await store.putAttachment('b', bytes('hers'), { mediaType: 'image/png' })
    expect(await store.listAttachments('a')).toEqual([attachmentId])
  })
  it('gives up before-images until they fit, the oldest first, and nothing else', async () => {
    const { store } = await made()
    const image = await store.putAttachment('a', bytes('hello'), { mediaType: 'image/png' })
    const first = await store.putBeforeImage('a', bytes('one'))
    expect(await store.pruneBeforeImages({ keptSince: 0, maxBytes: 3 })).toBe(0)
    await new Promise((resolve) => setTimeout(resolve, 20))
    const second = await store.putBeforeImage('b', bytes('two'))
    expect(await store.pruneBeforeImages({ keptSince: 0, maxBytes: 3 })).toBe(1)
    await expect(store.getBeforeImage('a', first.digest!)).rejects.toThrow(/missing/)
    expect([[...(await store.getBeforeImage('b', second.digest!))], await store.listAttachments('a')]).toEqual([[...bytes('two')], [image.attachmentId]])
  })
  it('stores an oversize text whole, inside the folder for them', async () => {
    const { store, spilled } = await made()
    const { path, bytes: size } = await store.putSpill('s', 'output.txt', 'é\n')
    expect([size, path.startsWith(store.spillFolder('s')), await spilled(path)]).toEqual([3, true, 'é\n'])
    expect((await store.putSpill('s', 'output.txt', 'x')).path).not.toBe(path)
  })
  it('lets an output grow in the order of the calls, whatever becomes of the buffer', async () => {
    const { store, spilled } = await made()
    const file = await store.openSpill('s', 'job')
    expect(await spilled(file.path)).toBe('')
    const buffer = bytes('a')
    const writes = [file.append(buffer), file.append(bytes('é'))]
    buffer[0] = 0
    await Promise.all(writes)
    expect(await spilled(file.path)).toBe('aé')
    await file.close()
    await file.close()
    expect(await spilled(file.path)).toBe('aé')
  })
  it('takes an output away', async () => {
    const { store, spilled } = await made()
    const file = await store.openSpill('s', 'job')
    await file.append(bytes('a'))
    await file.discard()
    await file.discard()
    expect(await spilled(file.path)).toBeUndefined()
  })
})

describe('a blob store on the disk', () => {
  const roots: string[] = []
  afterEach(() => Promise.all(roots.splice(0).map((root) => rm(root, { recursive: true, force: true }))))
  const made = async () => {
    const root = await mkdtemp(join(tmpdir(), 'blob-store-'))
    roots.push(root)
    return { root, store: new NodeBlobStore({ root }) }
  }
  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

  it('gives up before-images that nobody kept again for long', async () => {
    const { root, store } = await made()
    const [old, again] = [await store.putBeforeImage('s', bytes('old')), await store.putBeforeImage('s', bytes('again'))]
    for (const { digest } of [old, again]) await utimes(join(root, 's', 'before', digest!), new Date(1_000), new Date(1_000))
    await store.putBeforeImage('s', bytes('again'))
    expect([await store.pruneBeforeImages({ keptSince: 2_000, maxBytes: Infinity }), await readdir(join(root, 's', 'before'))]).toEqual([1, [again.digest]])
  })

  it('keeps everything for its owner alone and leaves no drafts', async () => {
    const { root, store } = await made()
    await store.putAttachment('s', bytes('hello'), { mediaType: 'image/png' })
    const { path } = await store.putSpill('s', 'x', 'y')
    await store.putBeforeImage('s', bytes('z'))
    const modes = await Promise.all([join(root, 's', 'attachments', helloDigest), path, join(root, 's', 'spill'), join(root, 's', 'attachments'), join(root, 's', 'before')].map(mode))
    expect(modes).toEqual(['600', '600', '700', '700', '700'])
    expect(await readdir(join(root, 's', 'attachments'))).toEqual([helloDigest])
  })

  it.each([
    ['../../etc/passwd', /^[0-9a-f]{12}-\.\.-\.\.-etc-passwd$/],
    ['', /^[0-9a-f]{12}-output$/],
    ['a b\u0000c', /^[0-9a-f]{12}-a-b-c$/],
    ['x'.repeat(300), /^[0-9a-f]{12}-x{64}$/],
  ])('gives the output named %j a plain name', async (name, expected) => {
    const { root, store } = await made()
    const { path } = await store.putSpill('s', name, 'y')
    expect(path.startsWith(join(root, 's', 'spill'))).toBe(true)
    expect(basename(path)).toMatch(expected)
  })

  it('refuses content that was changed from outside', async () => {
    const { root, store } = await made()
    const { attachmentId } = await store.putAttachment('s', bytes('hello'), { mediaType: 'image/png' })
    await writeFile(join(root, 's', 'attachments', helloDigest), 'jello')
    await expect(store.getAttachment('s', attachmentId)).rejects.toThrow('changed from outside')
  })
  it('stores again what was cut short from outside', async () => {
    const { root, store } = await made()
    const { attachmentId } = await store.putAttachment('s', bytes('hello'), { mediaType: 'image/png' })
    await chmod(join(root, 's', 'attachments', helloDigest), 0o600)
    await writeFile(join(root, 's', 'attachments', helloDigest), 'he')
    await store.putAttachment('s', bytes('hello'), { mediaType: 'image/png' })
    expect(new TextDecoder().decode(await store.getAttachment('s', attachmentId))).toBe('hello')
  })
  it.each(['../secret', 'sha256:zz', ''])('refuses the id %j', async (id) => {
    const { store } = await made()
    await expect(store.getAttachment('s', id)).rejects.toThrow('no SHA-256 digest')
  })
  it('refuses a session id that leads elsewhere', async () => {
    const { store } = await made()
    expect(() => store.spillFolder('../x')).toThrow('cannot be a session id')
  })
})
