import { realpathSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ProcessRunner } from '../../extension/capabilities/process.ts'
import { createDirectRunner } from '../../extension/platform/node/direct-runner.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { createRipgrepSearch, type RipgrepSearchOptions } from '../../extension/platform/node/ripgrep-search.ts'
import { searchTools } from '../../extension/tools/search/plugin.ts'
import { createFakeAgent } from './fake-agent.ts'
import { createMemoryBlobStore } from './memory-blob-store.ts'
import { createToolBench } from './tool-bench.ts'

export type SearchRig = Awaited<ReturnType<typeof createSearchRig>>

/** `glob` and `grep` through the pipeline over ripgrep and a folder of the disk; `app` is the session's, `lib` stands beside it. */
export async function createSearchRig() {
  const root = realpathSync(await mkdtemp(join(tmpdir(), 'bosun-search-')))
  const runner = createDirectRunner()
  const at = (path: string) => join(root, 'app', path)
  const put = async (path: string, content: string | Uint8Array, age = 0) => {
    await mkdir(dirname(at(path)), { recursive: true })
    await writeFile(at(path), content)
    const time = 1_700_000_000 - age
    await utimes(at(path), time, time)
  }
  await put('src/a.ts', 'const hit = 1\n', 30)
  await put('src/deep/b.ts', 'x\r\nhit CRLF\r\n', 20)
  await put('c.ts', 'Hit\nno\n', 10)
  await put('-dash.ts', 'hit -dash', 40)
  await put('node_modules/m.ts', 'hit')
  await put('.git/config.ts', 'hit')
  await put('.hidden.ts', 'hit', 50)
  await put('.gitignore', 'node_modules\n')
  await put('latin1.txt', Buffer.concat([Buffer.from('hit '), Buffer.from([0xe4, 0xff, 0x0a])]))
  await symlink('src/a.ts', at('link.ts'))
  await mkdir(join(root, 'lib'))
  await writeFile(join(root, 'lib/l.ts'), 'hit lib\n')
  await utimes(join(root, 'lib/l.ts'), 1_700_000_000 - 15, 1_700_000_000 - 15)

  /** `inner`: folders of `app` that are open too. */
  const bench = async (isMultiRoot = false, inner: readonly string[] = [], options: Partial<RipgrepSearchOptions> & { readonly processes?: ProcessRunner } = {}) => {
    const made = createToolBench(createFakeAgent({ cwd: join(root, 'app') }))
    const open = (name: string, path = name) => ({ name, path: join(root, path) })
    const folders = [open('app'), ...(isMultiRoot ? [open('lib')] : []), ...inner.map((name) => open(name, `app/${name}`))]
    const blobs = createMemoryBlobStore()
    const search = createRipgrepSearch({ processes: runner, unsavedTexts: () => [], ...options })
    await made.mount(searchTools({ search, files: new NodeFileSystem({ folders: () => folders }), workspace: { folders: () => folders }, blobs, logger: made.logger }))
    const run = (name: string) => (args: object, signal?: AbortSignal) => made.run(name, args, signal && { signal })
    return { blobs, glob: run('glob'), grep: run('grep') }
  }
  return {
    root, at, put, bench, runner,
    dispose: async () => {
      await runner.dispose()
      await rm(root, { recursive: true })
    },
  }
}
