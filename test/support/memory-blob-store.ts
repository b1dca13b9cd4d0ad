import { createHash } from 'node:crypto'
import type { BlobStore, SpillFile } from '../../extension/capabilities/blob-store.ts'

export interface MemoryBlobStore extends BlobStore {
  /** Spilled output by path. */
  readonly spills: ReadonlyMap<string, string>
}

/** Blobs without a disk. */
export function createMemoryBlobStore(): MemoryBlobStore {
  const blobs = new Map<string, Uint8Array>()
  const spills = new Map<string, string>()
  const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
  const put = (kind: string, sessionId: string, bytes: Uint8Array) => {
    const digest = digestOf(bytes)
    blobs.set(`${kind}/${sessionId}/${digest}`, bytes.slice())
    return digest
  }
  const get = (kind: string, sessionId: string, digest: string) => {
    const bytes = blobs.get(`${kind}/${sessionId}/${digest}`)
    if (bytes === undefined) throw new Error(`The stored ${kind} ${digest} is missing.`)
    return bytes.slice()
  }
  const spillFolder = (sessionId: string) => `/sessions/${sessionId}/spill`
  const freshSpill = (sessionId: string, name: string) => `${spillFolder(sessionId)}/${spills.size + 1}-${name}`
  return {
    spills,
    async putAttachment(sessionId, bytes, facts) {
      return { attachmentId: `sha256:${put('attachment', sessionId, bytes)}`, bytes: bytes.length, ...facts }
    },
    getAttachment: async (sessionId, attachmentId) => get('attachment', sessionId, attachmentId.replace(/^sha256:/, '')),
    async putSpill(sessionId, name, text) {
      const path = freshSpill(sessionId, name)
      spills.set(path, text)
      return { path, bytes: new TextEncoder().encode(text).length }
    },
    async openSpill(sessionId, name): Promise<SpillFile> {
      const path = freshSpill(sessionId, name)
      const decoder = new TextDecoder()
      spills.set(path, '')
      return {
        path,
        append: async (bytes) => void spills.set(path, spills.get(path)! + decoder.decode(bytes, { stream: true })),
        close: async () => void spills.set(path, spills.get(path)! + decoder.decode()),
        discard: async () => void spills.delete(path),
      }
    },
    putBeforeImage: async (sessionId, bytes) => ({ digest: bytes === null ? null : put('before-image', sessionId, bytes) }),
    getBeforeImage: async (sessionId, digest) => get('before-image', sessionId, digest),
    async pruneBeforeImages({ maxBytes }) {
      // Without times everything is young; what came first goes first.
      const images = [...blobs].filter(([key]) => key.startsWith('before-image/'))
      let total = images.reduce((sum, [, bytes]) => sum + bytes.length, 0)
      let gone = 0
      for (const [key, bytes] of images) {
        if (total <= maxBytes) break
        blobs.delete(key)
        total -= bytes.length
        gone += 1
      }
      return gone
    },
    async share(from, to) {
      for (const kind of ['attachment', 'before-image']) {
        for (const [key, bytes] of [...blobs]) if (key.startsWith(`${kind}/${from}/`)) blobs.set(`${kind}/${to}/${key.split('/')[2]}`, bytes)
      }
    },
    async keepAttachments(sessionId, attachmentIds) {
      const prefix = `attachment/${sessionId}/`
      for (const key of [...blobs.keys()]) if (key.startsWith(prefix) && !attachmentIds.includes(`sha256:${key.slice(prefix.length)}`)) blobs.delete(key)
    },
    listAttachments: async (sessionId) => [...blobs.keys()].filter((key) => key.startsWith(`attachment/${sessionId}/`)).map((key) => `sha256:${key.split('/')[2]}`),
    async usage() {
      const sum = (sessionId: string, kind: string) => [...blobs].filter(([key]) => key.startsWith(`${kind}/${sessionId}/`)).reduce((total, [, bytes]) => total + bytes.length, 0)
      const spilled = (sessionId: string) => [...spills].filter(([path]) => path.startsWith(`${spillFolder(sessionId)}/`)).reduce((total, [, text]) => total + Buffer.byteLength(text), 0)
      const ids = new Set([...[...blobs.keys()].map((key) => key.split('/')[1]!), ...[...spills.keys()].map((path) => path.split('/')[2]!)])
      const size = ({ attachments, before, spill }: { readonly attachments: number; readonly before: number; readonly spill: number }) => attachments + before + spill
      return [...ids]
        .map((sessionId) => ({ sessionId, attachments: sum(sessionId, 'attachment'), before: sum(sessionId, 'before-image'), spill: spilled(sessionId), log: 0 }))
        .toSorted((one, other) => size(other) - size(one))
    },
    async dropSpill(sessionId) {
      for (const path of spills.keys()) if (path.startsWith(`${spillFolder(sessionId)}/`)) spills.delete(path)
    },
    spillFolder,
  }
}
