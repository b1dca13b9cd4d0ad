import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { FileSystem } from '../../extension/capabilities/file-system.ts'
import type { FileSystemWorld } from './file-system.suite.ts'

/** A provider of files over a folder of the disk, which goes with the world; `end` is called before. */
export async function createDiskWorld(files: FileSystem, end: () => void = () => {}): Promise<FileSystemWorld> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'files-')))
  return {
    files,
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
    dispose: async () => {
      end()
      await rm(root, { recursive: true, force: true })
    },
  }
}
