import { rm, utimes } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FileSystem } from '../../../extension/capabilities/file-system.ts'
import { MAX_TOLD_CHARS } from '../../../extension/tools/files/explain-stale.ts'
import { createFileRig, failed, type FileRig } from '../../support/file-rig.ts'
import { prompt } from '../../support/loop-rig.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'

/* Chapter 4, the line "Observation" of chapter 19, and 20.11. */

let rig: FileRig
let renamed: (from: string, to: string) => void = () => undefined
beforeAll(async () => {
  rig = await createFileRig({
    settings: { 'model.provider': 'scripted', 'model.name': 'm1' },
    // The disk tells of no renames in an editor; the test does.
    alter: (world) => ({
      ...world,
      files: Object.assign(world.files, {
        onDidRename: (listener: (from: string, to: string) => void) => {
          renamed = listener
          return () => undefined
        },
      } satisfies Pick<FileSystem, 'onDidRename'>),
    }),
  })
})
afterAll(() => rig.application.dispose())
beforeEach(() => rig.next())

describe('observation', () => {
  it('write over unread file refused', async () => {
    await rig.put('a', 'theirs')
    expect(outcomeOf(await rig.write('a', 'ours'))).toEqual(failed('FS_NOT_OBSERVED', /Read it first, then try again\.$/))
    expect(await rig.contentOf('a')).toBe('theirs')
  })
  it('read → touch externally → edit stale only when the bytes differ: the same hash passes', async () => {
    await rig.put('a', 'old')
    await rig.read('a')
    await rig.put('a', 'old')
    await utimes(rig.at('a'), new Date(1), new Date(2))
    expect((await rig.edit('a', 'old', 'new')).isError).toBe(false)
    await rig.put('a', 'old new')
    expect(outcomeOf(await rig.edit('a', 'new', 'newer'))).toEqual(failed('FS_STALE_VERSION'))
    expect(await rig.contentOf('a')).toBe('old new')
  })
  it('failed read → write creates', async () => {
    expect(outcomeOf(await rig.read('a'))).toEqual(failed('FS_NOT_FOUND'))
    expect(outcomeOf(await rig.write('a', 'new'))).toMatchObject({ operation: 'create', before: null })
    expect(await rig.contentOf('a')).toBe('new')
  })
  it('failed read → a file that came since is not written over', async () => {
    await rig.read('a')
    await rig.put('a', 'theirs')
    expect(outcomeOf(await rig.write('a', 'ours'))).toEqual(failed('FS_NOT_OBSERVED', /did not exist when you last looked/))
    expect(await rig.contentOf('a')).toBe('theirs')
  })
  it('external delete → stale', async () => {
    await rig.put('a', 'old')
    await rig.read('a')
    await rm(rig.at('a'))
    expect(outcomeOf(await rig.edit('a', 'old', 'new'))).toEqual(failed('FS_STALE_VERSION', /deleted/))
    expect(outcomeOf(await rig.write('a', 'new'))).toEqual(failed('FS_STALE_VERSION', /deleted/))
    await expect(rig.contentOf('a')).rejects.toMatchObject({ code: 'ENOENT' })
  })
  it('two racing edits: one wins, the other is told', async () => {
    await rig.put('a', 'old')
    const target = await rig.application.ctx.agents.create({ cwd: rig.folder, preset: 'standard' })
    target.session.append({ type: 'turn/start', data: { turn: 1 } })
    await rig.read('a')
    await rig.run('read', { file_path: 'a' }, { agent: target })
    const results = await Promise.all([rig.edit('a', 'old', 'one'), rig.run('edit', { file_path: 'a', old_string: 'old', new_string: 'two' }, { agent: target })])
    expect(results.filter(({ isError }) => isError)).toHaveLength(1)
    expect(outcomeOf(results.find(({ isError }) => isError)!)).toEqual(failed('FS_STALE_VERSION'))
    expect(await rig.contentOf('a')).toBe(results[0].isError ? 'two' : 'one')
  })
  it('edit after own write without read', async () => {
    await rig.write('a', 'one')
    expect((await rig.edit('a', 'one', 'two')).isError).toBe(false)
    expect(await rig.contentOf('a')).toBe('two')
  })
  it('rename in explorer keeps the observation', async () => {
    await rig.put('a', 'one')
    await rig.read('a')
    await rig.put('b', 'one')
    await rm(rig.at('a'))
    renamed(rig.at('a'), rig.at('b'))
    expect((await rig.edit('b', 'one', 'two')).isError).toBe(false)
  })
  it('resume keeps it', async () => {
    await rig.put('a', 'one')
    await rig.put('unread', 'one')
    await rig.read('a')
    const { edit } = await resumed()
    expect(outcomeOf(await edit('unread', 'one', 'two'))).toEqual(failed('FS_NOT_OBSERVED'))
    expect((await edit('a', 'one', 'two')).isError).toBe(false)
    expect(await rig.contentOf('a')).toBe('two')
  })
  it.each([
    ['plain', 'one\ntwo\n'],
    ['without a last line end', 'one\ntwo'],
    ['with CRLF and a BOM', '\u{FEFF}one\r\ntwo\r\n'],
  ])('resume keeps what was read, so that a change since then can be told: %s', async (_name, content) => {
    await rig.put('a', content)
    await readIntoLog('a')
    const { edit, nextStep } = await resumed()
    await rig.put('a', content.replace('one', 'ONE'))
    expect(outcomeOf(await edit('a', 'two', '2'))).toEqual(failed('FS_STALE_VERSION', /\n-one\n\+ONE\n/))
    nextStep()
    expect((await edit('a', 'two', '2')).isError).toBe(false)
    expect(await rig.contentOf('a')).toBe(content.replace('one', 'ONE').replace('two', '2'))
  })
  it('resume of what was read in part asks to read again', async () => {
    await rig.put('a', 'one\ntwo\n')
    await readIntoLog('a', { limit: 1 })
    const { edit } = await resumed()
    await rig.put('a', 'ONE\ntwo\n')
    expect(outcomeOf(await edit('a', 'two', '2'))).toEqual(failed('FS_STALE_VERSION', /Read it again, then repeat the change\.$/))
  })
  it('any window, even one line, authorises an edit of all of it', async () => {
    await rig.put('a', 'one\ntwo\nthree\n')
    await rig.read('a', { offset: 1, limit: 1 })
    expect((await rig.edit('a', 'three', '3')).isError).toBe(false)
  })
  it('grep, glob and a shell do not count as reads', async () => {
    await rig.put('a', 'one')
    await rig.run('grep', { pattern: 'one' })
    await rig.run('glob', { pattern: '*' })
    await rig.run('bash', { command: 'cat a', description: 'test' })
    expect(outcomeOf(await rig.edit('a', 'one', 'two'))).toEqual(failed('FS_NOT_OBSERVED'))
  })
})

