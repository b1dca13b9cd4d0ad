import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ToolExecution } from '../../../../bosun.d.ts'
import { fillIn } from '../../../../extension/base/fill-in.ts'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import { Transcript } from '../../../../extension/host/transcript.ts'
import { countTool, extensionRig, textOf, type ExtensionRig } from '../../../support/extension-rig.ts'

let rig: ExtensionRig
let agent: Agent
let elsewhere: string
beforeAll(async () => {
  rig = await extensionRig()
  agent = await rig.newAgent()
  elsewhere = await realpath(await mkdtemp(join(tmpdir(), 'elsewhere-')))
})
afterAll(async () => {
  await rig.dispose()
  await rm(elsewhere, { recursive: true, force: true })
})
afterEach(async () => void (await reviews().keep(agent.session, { kind: 'all' })))

const reviews = () => rig.application.ctx.reviews
const at = (path: string) => join(rig.application.folder, path)
const onDisk = (path: string) => readFile(path, 'utf8').catch(() => null)

/** What a call comes to whose body does this. */
async function called(work: (exec: ToolExecution) => unknown, parts: object = {}) {
  const { dispose } = rig.join().registerTool(countTool({ execute: async (_args, exec) => (await work(exec), { letters: 1 }), ...parts }))
  try {
    const result = await rig.call(agent, 'acme_count', { text: 'four' })
    await reviews().file(agent.session, '')
    return { text: textOf(result), callId: result.message.source.callId, waiting: reviews().of(agent.session).files.map(({ path, steps }) => [path, steps.length]) }
  } finally {
    await dispose()
  }
}

/** What the end of the call's turn says was changed. */
function changedIn(callId: string) {
  const transcript = new Transcript({ find: (name) => rig.application.ctx.tools.get(name, null), l10n: { t: fillIn }, isKnownEvent: () => true })
  transcript.replay(agent.session.events())
  const rows = transcript.rows()
  const { turn } = rows.find((row) => row.kind === 'tool' && row.callId === callId)!
  return rows.flatMap((row) => (row.kind === 'turn-end' && row.turn === turn ? row.changedFiles : []))
}

describe('a file that another extension’s tool says it will change', () => {
  it.each([
    ['in the folder of the session, by its path there', () => 'a.txt', () => at('a.txt')],
    ['in it, by its whole path', () => at('b.txt'), () => at('b.txt')],
    ['elsewhere, where no watch looks', () => join(elsewhere, 'c.txt'), () => join(elsewhere, 'c.txt')],
  ])('waits for the person once, and comes back: %s', async (_where, said, path) => {
    await writeFile(path(), 'before\n')
    const { waiting, callId } = await called(async (exec) => {
      await exec.willChange(said())
      await writeFile(path(), 'between\n')
      await exec.willChange(said())
      await writeFile(path(), 'after\n')
    }, { presentResult: () => ({ card: 'diff', diffs: [{ path: path(), oldText: 'before\n', newText: 'after\n' }] }) })
    expect(waiting).toEqual([[path(), 1]])
    expect((await reviews().file(agent.session, path()))?.hunks).toMatchObject([{ removed: ['before\n'], added: ['after\n'] }])
    expect(changedIn(callId)).toEqual([{ path: path(), added: 1, removed: 1 }])
    expect(await reviews().undo(agent.session, { kind: 'call', callId })).toMatchObject({ paths: [path()], conflicts: [], problems: [] })
    expect(await onDisk(path())).toBe('before\n')
  })
  it('is gone again when there was none', async () => {
    const path = join(elsewhere, 'new.txt')
    const { waiting, callId } = await called(async (exec) => {
      await exec.willChange(path)
      await writeFile(path, 'new\n')
    })
    expect(waiting).toEqual([[path, 1]])
    await reviews().undo(agent.session, { kind: 'call', callId })
    expect(await onDisk(path)).toBeNull()
  })
  it('does not wait when it is as it was', async () => {
    await writeFile(join(elsewhere, 'same.txt'), 'same\n')
    expect((await called((exec) => exec.willChange(join(elsewhere, 'same.txt')))).waiting).toEqual([])
  })
  it('can be taken back also when the tool failed after it', async () => {
    const path = join(elsewhere, 'half.txt')
    await writeFile(path, 'whole\n')
    const { text, callId } = await called(async (exec) => {
      await exec.willChange(path)
      await writeFile(path, 'ha')
      throw new Error('the disk is full')
    })
    expect(text).toBe('Error: the disk is full')
    await reviews().undo(agent.session, { kind: 'call', callId })
    expect(await onDisk(path)).toBe('whole\n')
  })

  it.each<[string, (exec: ToolExecution) => unknown, object, RegExp]>([
    ['looks like a secret', (exec) => exec.willChange('.env'), {}, /\.env looks like a secret/],
    ['is no path', (exec) => exec.willChange(7 as never), {}, /willChange takes the path of a file/],
    ['is blank', (exec) => exec.willChange('  '), {}, /willChange takes the path of a file/],
    ['is of a tool that said it changes nothing', (exec) => exec.willChange('a.txt'), { readOnly: true }, /acme_count of acme\.sample is registered as readOnly/],
    ['is one too many', (exec) => Promise.all(Array.from({ length: 501 }, (_, index) => exec.willChange(join(elsewhere, `${index}.txt`)))), {}, /500 files at most/],
  ])('is refused, in words for the model, when it %s', async (_what, work, parts, words) => expect((await called(work, parts)).text).toMatch(words))
  it('is refused once the call has ended', async () => {
    let kept: ToolExecution | null = null
    await called((exec) => void (kept = exec))
    await expect(kept!.willChange('a.txt')).rejects.toThrow(/acme_count of acme\.sample has ended/)
  })
  it('is refused where the call ended while it was kept: nobody looks at it any more', async () => {
    let said: Promise<void> | null = null
    await writeFile(at('late.txt'), 'before\n')
    await called((exec) => {
      said = exec.willChange('late.txt')
      said.catch(() => undefined)
    })
    await expect(said).rejects.toThrow(/acme_count of acme\.sample has ended/)
  })
})
