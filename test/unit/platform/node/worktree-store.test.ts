import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { WorktreeRecord } from '../../../../extension/capabilities/worktree-store.ts'
import { NodeWorktreeStore } from '../../../../extension/platform/node/worktree-store.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

let home = ''
let store: NodeWorktreeStore
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'worktree-store-'))
  store = new NodeWorktreeStore({ folder: join(home, 'worktrees'), logger: createRecordingLogger() })
})
afterEach(() => rm(home, { recursive: true, force: true }))
const record = (id: string): WorktreeRecord => ({ version: 1, id, sessionId: 's', repository: '/project', root: join(store.folder, id, 'project'), branch: 'bosun/x' })

describe('what is known of worktrees', () => {
  it('is nothing before the first, and no folder is made to look', async () => {
    expect([await store.list(), await readdir(home)]).toEqual([[], []])
  })

  it('is kept for the person alone, and found again', async () => {
    await store.put(record('a1'))
    expect(await new NodeWorktreeStore({ folder: store.folder, logger: createRecordingLogger() }).list()).toEqual([record('a1')])
    if (process.platform !== 'win32') expect(((await stat(join(store.folder, 'a1.json'))).mode & 0o777).toString(8)).toBe('600')
  })

  it.each([['no JSON', '{'], ['another version', JSON.stringify({ ...{ id: 'a2' }, version: 2 })], ['the name of another', JSON.stringify({ version: 1, id: 'other', sessionId: 's', repository: '/p', root: '/r', branch: 'b' })]])('that is %s is left out and stays', async (_what, text) => {
    await store.put(record('a1'))
    await writeFile(join(store.folder, 'a2.json'), text)
    expect(await store.list()).toEqual([record('a1')])
    expect(await readFile(join(store.folder, 'a2.json'), 'utf8')).toBe(text)
  })

  it('goes with its folder and its copies, and with nothing else', async () => {
    await store.put(record('a1'))
    await store.put(record('a10'))
    await mkdir(join(store.folder, 'a1', 'project'), { recursive: true })
    await writeFile(join(home, 'index'), 'x')
    expect(await store.copyIn('a1', join(home, 'index'))).toBe(store.scratch('a1'))
    expect(await store.copyIn('a10', join(home, 'none'))).toBeNull()
    await store.remove('a1')
    await store.remove('a1')
    expect(await readdir(store.folder)).toEqual(['a10.json'])
  })

  it.each(['..', '../x', 'a/b', '', 'a.b'])('has no worktree named %j', async (id) => {
    await expect(store.remove(id)).rejects.toThrow('no id of a worktree')
  })
})