/** By a model through the loop, so that the result stands in the log as it does in a talk. */
async function readIntoLog(file_path: string, more: object = {}) {
  const { ctx, folder } = { ctx: rig.application.ctx, folder: rig.folder }
  const undo = ctx.models.register(createScriptedAdapter([callTools({ id: 'c1', name: 'read', args: { file_path, ...more } }), sayText('read')]))
  rig.agent = await ctx.agents.create({ cwd: folder, preset: 'standard' })
  rig.agent.followup(prompt('Read it.', `message-${file_path}-${rig.folder}`))
  await rig.agent.whenIdle()
  undo()
}

/** The session after a restart of the application. What follows uses the one that runs now. */
async function resumed() {
  if (rig.agent.status !== 'idle' || rig.agent.session.events().at(-1)?.type !== 'turn/end') rig.agent.session.append({ type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } })
  await rig.agent.session.flush()
  const after = await rig.application.restart()
  Object.assign(rig.application, after)
  const agent = await after.ctx.agents.resume(rig.agent.id)
  agent.session.append({ type: 'turn/start', data: { turn: 2 } })
  return {
    edit: (file_path: string, old_string: string, new_string: string) => rig.run('edit', { file_path, old_string, new_string }, { agent }),
    nextStep: () => void agent.session.append({ type: 'step/start', data: { turn: 2, step: 1 } }),
  }
}

