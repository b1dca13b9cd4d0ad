import { realpathSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FileSystem } from '../../../../extension/capabilities/file-system.ts'
import type { ToolResult } from '../../../../extension/core/tools/definition.ts'
import { newProblemsPlugin } from '../../../../extension/features/new-problems/plugin.ts'
import { observationPlugin } from '../../../../extension/features/observation/plugin.ts'
import { NodeFileSystem } from '../../../../extension/platform/node/file-system.ts'
import { presentResult } from '../../../../extension/tools/files/edit.card.ts'
import { fileTools } from '../../../../extension/tools/files/plugin.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createFakeProblemFeed, problemAt, type FakeProblemFeed } from '../../../support/fake-problem-feed.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createMemoryBlobStore } from '../../../support/memory-blob-store.ts'
import { noEditor } from '../../../support/no-editor.ts'
import { createToolBench, textOf, type RunOptions } from '../../../support/tool-bench.ts'

const WAIT_MS = 1_500
const TOLD = /The editor now finds/

let folder: string
let path: string
beforeEach(async () => {
  folder = realpathSync(await mkdtemp(join(tmpdir(), 'bosun-problems-')))
  path = join(folder, 'a.ts')
})
afterEach(() => rm(folder, { recursive: true }))

/** The file tools with language services that the test plays, and a clock that it turns. */
async function rig({ waitMs = WAIT_MS, hasEditor = true }: { readonly waitMs?: number; readonly hasEditor?: boolean } = {}) {
  const bench = createToolBench(createFakeAgent({ cwd: folder }))
  const files: FileSystem = new NodeFileSystem()
  const [feed, clock] = [createFakeProblemFeed(), createManualClock()]
  await bench.mount(observationPlugin({ files, dispatch: bench.kernel.dispatch, logger: bench.logger }))
  await bench.mount(fileTools({ ...noEditor, files, blobs: createMemoryBlobStore() }))
  const fiber = await bench.mount(newProblemsPlugin({ feed: hasEditor ? feed : undefined, files, clock, waitMs: () => waitMs }))
  const edit = (from: string, to: string, options?: RunOptions) => bench.run('edit', { file_path: path, old_string: from, new_string: to }, options)
  return {
    ...bench,
    feed,
    clock,
    fiber,
    edit,
    /** A file that a person has open and the model has read. */
    async open(text: string, version = 1) {
      await writeFile(path, text)
      feed.setOpen(path, version)
      await bench.run('read', { file_path: path })
    },
    /** Until the call waits for the services. */
    waits: () => vi.waitFor(() => expect(clock.waiting).toBeGreaterThan(0), 50_000),
    /** The services find this in the text of that version, and all is there. */
    finds(problems: Parameters<FakeProblemFeed['publish']>[1], version: number) {
      feed.publish(path, problems, version)
      clock.advance(200)
    },
  }
}
const isTold = (result: ToolResult) => TOLD.test(textOf(result))

describe('a change to a file that is open', () => {
  it('is followed by what is new, in the text, the value and the card', async () => {
    const { open, edit, waits, finds, feed } = await rig()
    await open('let a\nlet b\n')
    feed.publish(path, [problemAt(2, 'old')], 1)
    const call = edit('let a', 'let a = x')
    await waits()
    finds([problemAt(1, 'Cannot find x.', { source: 'ts 2304' }), problemAt(2, 'old')], 2)
    const result = await call
    const newProblems = { errors: 1, warnings: 0, first: [{ line: 1, severity: 'error', message: 'Cannot find x.', source: 'ts 2304' }] }
    expect(textOf(result)).toMatch(/It now reads:\n1: let a = x\n2: let b\nThe editor now finds 1 error in the file, which the text before this change did not have:\n {2}line 1: error: Cannot find x\. \[ts 2304\]$/)
    expect(result).toMatchObject({ value: { newProblems } })
    expect(presentResult({ file_path: path, old_string: '', new_string: '' }, result)).toMatchObject({ card: 'diff', note: 'New: 1 error. Line 1: Cannot find x.' })
  })
  it('is told nothing when the services find what they found before', async () => {
    const { open, edit, waits, finds, feed } = await rig()
    await open('a')
    feed.publish(path, [problemAt(1, 'old')], 1)
    const call = edit('a', '\na')
    await waits()
    finds([problemAt(2, 'old')], 2)
    expect(isTold(await call)).toBe(false)
  })
  it('waits for the new text: what comes late for the old one does not count', async () => {
    const { open, edit, waits, finds, clock } = await rig()
    await open('a')
    const call = edit('a', 'b')
    await waits()
    finds([problemAt(1, 'phantom')], 1)
    finds([problemAt(1, 'true')], 2)
    expect(textOf(await call)).toMatch(/true/)
    expect(clock.waiting).toBe(0)
  })
  it('takes all parts that the services publish one after the other', async () => {
    const { open, edit, waits, feed, clock } = await rig()
    await open('a')
    const call = edit('a', 'b')
    await waits()
    feed.publish(path, [], 2)
    clock.advance(150)
    feed.publish(path, [problemAt(1, 'types')], 2)
    clock.advance(200)
    expect(textOf(await call)).toMatch(/types/)
  })
  it('goes on without a word when nothing comes in time', async () => {
    const { open, edit, waits, clock } = await rig()
    await open('a')
    const call = edit('a', 'b')
    await waits()
    clock.advance(WAIT_MS)
    expect([isTold(await call), clock.waiting]).toEqual([false, 0])
  })
  it('waits no longer than the stop of the call, and the change stands', async () => {
    const { open, edit, waits, clock } = await rig()
    await open('a')
    const stop = new AbortController()
    const call = edit('a', 'b', { signal: stop.signal })
    await waits()
    stop.abort()
    expect([(await call).isError, clock.waiting, await readFile(path, 'utf8')]).toEqual([true, 0, 'b'])
  })
})

