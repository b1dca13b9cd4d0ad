import { access, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { SessionEvent } from '../../../extension/core/log/event.ts'
import { repeatReminder } from '../../../extension/core/tools/guards/repeat-reminder.ts'
import type { ToolDefinition } from '../../../extension/core/tools/definition.ts'
import type {} from '../../../extension/features/observation/service.ts'
import { fakeTool } from '../../support/loop-rig.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import type { SettingValues } from '../../support/memory-settings.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 19: guards and spill, through the application as it is shipped. */

let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  application = undefined
})

async function start(settings: SettingValues = {}, tools: readonly ToolDefinition[] = [], alter: Parameters<typeof wholeApplication>[0] = {}) {
  const whole = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'permissions.defaultPreset': 'danger-full-access', ...settings }, ...alter })
  application = whole
  const adapter = createScriptedAdapter()
  whole.ctx.models.register(adapter)
  for (const tool of tools) whole.ctx.tools.register(tool)
  const agent = await whole.ctx.agents.create({ cwd: whole.folder })
  let prompts = 0
  let calls = 0
  /** One turn in which the model makes calls, one a step. */
  const turn = async (...made: readonly (readonly [name: string, args: object])[]) => {
    const before = agent.session.length
    adapter.play(...made.map(([name, args]) => callTools({ id: `c${(calls += 1)}`, name, args })), sayText('Done.'))
    agent.followup({ id: `p${(prompts += 1)}`, role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await agent.whenIdle()
    return agent.session.events(before)
  }
  return { ...whole, whole, adapter, agent, turn, result: async (name: string, args: object) => resultsIn(await turn([name, args]))[0] ?? none }
}

const none = { isError: true, code: 'none', text: '' }
const resultsIn = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => {
    if (event.type !== 'tool/result') return []
    const [block] = event.data.message.content
    return [{ isError: block.isError, code: event.data.error?.code ?? '', text: block.content.map((part) => (part.type === 'text' ? part.text : '')).join('') }]
  })
const reminders = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === 'user/message' && event.data.source.kind === 'plugin' && event.data.source.plugin === 'repeat-reminder' ? event.data.content.map((part) => (part.type === 'text' ? part.text : '')) : []))