describe('a stale version', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

  it('says what changed since the read, so that no second read is needed', async () => {
    await rig.put('a', lines(9))
    await rig.read('a')
    await rig.put('a', lines(9).replace('line 4', 'line four'))
    rig.nextStep()
    const result = await rig.edit('a', 'line 6', 'line six')
    expect(textOf(result)).toBe(
      'Error: a changed since it was last read. Nothing was done. What changed, old lines with -, new ones with +:\n@@ line 3 @@\n line 3\n-line 4\n+line four\n line 5\nIt need not be read again: repeat the change in a next step, on the text as it is now.',
    )
    rig.nextStep()
    expect((await rig.edit('a', 'line 6', 'line six')).isError).toBe(false)
    expect(await rig.contentOf('a')).toBe(lines(9).replace('line 4', 'line four').replace('line 6', 'line six'))
  })
  it('stays one for calls of the same step, which were written without knowing of the change', async () => {
    await rig.put('a', 'mine')
    await rig.read('a')
    await rig.put('a', 'theirs')
    rig.nextStep()
    expect(outcomeOf(await rig.write('a', 'all new'))).toEqual(failed('FS_STALE_VERSION', /-mine[^]*\+theirs/))
    expect(outcomeOf(await rig.write('a', 'all new'))).toEqual(failed('FS_STALE_VERSION', /-mine[^]*\+theirs/))
    expect(await rig.contentOf('a')).toBe('theirs')
    rig.nextStep()
    expect((await rig.write('a', 'all new')).isError).toBe(false)
  })
  it('that came once more says what changed since it was told', async () => {
    await rig.put('a', '1')
    await rig.read('a')
    await rig.put('a', '2')
    rig.nextStep()
    await rig.edit('a', '2', 'x')
    await rig.put('a', '3')
    rig.nextStep()
    expect(outcomeOf(await rig.edit('a', '3', 'x'))).toEqual(failed('FS_STALE_VERSION', /-2[^]*\+3/))
  })
  it('follows an own change, too', async () => {
    await rig.write('a', 'one\n')
    await rig.put('a', 'one\ntwo\n')
    expect(outcomeOf(await rig.edit('a', 'one', 'x'))).toEqual(failed('FS_STALE_VERSION', /\+two/))
  })
  it('whose change is long shows its beginning and asks to read again', async () => {
    await rig.put('a', lines(10))
    await rig.read('a')
    await rig.put('a', `${lines(10)}${'y'.repeat(MAX_TOLD_CHARS)}\n`)
    rig.nextStep()
    const result = outcomeOf(await rig.edit('a', 'line 1\n', 'x\n'))
    expect(result).toEqual(failed('FS_STALE_VERSION', /The change begins so:\n@@ line 10 @@\n[^]*…\nRead it again, then repeat the change\.$/))
    expect(JSON.stringify(result).length).toBeLessThan(MAX_TOLD_CHARS + 1_000)
    rig.nextStep()
    expect(outcomeOf(await rig.edit('a', 'line 1\n', 'x\n'))).toEqual(failed('FS_STALE_VERSION'))
  })
  it('in which most lines differ says so', async () => {
    await rig.put('a', lines(400))
    await rig.read('a')
    await rig.put('a', lines(400).toUpperCase())
    expect(outcomeOf(await rig.edit('a', 'LINE 1\n', 'x\n'))).toEqual(failed('FS_STALE_VERSION', /Most of it is different\.\nRead it again/))
  })
  it('in line ends or encoding alone says that', async () => {
    await rig.put('a', 'one\ntwo\n')
    await rig.read('a')
    await rig.put('a', 'one\r\ntwo\r\n')
    expect(outcomeOf(await rig.edit('a', 'one', 'x'))).toEqual(failed('FS_STALE_VERSION', /Only its encoding or line ends are different\./))
  })
  it('of a file too large to keep asks to read it again', async () => {
    await rig.put('a', 'x'.repeat(300_000))
    await rig.read('a')
    await rig.put('a', 'y'.repeat(300_000))
    expect(outcomeOf(await rig.edit('a', 'y', 'x'))).toEqual(failed('FS_STALE_VERSION', /Read it again, then repeat the change\.$/))
  })
})