describe('a change to a file that is not open', () => {
  it('opens it first, so that its old problems are known', async () => {
    const { run, edit, waits, finds, feed } = await rig()
    await writeFile(path, 'a')
    await run('read', { file_path: path })
    const call = edit('a', 'b')
    await waits()
    expect(await readFile(path, 'utf8')).toBe('a')
    finds([problemAt(1, 'old')], 1)
    await vi.waitFor(() => expect(feed.opened).toHaveLength(2), 50_000)
    await waits()
    finds([problemAt(1, 'old'), problemAt(1, 'new')], 2)
    const text = textOf(await call)
    expect([feed.opened[0], /new/.test(text), /old/.test(text)]).toEqual([path, true, false])
  })
  it('is told nothing while its old problems are unknown, also at the next change', async () => {
    const { run, edit, waits, finds, clock, feed } = await rig()
    await writeFile(path, 'a')
    await run('read', { file_path: path })
    const first = edit('a', 'b')
    await waits()
    clock.advance(WAIT_MS)
    expect(isTold(await first)).toBe(false)
    expect(isTold(await edit('b', 'c'))).toBe(false)
    feed.publish(path, [problemAt(1, 'old')], 3)
    const third = edit('c', 'd')
    await waits()
    finds([problemAt(1, 'old'), problemAt(1, 'new')], 4)
    expect(textOf(await third)).toMatch(/new/)
  })
  it('a new file has no old problems', async () => {
    const { run, waits, finds } = await rig()
    const call = run('write', { file_path: path, content: 'x' })
    await waits()
    finds([problemAt(1, 'new', { severity: 'warning' })], 1)
    expect(textOf(await call)).toMatch(/1 warning in the file/)
  })
  it('is left alone when the editor cannot open it', async () => {
    const { run, edit, feed, clock } = await rig()
    await writeFile(path, 'a')
    await run('read', { file_path: path })
    feed.refuse(path)
    expect([(await edit('a', 'b')).isError, clock.waiting]).toEqual([false, 0])
  })
})

it('str_replace_editor tells it in its text', async () => {
  const { open, run, waits, finds } = await rig()
  await open('a')
  const call = run('str_replace_editor', { command: 'str_replace', path, old_str: 'a', new_str: 'b' })
  await waits()
  finds([problemAt(1, 'new')], 2)
  expect(textOf(await call)).toMatch(/^Replaced the text in .*\nThe editor now finds 1 error/)
})

it('a language whose services never speak is waited for three times, then no more until they do', async () => {
  const { open, edit, waits, clock, feed } = await rig()
  await open('0')
  for (let count = 0; count < 3; count += 1) {
    const call = edit(String(count), String(count + 1))
    await waits()
    clock.advance(WAIT_MS)
    await call
  }
  expect([(await edit('3', '4')).isError, clock.waiting]).toEqual([false, 0])
  feed.publish(join(folder, 'other.ts'), [], 1)
  const call = edit('4', '5')
  await waits()
  clock.advance(WAIT_MS)
  expect((await call).isError).toBe(false)
})

describe('there is no wait', () => {
  it.each([
    ['without an editor', { hasEditor: false }, {}],
    ['with a wait of 0', { waitMs: 0 }, {}],
    ['for the call of a program', {}, { isNested: true }],
  ])('%s', async (_name, options, run) => {
    const { open, edit, clock, feed } = await rig(options)
    await open('a')
    expect([(await edit('a', 'b', run)).isError, clock.waiting, feed.opened]).toEqual([false, 0, []])
  })
  it('for a change that failed, one that changed nothing, and a look', async () => {
    const { open, edit, run, clock } = await rig()
    await open('a')
    expect((await edit('nowhere', 'b')).isError).toBe(true)
    expect((await run('write', { file_path: path, content: 'a' })).isError).toBe(false)
    expect((await run('str_replace_editor', { command: 'view', path })).isError).toBe(false)
    expect(clock.waiting).toBe(0)
  })
  it('once the plugin is gone', async () => {
    const { open, edit, fiber, clock, feed } = await rig()
    await open('a')
    await fiber.dispose()
    expect([(await edit('a', 'b')).isError, clock.waiting, feed.opened]).toEqual([false, 0, []])
  })
})
