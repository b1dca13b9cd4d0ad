import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { ChangeWatch } from '../../../../extension/capabilities/change-watch.ts'
import { createChangeWatch, MAX_WATCHED_FILES, MAX_WATCHED_FOLDERS } from '../../../../extension/platform/node/change-watch.ts'
import { createDirectRunner } from '../../../../extension/platform/node/direct-runner.ts'
import { createRipgrepSearch } from '../../../../extension/platform/node/ripgrep-search.ts'

const undos: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const undo of undos.splice(0).toReversed()) await undo()
})
const { signal } = new AbortController()

/** A folder with files, watched. */
async function watched(isRecursive: boolean, files: readonly string[], isIgnored: (path: string) => boolean = () => false) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'watch-')))
  undos.push(() => rm(folder, { recursive: true, force: true }))
  const put = async (path: string) => {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), path)
  }
  for (const file of files) await put(file)
  const processes = createDirectRunner()
  undos.push(() => processes.dispose())
  const watch = createChangeWatch({ search: createRipgrepSearch({ processes }), isRecursive })
  undos.push(() => watch.dispose())
  const begun = await watch.begin(folder, { isIgnored: async (paths) => new Set(paths.filter((path) => isIgnored(path.slice(folder.length + 1)))), signal })
  if (begun.kind === 'refused') throw new Error(begun.detail)
  await begun.take()
  return {
    at: (path: string) => join(folder, path),
    put,
    /** Somebody else looks at the same folder. */
    another: async () => {
      const other = await watch.begin(folder, { isIgnored: async () => new Set<string>(), signal })
      if (other.kind === 'refused') throw new Error(other.detail)
      await other.take()
      return other
    },
    /** Until something is told: the system tells in its own time. */
    async take(count: number) {
      const found = new Map<string, boolean>()
      for (const end = Date.now() + 20_000; found.size < count && Date.now() < end; ) for (const { path, wasThere } of (await begun.take()).changes) found.set(path.slice(folder.length + 1), wasThere)
      return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}

describe.each([['folder by folder', false], ['as a whole tree', true]])('watching %s', (_name, isRecursive) => {
  it('tells what changed, came and went, and whether it was there', async () => {
    const w = await watched(isRecursive, ['a', 'b', 'sub/c'])
    await w.put('a')
    await w.put('sub/new')
    await rm(w.at('b'))
    await rename(w.at('sub/c'), w.at('sub/d'))
    expect(await w.take(5)).toEqual({ a: true, b: true, 'sub/c': true, 'sub/d': false, 'sub/new': false })
  })

  it('tells everybody who looks, whoever looks first', async () => {
    const w = await watched(isRecursive, ['a'])
    const other = await w.another()
    await w.put('a')
    await w.put('new')
    expect(await w.take(2)).toEqual({ a: true, new: false })
    expect((await other.take()).changes.toSorted((one, two) => (one.path < two.path ? -1 : 1))).toEqual([{ path: w.at('a'), wasThere: true }, { path: w.at('new'), wasThere: false }])
    other.close()
    await w.put('a')
    expect([await w.take(1), (await other.take()).changes]).toEqual([{ a: true }, []])
  })

  it('looks into folders that come, and tells what a folder that goes took along', async () => {
    const w = await watched(isRecursive, ['a', 'sub/deep/c'])
    await w.put('new/deep/x')
    expect(await w.take(1)).toEqual({ 'new/deep/x': false })
    await w.put('new/deep/x')
    expect(await w.take(1)).toEqual({ 'new/deep/x': true })
    await rm(w.at('sub'), { recursive: true })
    expect(await w.take(1)).toEqual({ 'sub/deep/c': true })
  })

  it('leaves out what is ignored, modules and the repository', async () => {
    const w = await watched(isRecursive, ['a', '.git/HEAD'], (path) => path.startsWith('out') || path.endsWith('.log'))
    for (const path of ['out/x', 'b.log', 'node_modules/m/index.js', '.git/HEAD', 'z']) await w.put(path)
    expect(await w.take(1)).toEqual({ z: false })
    await w.put('a')
    expect(await w.take(1)).toEqual({ a: true })
  })
})

it('refuses what is too large, and says why', async () => {
  const many = (paths: readonly string[]): ChangeWatch => createChangeWatch({ search: { list: async ({ onPaths }) => onPaths(paths) } })
  const begin = (paths: readonly string[]) => many(paths).begin('/nowhere', { isIgnored: async () => new Set(), signal })
  expect(await begin(Array.from({ length: MAX_WATCHED_FOLDERS + 1 }, (_, index) => `${index}/a`))).toMatchObject({ kind: 'refused', reason: 'too-many-folders' })
  expect(await begin(['a'])).toMatchObject({ kind: 'refused', reason: 'unavailable' })
  const endless = createChangeWatch({
    search: {
      list: async ({ onPaths, signal: stop }) => {
        onPaths(Array.from({ length: MAX_WATCHED_FILES + 1 }, (_, index) => `f${index}`))
        stop.throwIfAborted()
      },
    },
  })
  expect(await endless.begin('/nowhere', { isIgnored: async () => new Set(), signal })).toMatchObject({ kind: 'refused', reason: 'too-many-files' })
})
