import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createFolders, runHeadless } from '../support/headless.ts'
import { logsIn, readLog } from '../support/stored-logs.ts'
import { startModelServer } from '../support/model-server.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function setUp() {
  const { paths, remove } = createFolders('work', 'store', 'other')
  const [work = '', store = '', other = ''] = paths
  mkdirSync(work)
  const server = await startModelServer({ steps: [{ answer: { parts: [{ text: 'Hello back.' }] } }] })
  cleanUps.push(remove, () => server.close())
  const run = (...more: string[]) => runHeadless(['run', '--cwd', work, '--base-url', server.url, '--model', 'scripted', '--storage', store, ...more])
  return { work, store, other, server, run, out: join(work, 'talk.zip') }
}

/** The id of the only session in a storage folder. */
const idIn = (storage: string) => String(readLog(logsIn(storage)[0] ?? '').header['id'])
const typesOf = (lines: readonly Record<string, unknown>[]) => lines.map((line) => line['type'])

describe('a prompt that is a command', () => {
  it('runs and is no turn', async () => {
    const { run, server } = await setUp()
    const { code, lines, stderr } = await run('--prompt', '/model')
    expect([code, stderr]).toEqual([0, expect.stringContaining('headless/scripted')])
    expect(typesOf(lines).slice(-2)).toEqual(['command/run', 'command/done'])
    expect(server.chats()).toEqual([])
  })

  it('fails with the reason', async () => {
    const { run } = await setUp()
    const { code, stderr } = await run('--prompt', '/rename')
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be blank')])
  })

  it('counts as a bad argument when it is none', async () => {
    const { run } = await setUp()
    const { code, lines, stderr } = await run('--prompt', '/renam x')
    expect([code, stderr]).toEqual([2, expect.stringContaining('Did you mean /rename?')])
    expect(typesOf(lines)).not.toContain('command/run')
  })

  it('is words to the model behind two slashes', async () => {
    const { run, server } = await setUp()
    expect((await run('--prompt', '//model is a word')).code).toBe(0)
    expect(server.chats()[0]?.body).toContain('"/model is a word"')
  })
})

describe('sessions as files', () => {
  it('go out as a ZIP and come in elsewhere, where they can be continued', async () => {
    const { run, store, other, work, out } = await setUp()
    await run('--prompt', 'hello')
    const id = idIn(store)
    expect(await runHeadless(['export', id, '--out', out, '--storage', store])).toMatchObject({ code: 0, lines: [{ sessions: [id], file: out }] })
    expect(await runHeadless(['import', out, '--cwd', work, '--storage', other])).toMatchObject({ code: 0, lines: [{ sessions: [id] }] })
    const { rows } = readLog(logsIn(other)[0] ?? '')
    expect(typesOf(rows)).toEqual(expect.arrayContaining(['user/message', 'assistant/message', 'sandbox/mode']))
  })

  it('go out as a document', async () => {
    const { run, store, work } = await setUp()
    await run('--prompt', 'hello')
    const path = join(work, 'talk.md')
    expect((await runHeadless(['export', idIn(store), '--out', path, '--storage', store, '--form', 'markdown'])).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toMatch(/^# hello\n[\s\S]*## You\n\nhello\n\n## Bosun\n\nHello back\.\n$/)
  })

  it('never go over a file that is there', async () => {
    const { run, store, out } = await setUp()
    await run('--prompt', 'hello')
    writeFileSync(out, 'mine')
    const { code, stderr } = await runHeadless(['export', idIn(store), '--out', out, '--storage', store])
    expect([code, readFileSync(out, 'utf8'), stderr]).toEqual([2, 'mine', expect.stringContaining('is there already')])
  })

  it('say why they cannot', async () => {
    const { store, work, out } = await setUp()
    expect(await runHeadless(['export', 'gone', '--out', out, '--storage', store])).toMatchObject({ code: 1, stderr: expect.stringContaining('no session "gone"') as string })
    writeFileSync(out, 'no archive')
    expect(await runHeadless(['import', out, '--cwd', work, '--storage', store])).toMatchObject({ code: 1, stderr: expect.stringContaining('no JSON object') as string })
    expect(await runHeadless(['import', join(work, 'gone.zip'), '--cwd', work, '--storage', store])).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read') as string })
    expect(await runHeadless(['import', '/dev/zero', '--cwd', work, '--storage', store])).toMatchObject({ code: 2, stderr: expect.stringContaining('not a file') as string })
  })
})