describe('time-out', () => {
  it('fires the signal of a tool that declares one, waits for the body, and names the duration', async () => {
    const clock = createManualClock()
    let ended = false
    const slow = fakeTool('glob2', (_args, { signal }) => {
      clock.advance(5_000)
      return new Promise((resolve) => {
        const end = () => {
          ended = true
          resolve('late')
        }
        if (signal.aborted) end()
        else signal.addEventListener('abort', end, { once: true })
      })
    }, { timeoutMs: 5_000 })
    const { ctx } = await start({}, [slow], { alter: (world) => ({ ...world, clock }) })
    const result = await ctx.tools.execute({ callId: 'c', name: 'glob2', arguments: {}, signal: new AbortController().signal })
    expect([ended, result.isError && result.error]).toEqual([true, { message: expect.stringContaining('5000 ms'), info: { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' } }])
  })
  it('leaves tools alone that declare none', async () => {
    const clock = createManualClock()
    const quick = fakeTool('glob2', () => {
      clock.advance(1_000_000)
      return 'done'
    })
    const { ctx } = await start({}, [quick], { alter: (world) => ({ ...world, clock }) })
    expect((await ctx.tools.execute({ callId: 'c', name: 'glob2', arguments: {}, signal: new AbortController().signal })).isError).toBe(false)
  })
  it('reports the cancel of a person as a cancel', async () => {
    const stop = new AbortController()
    const stopped = fakeTool('glob2', () => {
      stop.abort()
      return 'late'
    }, { timeoutMs: 60_000 })
    const { ctx } = await start({}, [stopped])
    const result = await ctx.tools.execute({ callId: 'c', name: 'glob2', arguments: {}, signal: stop.signal })
    expect(result.isError && result.error.info?.code).toBe('ABORTED')
  })
})

describe('repeat reminder', () => {
  const same = (times: number) => Array.from({ length: times }, () => ['read', { file_path: 'none.txt' }] as const)

  it('comes at 3, 5 and 8 in a row, first as a nudge, then with the arguments, and is silent after the last', async () => {
    const { turn } = await start()
    const told = reminders(await turn(...same(12)))
    expect(told.map((text) => text.includes('none.txt'))).toEqual([false, true, true])
  })
  it('never blocks', async () => {
    const { turn } = await start()
    expect(resultsIn(await turn(...same(4))).map(({ code }) => code)).toEqual(Array(4).fill('FS_NOT_FOUND'))
  })
  it('counts the same arguments in another order, and not other ones', async () => {
    const { turn } = await start()
    const calls = [{ pattern: 'a', path: '.' }, { path: '.', pattern: 'a' }, { pattern: 'a', path: '.' }].map((args) => ['grep', args] as const)
    expect([reminders(await turn(...calls)).length, reminders(await turn(['grep', { pattern: 'a' }], ['grep', { pattern: 'b' }], ['grep', { pattern: 'a' }])).length]).toEqual([1, 0])
  })
  it('cuts long arguments to 500 characters', async () => {
    const { turn } = await start()
    const [, second = ''] = reminders(await turn(...Array.from({ length: 5 }, () => ['grep', { pattern: 'z'.repeat(2_000) }] as const)))
    expect(second.includes('z'.repeat(400))).toBe(true)
    expect(second.includes('z'.repeat(501))).toBe(false)
  })
  it('starts over with a prompt of the person', async () => {
    const { turn } = await start()
    expect([reminders(await turn(...same(2))).length, reminders(await turn(...same(2))).length]).toEqual([0, 0])
  })
  it('counts denied calls', async () => {
    const { turn } = await start()
    expect(reminders(await turn(...Array.from({ length: 3 }, () => ['read', { file_path: '.env' }] as const))).length).toBe(1)
  })
  it('counts calls that were refused for their arguments, and those of a tool that is not there', async () => {
    const { turn } = await start()
    expect(reminders(await turn(...Array.from({ length: 3 }, () => ['read', { file_path: 7 }] as const))).length).toBe(1)
    expect(reminders(await turn(...Array.from({ length: 3 }, () => ['reed', {}] as const))).length).toBe(1)
  })
  it('lets tools that are made to be asked again pass as if they were not there', async () => {
    const { turn } = await start()
    expect([reminders(await turn(...Array.from({ length: 4 }, () => ['job_list', {}] as const))).length, reminders(await turn(...same(2), ['job_list', {}], ...same(1))).length]).toEqual([0, 1])
  })
  it('forgets over a restart', async () => {
    const { turn, agent, whole, adapter } = await start()
    await turn(...same(2))
    const again = await whole.restart()
    again.ctx.models.register(adapter)
    const reopened = await again.ctx.agents.resume(agent.id)
    adapter.play(callTools({ id: 'x', name: 'read', args: { file_path: 'none.txt' } }), sayText('Done.'))
    reopened.continueTurn()
    await reopened.whenIdle()
    expect(reminders(reopened.session.events())).toEqual([])
  })
  it.each([[[1]], [[3, 3]], [[2.5]], [[0]]])('refuses the thresholds %j when it is loaded', (thresholds) => expect(() => repeatReminder({ thresholds, newId: () => 'x' })).toThrow(RangeError))
})

describe('read before edit', () => {
  const edit = { file_path: 'a.txt', old_string: 'one', new_string: 'two' }
  const write = { file_path: 'a.txt', content: 'new' }
  const begin = async (content: string | null = 'one') => {
    const rig = await start()
    const path = join(rig.folder, 'a.txt')
    if (content !== null) await writeFile(path, content)
    return { ...rig, path }
  }
  it('an unseen file is not edited, and the model is told to read it', async () => {
    const { result, path } = await begin()
    expect([await result('edit', edit), await readFile(path, 'utf8')]).toEqual([{ isError: true, code: 'FS_NOT_OBSERVED', text: expect.stringContaining('Read it first') }, 'one'])
  })
  it('ours: what was read is known over a restart, and by its content, not its time', async () => {
    const { result, agent, whole, adapter, path } = await begin()
    await result('read', { file_path: 'a.txt' })
    const again = await whole.restart()
    again.ctx.models.register(adapter)
    const reopened = await again.ctx.agents.resume(agent.id)
    await utimes(path, new Date(), new Date(Date.now() + 60_000))
    adapter.play(callTools({ id: 'again', name: 'edit', args: edit }), sayText('Done.'))
    reopened.followup({ id: 'again', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await reopened.whenIdle()
    expect(await readFile(path, 'utf8')).toBe('two')
  })
  it('each session for itself: what another one read is unseen here', async () => {
    const { ctx, result, adapter, folder, path } = await begin()
    await result('read', { file_path: 'a.txt' })
    const other = await ctx.agents.create({ cwd: folder })
    adapter.play(callTools({ id: 'other', name: 'edit', args: edit }), sayText('Done.'))
    other.followup({ id: 'other', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await other.whenIdle()
    expect([resultsIn(other.session.events())[0]?.code, await readFile(path, 'utf8')]).toEqual(['FS_NOT_OBSERVED', 'one'])
  })
  it('a file seen to be absent is not found', async () => {
    const { result } = await begin(null)
    await result('read', { file_path: 'a.txt' })
    expect((await result('edit', edit)).code).toBe('FS_NOT_FOUND')
  })
  it.each([['edit', edit], ['write', write]] as const)('a file that changed since is stale for %s', async (name, args) => {
    const { result, path } = await begin()
    await result('read', { file_path: 'a.txt' })
    await writeFile(path, 'one, by someone else')
    expect([(await result(name, args)).code, await readFile(path, 'utf8')]).toEqual(['FS_STALE_VERSION', 'one, by someone else'])
  })
  it('a read file is edited, and again without another read', async () => {
    const { result, path } = await begin()
    await result('read', { file_path: 'a.txt' })
    await result('edit', edit)
    await result('edit', { file_path: 'a.txt', old_string: 'two', new_string: 'three' })
    expect(await readFile(path, 'utf8')).toBe('three')
  })
  it('what is not there is created by write, an unseen file is not replaced', async () => {
    const { result, path } = await begin(null)
    expect((await result('write', write)).isError).toBe(false)
    await writeFile(join(path, '../b.txt'), 'theirs')
    expect((await result('write', { ...write, file_path: 'b.txt' })).code).toBe('FS_NOT_OBSERVED')
  })
  it.each(['fs/write-intent', 'fs/edit-intent'] as const)('%s has one decider: the first that answers, and its throw fails the call', async (point) => {
    const { ctx, result, folder } = await begin()
    const asked: number[] = []
    const call = () => (point === 'fs/edit-intent' ? result('edit', edit) : result('write', { ...write, file_path: 'c.txt' }))
    const first = ctx.on(point, () => {
      asked.push(1)
      throw new Error('not today')
    })
    const passing = (_asked: unknown, next: () => Promise<unknown>) => {
      asked.push(2)
      return next()
    }
    // Each of the two points has a type of its own; what only passes on fits both.
    ctx.on(point, passing as never)
    const told = await call()
    expect([told.isError, told.text, asked]).toEqual([true, expect.stringContaining('not today'), [1]])
    first()
    await call()
    expect([asked, await readFile(join(folder, 'a.txt'), 'utf8')]).toEqual([[1, 2], 'one'])
  })
})

describe('spill', () => {
  const cap = { 'tools.maxInlineBytes': 2_000 }
  const many = { command: "printf 'line %s\\n' $(seq 1 2000)", description: 'x' }
  const pathIn = (text: string) => text.split(/\s/).map((word) => /^.*spill.*\.txt/.exec(word)?.[0]).find((path) => path !== undefined) ?? ''

  it('stores a long text whole and private, and puts head, tail and a notice within the cap in its place', async () => {
    const { result } = await start(cap)
    const { text } = await result('bash', many)
    const path = pathIn(text)
    expect([Buffer.byteLength(text) <= 2_000, text.includes('line 1\n'), text.includes('line 2000'), /\d+ bytes/.test(text)]).toEqual([true, true, true, true])
    expect((await readFile(path, 'utf8')).split('\n').length).toBeGreaterThan(1_999)
    expect([(await stat(path)).mode & 0o777, (await stat(dirname(path))).mode & 0o777]).toEqual([0o600, 0o700])
  })
  it('can be read back without a question', async () => {
    const { result } = await start({ ...cap, 'permissions.defaultPreset': 'read-only' })
    const { text } = await result('bash', { command: 'seq 1 2000', description: 'x' })
    expect((await result('read', { file_path: pathIn(text), offset: 1_000, limit: 1 })).isError).toBe(false)
  })
  it('is on at 50 000 bytes', async () => {
    const { result } = await start()
    const say = (bytes: number) => ({ command: `head -c ${bytes} /dev/zero | tr '\\0' x`, description: 'x' })
    expect([pathIn((await result('bash', say(50_000))).text), pathIn((await result('bash', say(50_001))).text) !== '']).toEqual(['', true])
  })
  it('goes with its session', async () => {
    const { result, agent, ctx } = await start(cap)
    const path = pathIn((await result('bash', many)).text)
    await access(path)
    await agent.dispose()
    await ctx.sessions.remove(agent.id)
    await expect(access(path)).rejects.toThrow('ENOENT')
  })
  it('leaves what read gives alone, and everything when it is off', async () => {
    const long = 'x '.repeat(4_000)
    const { result, folder } = await start({ 'tools.maxInlineBytes': 0 })
    await writeFile(join(folder, 'a.txt'), long)
    expect(pathIn((await result('bash', many)).text)).toBe('')
    expect((await result('read', { file_path: 'a.txt' })).text).not.toContain('are left out')
  })
  it('that fails leaves the result as it is', async () => {
    const { result } = await start(cap, [], { alter: (world) => ({ ...world, blobs: Object.assign(world.blobs, { putSpill: () => Promise.reject(new Error('full')) }) }) })
    expect((await result('bash', many)).isError).toBe(false)
  })
})
