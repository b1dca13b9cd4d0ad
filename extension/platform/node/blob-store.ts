import { createHash, randomBytes } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { link, open, readdir, readFile, rename, rm, stat, unlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobStore, SessionUsage, SpillFile, StoredBlob } from '../../capabilities/blob-store.ts'
import { checkSessionId } from '../../capabilities/event-store.ts'
import { hasCode, syncFolder } from './file-facts.ts'
import { makeFolders } from './make-folders.ts'
import { NodeSpillFile } from './spill-file.ts'

/** Blobs in the folders of their sessions, for their owner alone: `attachments/`, `before/`, `spill/`. */
export class NodeBlobStore implements BlobStore {
  readonly #root: string

  /** `root` is that of the event store. */
  constructor({ root }: { readonly root: string }) {
    this.#root = root
  }

  async putAttachment(sessionId: string, bytes: Uint8Array, facts: { readonly mediaType: string; readonly name?: string }): Promise<StoredBlob> {
    const digest = await keep(this.#folder(sessionId, 'attachments'), bytes)
    return { attachmentId: `sha256:${digest}`, bytes: bytes.length, ...facts }
  }

  async getAttachment(sessionId: string, attachmentId: string): Promise<Uint8Array> {
    return load(this.#folder(sessionId, 'attachments'), attachmentId.replace(/^sha256:/, ''))
  }

  async putSpill(sessionId: string, name: string, text: string): Promise<{ readonly path: string; readonly bytes: number }> {
    const file = await this.openSpill(sessionId, name)
    const bytes = Buffer.from(text, 'utf8')
    try {
      await file.append(bytes)
      await file.close()
    } catch (error) {
      await file.discard()
      throw error
    }
    return { path: file.path, bytes: bytes.length }
  }

  async openSpill(sessionId: string, name: string): Promise<SpillFile> {
    const folder = this.spillFolder(sessionId)
    await makeFolders(folder, 0o700)
    const path = join(folder, `${randomBytes(6).toString('hex')}-${safeName(name)}`)
    return new NodeSpillFile(path, await open(path, 'ax', 0o600))
  }

  async putBeforeImage(sessionId: string, bytes: Uint8Array | null): Promise<{ readonly digest: string | null }> {
    return { digest: bytes === null ? null : await keep(this.#folder(sessionId, 'before'), bytes) }
  }

  async getBeforeImage(sessionId: string, digest: string): Promise<Uint8Array> {
    return load(this.#folder(sessionId, 'before'), digest)
  }

  async pruneBeforeImages({ keptSince, maxBytes }: { readonly keptSince: number; readonly maxBytes: number }): Promise<number> {
    const kept: { readonly path: string; readonly size: number; readonly keptAt: number }[] = []
    for (const sessionId of await namesIn(this.#root)) {
      const folder = join(this.#root, sessionId, 'before')
      for (const digest of await digestsIn(folder)) {
        const facts = await factsOf(join(folder, digest))
        if (facts !== null) kept.push({ path: join(folder, digest), size: facts.size, keptAt: facts.mtimeMs })
      }
    }
    let total = kept.reduce((sum, { size }) => sum + size, 0)
    let gone = 0
    for (const { path, size, keptAt } of kept.toSorted((a, b) => a.keptAt - b.keptAt)) {
      if (keptAt >= keptSince && total <= maxBytes) break
      await rm(path, { force: true })
      total -= size
      gone += 1
    }
    return gone
  }

  async share(from: string, to: string): Promise<void> {
    for (const kind of ['attachments', 'before'] as const) {
      const source = this.#folder(from, kind)
      const digests = await digestsIn(source)
      if (digests.length === 0) continue
      const target = this.#folder(to, kind)
      await makeFolders(target, 0o700)
      for (const digest of digests) await linkOrCopy(join(source, digest), join(target, digest))
      await syncFolder(target)
    }
  }

  async listAttachments(sessionId: string): Promise<readonly string[]> {
    return (await digestsIn(this.#folder(sessionId, 'attachments'))).map((digest) => `sha256:${digest}`)
  }

  async keepAttachments(sessionId: string, attachmentIds: readonly string[]): Promise<void> {
    const folder = this.#folder(sessionId, 'attachments')
    const gone = (await digestsIn(folder)).filter((digest) => !attachmentIds.includes(`sha256:${digest}`))
    await Promise.all(gone.map((digest) => unlink(join(folder, digest))))
  }

  async usage(): Promise<readonly SessionUsage[]> {
    const all = await Promise.all((await entriesOf(this.#root)).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map((entry) => usageOf(this.#root, entry.name)))
    return all.toSorted((one, other) => totalOf(other) - totalOf(one))
  }

  async dropSpill(sessionId: string): Promise<void> {
    await rm(this.spillFolder(sessionId), { recursive: true, force: true })
  }

  spillFolder(sessionId: string): string {
    return this.#folder(sessionId, 'spill')
  }

  #folder(sessionId: string, kind: 'attachments' | 'before' | 'spill'): string {
    checkSessionId(sessionId)
    return join(this.#root, sessionId, kind)
  }
}

const totalOf = ({ attachments, before, spill, log }: SessionUsage) => attachments + before + spill + log

async function usageOf(root: string, sessionId: string): Promise<SessionUsage> {
  const folder = join(root, sessionId)
  const [attachments, before, spill, all] = await Promise.all([join(folder, 'attachments'), join(folder, 'before'), join(folder, 'spill'), folder].map(bytesBelow))
  return { sessionId, attachments: attachments!, before: before!, spill: spill!, log: Math.max(0, all! - attachments! - before! - spill!) }
}

async function bytesBelow(folder: string): Promise<number> {
  const sizes = await Promise.all(
    (await entriesOf(folder)).map(async (entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? bytesBelow(path) : entry.isFile() ? sizeOf(path) : 0
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

/** Sessions change while they are looked at: what is gone takes nothing. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0
    throw error
  }
}

/** Store bytes under their digest, durably, once. They appear under that name whole or not at all. */
async function keep(folder: string, bytes: Uint8Array): Promise<string> {
  const digest = digestOf(bytes)
  const path = join(folder, digest)
  const known = await factsOf(path)
  if (known?.size === bytes.length) {
    // What is needed again is as young as what is new.
    if (Date.now() - known.mtimeMs > YOUNG_MS) await utimes(path, new Date(), new Date())
    return digest
  }
  await makeFolders(folder, 0o700)
  const draft = join(folder, `.${digest}-${randomBytes(6).toString('hex')}`)
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } catch (error) {
    await handle.close()
    await unlink(draft)
    throw error
  }
  await handle.close()
  await rename(draft, path)
  await syncFolder(folder)
  return digest
}

/** Differences in age below this tell nothing. */
const YOUNG_MS = 3_600_000

/** Null: nothing stands there. */
async function factsOf(path: string): Promise<{ readonly size: number; readonly mtimeMs: number } | null> {
  try {
    return await stat(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

/** Drafts that a crash left have other names. */
async function digestsIn(folder: string): Promise<readonly string[]> {
  return (await namesIn(folder)).filter((name) => digestShape.test(name))
}

/** None where no folder is. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

/** Stored content never changes, so two sessions can hold the same file. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV')) throw error
    await keep(dirname(to), await readFile(from))
  }
}

const digestShape = /^[0-9a-f]{64}$/

async function load(folder: string, digest: string): Promise<Uint8Array> {
  if (!digestShape.test(digest)) throw new Error(`${JSON.stringify(digest)} is no SHA-256 digest of stored content.`)
  const path = join(folder, digest)
  const bytes = await read(path)
  if (digestOf(bytes) !== digest) throw new Error(`The stored content ${path} was changed from outside: it does not match its digest any more.`)
  return bytes
}

async function read(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw new Error(`The stored content ${path} is missing: its session was removed, or the file was deleted from outside.`, { cause: error })
    throw error
  }
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** A file name of plain characters, at most 64 of them. */
const safeName = (name: string): string => name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(-64) || 'output'
