import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createClosedPaths } from '../../../../../extension/platform/node/sandbox/closed-paths.ts'

let root = ''
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'bosun-closed-')))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const isSecret = (path: string) => /\/(\.env|\.ssh)(\/|$)/.test(path)

interface Wanted {
  readonly levels?: number
  readonly secretNames?: readonly string[]
  readonly links?: Readonly<Record<string, string>>
}

async function closed(files: readonly string[], { levels = 3, secretNames = [], links = {} }: Wanted = {}) {
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true })
    await writeFile(join(root, file), '')
  }
  for (const [from, to] of Object.entries(links)) await symlink(to, join(root, from))
  const found = await createClosedPaths()({ searched: [{ folder: root, levels }], secretNames, isSecret })
  return found.map(({ path, isFolder }) => `${path.slice(root.length + 1)}${isFolder ? '/' : ''}`)
}

it.each<readonly [string, Parameters<typeof closed>, readonly string[]]>([
  ['a file, and folders whole', [['.env', '.ssh/id', 'a.txt']], ['.env', '.ssh/']],
  ['down to the level that is asked for', [['a/b/.env', 'a/b/c/.env']], ['a/b/.env']],
  ['only what stands in a folder of one level', [['.env', 'a/.env'], { levels: 1 }], ['.env']],
  ['names that are known to be secrets, where they are there', [['.aws/credentials', '.aws/config'], { secretNames: ['.aws/credentials', '.docker/config.json'] }], ['.aws/credentials']],
  ['what a link leads to', [['plain'], { links: { '.env': 'plain' } }], ['plain']],
  ['no link to nothing', [[], { links: { '.env': 'gone' } }], []],
  ['nothing of git, which works with its folder, and of packages', [['.git/.env', 'node_modules/x/.env']], []],
])('closes %s', async (_name, given, expected) => expect((await closed(...given)).toSorted()).toEqual([...expected].toSorted()))

it('looks again after five seconds, not before', async () => {
  let now = 0
  const find = createClosedPaths(() => now)
  const limits = { searched: [{ folder: root, levels: 1 }], secretNames: [], isSecret }
  expect(await find(limits)).toEqual([])
  await writeFile(join(root, '.env'), '')
  now = 4_999
  expect(await find(limits)).toEqual([])
  now = 5_000
  expect(await find(limits)).toEqual([{ path: join(root, '.env'), isFolder: false }])
})
