import { mkdtemp, readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import { NodeEventStore } from '../../../extension/platform/node/event-store.ts'
import type { Session } from '../../../extension/core/session/session.ts'
import { storedLines } from '../../support/log-rules.ts'
import { createLoopRig, fakeTool, gate, linesOf, prompt as promptMessage, settled, type LoopRigOptions } from '../../support/loop-rig.ts'
import { createMemoryEventStore } from '../../support/memory-event-store.ts'
import { callTools, sayText } from '../../support/scripted-adapter.ts'
import { createSessionRig } from '../../support/session-rig.ts'
import { chunk, prompt, stepEnd, stepStart, textDelta, turnEnd, turnStart, wholeTurn } from '../../support/session-talk.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** The folder of the sessions, and a window on it: each window is a host with a store of its own. */
async function disk() {
  const root = await mkdtemp(join(tmpdir(), 'bosun-log-'))
  undo.push(() => rm(root, { recursive: true, force: true }))
  const open = async (times: { readonly heartbeatMs?: number; readonly staleMs?: number } = {}) => {
    const rig = await createSessionRig({ events: new NodeEventStore({ root, ...times }) })
    undo.push(() => rig.kernel.dispose())
    return rig
  }
  return { root, open, log: (id = 's') => readFile(join(root, id, 'events.jsonl'), 'utf8'), file: (id = 's') => join(root, id, 'events.jsonl') }
}
const appendAll = (session: Session, drafts: readonly EventDraft[]) => void drafts.map((draft) => session.append(draft))
async function started(): Promise<WholeApplication> {
  const application = await wholeApplication()
  undo.push(() => application.dispose())
  return application
}

describe('12.1 the store', () => {
  it('is one folder a session: a header, then one event a line, numbered without a gap', async () => {
    const { open, log, root } = await disk()
    const session = await (await open()).sessions.create({ cwd: '/project', id: 's' })
    appendAll(session, wholeTurn(1))
    await session.close()
    const text = await log()
    expect(JSON.parse(text.split('\n')[0]!)).toEqual(session.header)
    let next = 0
    for (const line of storedLines(text)) {
      expect(line['seq']).toBe(next)
      next += Array.isArray(line['deltas']) ? line['deltas'].length : 1
    }
    expect([next, (await readdir(join(root, 's'))).sort()]).toEqual([session.length, ['events.jsonl', 'note.json']])
  })
  it('packs runs of three parts and more, of text, reasoning and calls, and unpacks to the very events', async () => {
    const { open, log } = await disk()
    const session = await (await open()).sessions.create({ cwd: '/project', id: 's' })
    const parts = (count: number, make: (word: string) => EventDraft) => Array.from({ length: count }, (_, index) => make(`w${index}`))
    appendAll(session, [
      turnStart(1), stepStart(1, 1),
      ...parts(3, (word) => textDelta(1, 1, word)),
      ...parts(3, (word) => chunk(1, 1, { type: 'reasoning-delta', index: 1, delta: word })),
      ...parts(3, (word) => chunk(1, 1, { type: 'tool-call-delta', index: 2, argumentsDelta: word })),
      ...parts(2, (word) => textDelta(1, 1, word, 3)),
      stepEnd(1, 1), turnEnd(1),
    ])
    const events = session.events()
    await session.close()
    const types = storedLines(await log()).map(({ type }) => type)
    expect(types).toEqual(['turn/start', 'step/start', 'text-chunks', 'reasoning-chunks', 'tool-call-chunks', 'assistant/chunk', 'assistant/chunk', 'step/end', 'turn/end'])
    const again = await (await open()).sessions.open('s')
    expect(again.events(0, events.length)).toEqual(events)
  })
  it('a session nobody used leaves nothing, whoever opened an agent for it', async () => {
    const application = await started()
    const agent = await application.ctx.agents.create({ cwd: application.folder, preset: 'ask' })
    await agent.dispose()
    await application.ctx.sessions.create({ cwd: application.folder })
    const { ctx } = await application.restart()
    expect(await ctx.sessions.list()).toEqual([])
  })
  it('what a session begins with waits for the first thing that is more, and is then there before it', async () => {
    const store = createMemoryEventStore()
    const { sessions } = await createSessionRig({ events: store })
    const session = await sessions.create({ cwd: '/project', id: 's' })
    appendAll(session, [{ type: 'permission/preset', data: { preset: 'read-only' } }, { type: 'sandbox/mode', data: { mode: 'read-only' } }])
    await session.flush()
    expect(store.disk.logs.size).toBe(0)
    session.append(prompt('x'))
    await session.flush()
    expect(store.lines('s').map(({ type }) => type)).toEqual(['permission/preset', 'sandbox/mode', 'user/message'])
  })
  it('the first append makes it, and a session is on the disk 200 ms later without any flush', async () => {
    const store = createMemoryEventStore()
    const { sessions, clock } = await createSessionRig({ events: store })
    const session = await sessions.create({ cwd: '/project', id: 's' })
    session.append(prompt('x'))
    clock.advance(199)
    await settled()
    expect(store.disk.logs.size).toBe(0)
    clock.advance(1)
    await settled()
    expect(store.lines('s').map(({ type }) => type)).toEqual(['user/message'])
  })
  it.each([
    ['a gap', (text: string) => `${text}${JSON.stringify({ type: 'turn/start', seq: 99, time: 0, data: { turn: 2 } })}\n`, /should be number \d+ and says 99/],
    ['a number twice', (text: string) => `${text}${JSON.stringify({ type: 'turn/start', seq: 0, time: 0, data: { turn: 2 } })}\n`, /should be number \d+ and says 0/],
    ['half a line', (text: string) => `${text}{"type":"tu`, /torn/],
  ])('%s ends the log before it; what is cut is kept beside, and the session says so', async (_what, damage, reason) => {
    const { open, log, file, root } = await disk()
    const session = await (await open()).sessions.create({ cwd: '/project', id: 's' })
    appendAll(session, wholeTurn(1))
    await session.close()
    const { length } = session
    const text = await log()
    await writeFile(file(), damage(text))
    const again = await (await open()).sessions.open('s')
    expect(again.events(0, length)).toEqual(session.events())
    expect(again.events(length)).toMatchObject([{ type: 'log/repaired', data: { keptAs: 'events.jsonl.cut-1', reason: expect.stringMatching(reason) } }, { type: 'session/end-seed' }])
    expect(await readFile(join(root, 's', 'events.jsonl.cut-1'), 'utf8')).toBe(damage(text).slice(text.length))
  })
  it('one window writes: another opens for reading, knows the writer, and writes once that one has closed', async () => {
    const { open } = await disk()
    const [one, two] = [await open(), await open()]
    const writer = await one.sessions.create({ cwd: '/project', id: 's' })
    appendAll(writer, wholeTurn(1))
    await writer.flush()
    const reader = await two.sessions.open('s')
    expect([reader.access, reader.writer?.pid, reader.length]).toEqual(['read-only', process.pid, writer.length])
    expect(() => reader.append(prompt('x'))).toThrow(expect.objectContaining({ code: 'READ_ONLY' }))
    await writer.close()
    const next = await two.sessions.open('s')
    next.append(prompt('x'))
    await next.flush()
    expect(next.access).toBe('write')
  })
  it('a writer that lost its lease writes nothing more', async () => {
    const { open, log } = await disk()
    const [one, two] = [await open({ heartbeatMs: 60_000, staleMs: 40 }), await open({ heartbeatMs: 20, staleMs: 40 })]
    const old = await one.sessions.create({ cwd: '/project', id: 's' })
    appendAll(old, wholeTurn(1))
    await old.flush()
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect((await two.sessions.open('s')).access).toBe('write')
    old.append(prompt('lost'))
    await expect(old.flush()).rejects.toMatchObject({ code: 'WRITE_FAILED' })
    expect([old.access, (await log()).includes('lost')]).toEqual(['read-only', false])
  })
  it('what is kept beside a log is derived: without it the list is the same', async () => {
    const { open, root } = await disk()
    const session = await (await open()).sessions.create({ cwd: '/project', id: 's' })
    appendAll(session, wholeTurn(1))
    await session.close()
    const before = await (await open()).sessions.list()
    await unlink(join(root, 's', 'note.json'))
    expect(await (await open()).sessions.list()).toEqual(before)
  })
  it('the newest events are read without the rest', async () => {
    const { open } = await disk()
    const session = await (await open()).sessions.create({ cwd: '/project', id: 's' })
    appendAll(session, [...wholeTurn(1), ...wholeTurn(2)])
    await session.close()
    const { header, events } = await (await open()).sessions.readTail('s', 5)
    expect([header, events]).toEqual([session.header, session.events(session.length - 5)])
  })
})

describe('12.2 durable before effects', () => {
  async function agentOn(options: LoopRigOptions) {
    const rig = createLoopRig(options)
    const agent = await rig.newAgent()
    const say = async (...texts: readonly string[]) => {
      for (const text of texts) agent.followup(promptMessage(text))
      await agent.whenIdle()
    }
    const lastReason = () => agent.session.events().findLast((event) => event.type === 'turn/end')?.data.reason
    return { ...rig, agent, say, lastReason }
  }
  const diskFull = { kind: 'error', failure: { message: expect.stringContaining('disk full') } }

  it('no request leaves before what it is made of is on the disk', async () => {
    const rig = createLoopRig({ answers: [(request) => {
      const stored = JSON.stringify(rig.store.lines(request.sessionId ?? ''))
      return sayText(stored.includes('"text":"hi"') && stored.includes('request/header') && stored.includes('request/context') ? 'durable' : 'too early')
    }] })
    const agent = await rig.newAgent()
    agent.followup(promptMessage('hi'))
    await agent.whenIdle()
    expect(linesOf(agent.session)).toContain('assistant durable')
  })
  it('a request is not made when that fails', async () => {
    const { store, say, adapter, lastReason } = await agentOn({ answers: [sayText('x')] })
    store.failWrites('disk full')
    await say('hi')
    expect([adapter.requests, lastReason()]).toMatchObject([[], diskFull])
  })
  it('a body that may change something does not run when that fails', async () => {
    let ran = false
    const rig = await agentOn({
      answers: [callTools({ id: 'a', name: 'act', args: {} }), sayText('x')],
      tools: [fakeTool('act', () => ((ran = true), 'ok'))],
    })
    rig.ctx.on('tools/pre-execute', (_exec, next) => (rig.store.failWrites('disk full'), next()))
    await rig.say('hi')
    expect([ran, rig.adapter.requests.length, rig.lastReason()]).toMatchObject([false, 1, diskFull])
    expect(linesOf(rig.agent.session)).toContain('result a WRITE_FAILED')
  })
  it('a call within a call relies on the outer one', async () => {
    let flushes = 0
    const rig = await agentOn({
      answers: [callTools({ id: 'a', name: 'act', args: {} }), sayText('x')],
      tools: [
        fakeTool('act', async (_args, exec) => {
          const before = flushes
          await rig.ctx.tools.execute({ callId: 'b', name: 'look', arguments: {}, agent: exec.agent!, parent: exec.token, signal: exec.signal })
          return String(flushes - before)
        }),
        fakeTool('look'),
      ],
    })
    rig.ctx.on('session/flush', () => void flushes++)
    await rig.say('hi')
    expect(JSON.stringify(rig.agent.session.messages())).toContain('"text":"0"')
  })
  it('a turn whose end cannot be kept is an error, told once, and the next prompt waits', async () => {
    const open = gate()
    const rig = await agentOn({ answers: [[{ type: 'wait', until: open.opened }, ...sayText('x')], sayText('y')] })
    const errors: string[] = []
    rig.ctx.on('agent/error', ({ error }) => void errors.push(error.message))
    for (const text of ['a', 'b']) rig.agent.followup(promptMessage(text))
    await settled()
    rig.store.failWrites('disk full')
    open.open()
    await rig.agent.whenIdle()
    expect([errors.length, errors[0], rig.adapter.requests.length, rig.agent.inbox.nextTurn.length]).toEqual([1, expect.stringContaining('disk full'), 1, 1])
  })
  it('several that wait share one write', async () => {
    const { open } = await disk()
    const session = await (await open()).sessions.create({ cwd: '/project', id: 's' })
    const done: string[] = []
    const flushed = async (text: string) => {
      session.append(prompt(text))
      await session.flush()
      done.push(text)
    }
    await Promise.all(['a', 'b', 'c'].map(flushed))
    expect(done).toEqual(['a', 'b', 'c'])
  })
  it('a store that failed once fails for good, until the session is opened again', async () => {
    const store = createMemoryEventStore()
    const { sessions } = await createSessionRig({ events: store })
    const session = await sessions.create({ cwd: '/project', id: 's' })
    appendAll(session, wholeTurn(1))
    await session.flush()
    store.failWrites('disk full')
    session.append(prompt('lost'))
    for (let round = 0; round < 2; round++) await expect(session.flush()).rejects.toMatchObject({ code: 'WRITE_FAILED' })
    store.crash()
    const again = await (await createSessionRig({ events: createMemoryEventStore({ disk: store.disk }) })).sessions.open('s')
    expect(again.events(0, session.length - 1)).toEqual(session.events(0, session.length - 1))
  })
})
