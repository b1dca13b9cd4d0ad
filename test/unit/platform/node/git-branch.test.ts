import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readGitBranch } from '../../../../extension/platform/node/git-branch.ts'

let root: string
beforeAll(async () => (root = await mkdtemp(join(tmpdir(), 'bosun-branch-'))))
afterAll(() => rm(root, { recursive: true, force: true }))

let made = 0
const repository = async (head: string | Uint8Array) => {
  const folder = join(root, `r${++made}`)
  await mkdir(join(folder, '.git'), { recursive: true })
  await writeFile(join(folder, '.git', 'HEAD'), head)
  return folder
}

it.each<[string, string | Uint8Array, string | null]>([
  ['a branch', 'ref: refs/heads/main\n', 'main'],
  ['a branch with a slash', 'ref: refs/heads/feature/größe\n', 'feature/größe'],
  ['a branch, written by Windows', 'ref: refs/heads/main\r\n', 'main'],
  ['no branch', 'a'.repeat(40), 'detached at aaaaaaa'],
  ['a name with a space', 'ref: refs/heads/a b', null],
  ['a name that is too long', `ref: refs/heads/${'a'.repeat(251)}`, null],
  ['another reference', 'ref: refs/remotes/origin/main', null],
  ['nothing', '', null],
  ['no text', Uint8Array.of(0, 255, 0), null],
])('%s', async (_name, head, branch) => expect(await readGitBranch(await repository(head))).toBe(branch))

it('from a folder below', async () => {
  const folder = join(await repository('ref: refs/heads/main'), 'a', 'b')
  await mkdir(folder, { recursive: true })
  expect(await readGitBranch(folder)).toBe('main')
})
it('of a worktree and of a submodule, whose .git is a file', async () => {
  const main = await repository('ref: refs/heads/main')
  await mkdir(join(main, '.git', 'worktrees', 'w'), { recursive: true })
  await writeFile(join(main, '.git', 'worktrees', 'w', 'HEAD'), 'ref: refs/heads/side\n')
  const tree = join(root, 'tree')
  await mkdir(tree)
  await writeFile(join(tree, '.git'), `gitdir: ${join(main, '.git', 'worktrees', 'w')}\n`)
  expect(await readGitBranch(tree)).toBe('side')
  await writeFile(join(tree, '.git'), 'gitdir: ../nowhere\n')
  expect(await readGitBranch(tree)).toBeNull()
  await writeFile(join(tree, '.git'), 'what?')
  expect(await readGitBranch(tree)).toBeNull()
})
it('none where there is no repository, or its HEAD is a FIFO', async () => {
  expect(await readGitBranch(root)).toBeNull()
  const folder = join(root, 'fifo')
  await mkdir(join(folder, '.git'), { recursive: true })
  execFileSync('mkfifo', [join(folder, '.git', 'HEAD')])
  expect(await readGitBranch(folder)).toBeNull()
})
