import { describe, it } from 'vitest'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { MemoryFileSystem } from '../support/memory-file-system.ts'
import { createDiskWorld } from './disk-world.ts'
import { fileSystemContract, type FileSystemWorld } from './file-system.suite.ts'

describe('the Node file system', () => {
  fileSystemContract({ describe, it, create: () => createDiskWorld(new NodeFileSystem()) })
})

describe('the file system in memory', () => {
  fileSystemContract({ describe, it, create: createMemory })
})

async function createMemory(): Promise<FileSystemWorld> {
  const files = new MemoryFileSystem()
  const root = '/root'
  files.makeFolder(root)
  return {
    files,
    root,
    put: async (path, bytes) => files.put(`${root}/${path}`, bytes),
    get: async (path) => {
      const bytes = files.entries.get(`${root}/${path}`)?.bytes
      return bytes ? Buffer.from(bytes) : null
    },
    remove: async (path) => void files.entries.delete(`${root}/${path}`),
    makeFolder: async (path) => files.makeFolder(`${root}/${path}`),
    makeReadonly: async (path) => {
      files.entries.get(`${root}/${path}`)!.isReadonly = true
    },
    list: async () => [...files.entries.keys()].map((path) => path.slice(root.length + 1)).toSorted(),
    dispose: async () => {},
  }
}
