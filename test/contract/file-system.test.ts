import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { describe, it } from 'vitest'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { MemoryFileSystem } from '../support/memory-file-system.ts'
import { fileSystemContract, type FileSystemWorld } from './file-system.suite.ts'

describe('the Node file system', () => {
  fileSystemContract({ describe, it, create: createDisk })
})

describe('the file system in memory', () => {
  fileSystemContract({ describe, it, create: createMemory })
})

async function createDisk(): Promise<FileSystemWorld> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'files-')))
  return {
    files: new NodeFileSystem(),
    root,
    put: async (path, bytes) => {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), bytes)
    },
    get: (path) => readFile(join(root, path)).catch(() => null),
    remove: (path) => rm(join(root, path)),
    makeFolder: async (path) => void (await mkdir(join(root, path), { recursive: true })),
    makeReadonly: (path) => chmod(join(root, path), 0o444),
    list: async () =>
      (await readdir(root, { recursive: true, withFileTypes: true }))
        .filter((entry) => !entry.isDirectory())
        .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
        .toSorted(),
    dispose: () => rm(root, { recursive: true, force: true }),
  }
}

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
