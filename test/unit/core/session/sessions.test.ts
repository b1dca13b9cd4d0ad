import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../extension/base/json.ts'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import type { Session } from '../../../../extension/core/session/session.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createMemoryDisk, createMemoryEventStore, type MemoryDisk } from '../../../support/memory-event-store.ts'
import { createSessionRig } from '../../../support/session-rig.ts'
import { answer, call, prompt, result, stepStart, turnStart, wholeTurn } from '../../../support/session-talk.ts'

const appendAll = (session: Session, drafts: readonly EventDraft[]) => {
  for (const draft of drafts) session.append(draft)
}
const typesOf = (session: Session) => session.events().map(({ type }) => type)
const clock = createManualClock()
const windowOn = async (disk: MemoryDisk, hasTitles = false) => {
  const events = createMemoryEventStore({ disk, now: () => clock.now() })
  return { events, ...(await createSessionRig({ events, clock, hasTitles })) }
}
/** A disk with the closed session `a`. */
const stored = async (drafts: readonly EventDraft[]) => {
  const disk = createMemoryDisk()
  const { sessions } = await windowOn(disk)
  const session = await sessions.create({ cwd: '/project', id: 'a' })
  appendAll(session, drafts)
  await session.close()
  return disk
}
/** A disk with the session `a` as a kill right after these events leaves it. */
const killed = async (drafts: readonly EventDraft[]) => {
  const disk = createMemoryDisk()
  const { sessions, events } = await windowOn(disk)
  const session = await sessions.create({ cwd: '/project', id: 'a' })
  appendAll(session, drafts)
  await session.flush()
  events.crash()
  return disk
}
const rewriteHeader = (disk: MemoryDisk, change: JsonObject) => {
  const log = disk.logs.get('a')!
  const [header, ...rest] = log.text.split('\n')
  log.text = [JSON.stringify({ ...(JSON.parse(header!) as JsonObject), ...change }), ...rest].join('\n')
}

describe('creating a session', () => {
  it('gives it a header with what it was asked for, frozen', async () => {
    const { sessions } = await windowOn(createMemoryDisk())
    const session = await sessions.create({ cwd: '/project', agentPreset: 'editor', origin: 'subagent', parentSession: 'p', delegationDepth: 1 })
    expect(session.header).toEqual({
      version: 0,
      id: '0'.repeat(31) + '1',
      createdAt: clock.now(),
      cwd: '/project',
      agentPreset: 'editor',
      origin: 'subagent',
      parentSession: 'p',
      delegationDepth: 1,
    })
    expect(Object.isFrozen(session.header)).toBe(true)
    expect([session.access, session.length, sessions.live(session.id) === session]).toEqual(['write', 0, true])
  })

  it.each(['work', './project', '', 'C:work'])('refuses the folder %j, which is not absolute', async (cwd) => {
    const { sessions } = await windowOn(createMemoryDisk())
    await expect(sessions.create({ cwd })).rejects.toMatchObject({ code: 'INVALID_CWD' })
  })
  it.each(['/project', String.raw`C:\work`, 'vscode-remote://host/project'])('takes the folder %j', async (cwd) => {
    const { sessions } = await windowOn(createMemoryDisk())
    expect((await sessions.create({ cwd })).header.cwd).toBe(cwd)
  })

  it('refuses an id that is taken, on the disk or by a session without events', async () => {
    const { sessions } = await windowOn(await stored(wholeTurn(1)))
    await expect(sessions.create({ cwd: '/project', id: 'a' })).rejects.toMatchObject({ code: 'SESSION_ALREADY_EXISTS' })
    await sessions.create({ cwd: '/project', id: 'b' })
    await expect(sessions.create({ cwd: '/project', id: 'b' })).rejects.toMatchObject({ code: 'SESSION_ALREADY_EXISTS' })
  })

  it('tells after it can be found, and is taken back when a listener throws', async () => {
    const { sessions, kernel, events } = await windowOn(createMemoryDisk())
    const seen: string[] = []
    kernel.root.on('session/disposed', () => void seen.push('disposed'))
    kernel.root.on('session/created', (session) => {
      seen.push(`created ${sessions.live(session.id) === session}`)
      throw new Error('veto')
    })
    await expect(sessions.create({ cwd: '/project', id: 'a' })).rejects.toThrow('veto')
    expect(seen).toEqual(['created true', 'disposed'])
    expect([sessions.live('a'), events.disk.logs.size]).toEqual([undefined, 0])
  })
})

describe('opening a session', () => {
  it('gives back the same talk and marks the end of what was there, once', async () => {
    const disk = await stored(wholeTurn(1))
    const first = await (await windowOn(disk)).sessions.open('a')
    expect(typesOf(first)).toEqual([...wholeTurn(1).map(({ type }) => type), 'session/end-seed'])
    const derived = [first.messages(), first.surface(), first.projections()]
    await first.close()
    const again = await (await windowOn(disk)).sessions.open('a')
    expect(again.events()).toEqual(first.events())
    expect([again.messages(), again.surface(), again.projections()]).toEqual(derived)
    expect([...again.events(), ...again.messages()].every(Object.isFrozen)).toBe(true)
  })

  it('gives a live session as it is, also to two who ask at once', async () => {
    const { sessions } = await windowOn(await stored(wholeTurn(1)))
    const [one, two] = await Promise.all([sessions.open('a'), sessions.open('a')])
    expect(one).toBe(two)
    expect(await sessions.open('a')).toBe(one)
  })

  it('goes on numbering turns', async () => {
    const { sessions } = await windowOn(await stored(wholeTurn(1)))
    const session = await sessions.open('a')
    expect(() => session.append(turnStart(1))).toThrow('turn 2 comes next')
    appendAll(session, wholeTurn(2))
    await session.close()
  })

  it('refuses one that is not there', async () => {
    const { sessions } = await windowOn(createMemoryDisk())
    await expect(sessions.open('a')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })

  describe('refuses, leaves the file and frees it:', () => {
    const check = async (change: (disk: MemoryDisk) => void, code: string, message: RegExp) => {
      const disk = await stored(wholeTurn(1))
      change(disk)
      const { text } = disk.logs.get('a')!
      const { sessions } = await windowOn(disk)
      await expect(sessions.open('a')).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
      expect(disk.logs.get('a')).toMatchObject({ text, lease: null })
      expect(await sessions.list()).toMatchObject([{ id: 'a' }])
    }

    it('another format version', () => check((disk) => rewriteHeader(disk, { version: 1 }), 'UNSUPPORTED_VERSION', /format version 1/))
    it('a header without its time', () => check((disk) => rewriteHeader(disk, { createdAt: null }), 'UNREADABLE', /createdAt/))
    it('a type nobody here knows', () =>
      check((disk) => void (disk.logs.get('a')!.text += '{"type":"later/thing","seq":28,"time":1,"data":{}}\n'), 'UNKNOWN_EVENT', /later\/thing/))
  })

  it('skips an unknown event that may be ignored', async () => {
    const disk = await stored(wholeTurn(1))
    disk.logs.get('a')!.text += '{"type":"later/thing","seq":28,"time":1,"data":{"x":1},"ignorable":true}\n'
    const session = await (await windowOn(disk)).sessions.open('a')
    expect(session.events(28, 29)).toEqual([{ type: 'later/thing', seq: 28, time: 1, data: { x: 1 }, ignorable: true }])
    expect(session.messages()).toHaveLength(5)
  })
})

describe('a damaged log', () => {
  const check = async (damage: string, reason: RegExp) => {
    const disk = await stored(wholeTurn(1))
    const log = disk.logs.get('a')!
    const good = log.text
    log.text += damage
    const session = await (await windowOn(disk)).sessions.open('a')
    expect(typesOf(session).slice(28)).toEqual(['log/repaired', 'session/end-seed'])
    expect(session.events(28)[0]!.data).toEqual({ cutBytes: damage.length, keptAs: 'events.jsonl.cut-1', reason: expect.stringMatching(reason) })
    expect(session.repair).toEqual(session.events(28)[0]!.data)
    expect(log.cuts.get('events.jsonl.cut-1')).toBe(damage)
    await session.close()
    expect(log.text.startsWith(good)).toBe(true)
    const again = await (await windowOn(disk)).sessions.open('a')
    expect(typesOf(again)).toEqual(typesOf(session))
  }
  const event = (fields: object) => `${JSON.stringify({ seq: 28, time: 1, ...fields })}\n`

  it('is cut at half a line', () => check('{"type":"turn/sta', /line \d+/))
  it('is cut at a number that does not follow', () => check(event({ seq: 30, ...turnStart(2) }), /should be number 28 and says 30/))
  it('is cut at what is no event', () => check(event({ type: 'turn/start', data: 7 }), /no data/))
  it('is cut at what breaks a rule of the log', () => check(event(turnStart(7)), /turn 2 comes next/))
  it('is cut at packed parts that do not follow', () =>
    check(event({ seq: 29, type: 'text-chunks', turn: 2, step: 1, index: 0, deltas: ['a'], after: [0] }), /packed chunks from number 28/))
  it('is cut at packed parts outside a step', () => check(event({ type: 'text-chunks', turn: 2, step: 1, index: 0, deltas: ['a'], after: [0] }), /no turn is open/))
  it('is cut at a replacement that names nothing', () =>
    check(event({ ...prompt('x'), surfaceOp: { op: 'replace', start: 0, end: 99 }, sourceEventSeqs: [2] }), /the surface ends at/))
  it('is cut before good lines that follow a bad one', () => check(`{\n${event(turnStart(2))}`, /line \d+/))
})

describe('a turn that a crash left open', () => {
  const open = [turnStart(1), stepStart(1, 1), prompt('x'), answer(1, 1, '', ['a', 'b', 'c']), call(1, 1, 'a'), call(1, 1, 'b'), result(1, 1, 'a')]
  const codes = (session: Session, from: number) =>
    session.events(from).map(({ type, data }) => ('error' in data && data.error ? `${type} ${(data.error as { code: string }).code}` : type))

  it('is closed: calls answered, step and turn ended, with the time of the last event', async () => {
    const disk = await killed(open)
    clock.advance(1_000)
    const session = await (await windowOn(disk)).sessions.open('a')
    expect(codes(session, 7)).toEqual([
      'tool/result TOOL_OUTCOME_UNKNOWN',
      'tool/call',
      'tool/result TOOL_NOT_STARTED',
      'step/end',
      'turn/end',
      'session/end-seed',
    ])
    const repair = session.events(7, 12)
    expect(repair.map(({ time }) => time)).toEqual(Array(5).fill(session.events(6, 7)[0]!.time))
    expect(repair.at(-1)!.data).toEqual({ turn: 1, reason: { kind: 'interrupted' } })
    expect(repair[0]!.data).toMatchObject({ turn: 1, step: 1, message: { role: 'tool', content: [{ callId: 'b', isError: true }], source: { callId: 'b' } } })
    expect(session.messages().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'tool'])
  })

  it('is closed durably and only once', async () => {
    const disk = await killed(open)
    const first = await windowOn(disk)
    const session = await first.sessions.open('a')
    first.events.crash()
    const again = await (await windowOn(disk)).sessions.open('a')
    expect(again.events()).toEqual(session.events())
  })

  it('is closed when no step was open', async () => {
    const session = await (await windowOn(await killed([turnStart(1)]))).sessions.open('a')
    expect(typesOf(session)).toEqual(['turn/start', 'turn/end', 'session/end-seed'])
  })

  it('can be followed by the next turn', async () => {
    const session = await (await windowOn(await killed(open))).sessions.open('a')
    appendAll(session, wholeTurn(2))
  })

  it('after every single event: the log opens, nothing durable is lost, no call is without a result', async () => {
    const drafts = [...wholeTurn(1), ...wholeTurn(2)]
    for (let count = 1; count <= drafts.length; count++) {
      const disk = await killed(drafts.slice(0, count))
      const session = await (await windowOn(disk)).sessions.open('a')
      const events = session.events()
      expect(events.slice(0, count).map(({ type, data }) => ({ type, data }))).toEqual(drafts.slice(0, count).map(({ type, data }) => ({ type, data })))
      expect(events.filter(({ type }) => type === 'turn/start').length).toBe(events.filter(({ type }) => type === 'turn/end').length)
      const messages = session.messages()
      const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.content.filter(({ type }) => type === 'tool-call') : []))
      expect(messages.filter(({ role }) => role === 'tool').length).toBe(calls.length)
    }
  })
})

describe('a session that another window writes', () => {
  const twoWindows = async () => {
    const disk = await stored(wholeTurn(1))
    const one = await windowOn(disk)
    const two = await windowOn(disk)
    return { one, two, writer: await one.sessions.open('a'), reader: await two.sessions.open('a') }
  }

  it('opens for reading, says who writes, and takes no event', async () => {
    const { reader } = await twoWindows()
    expect([reader.access, reader.writer?.host]).toEqual(['read-only', 'memory'])
    expect(reader.messages()).toHaveLength(5)
    expect(() => reader.append(turnStart(2))).toThrow('another window writes it')
    await reader.flush()
  })

  it('opens for writing once the other one closed it', async () => {
    const { two, writer, reader } = await twoWindows()
    appendAll(writer, wholeTurn(2))
    await writer.close()
    const session = await two.sessions.open('a')
    expect([session.access, session === reader, session.messages().length]).toEqual(['write', false, 10])
  })

  const patient = async (disk: MemoryDisk) => createSessionRig({ events: createMemoryEventStore({ disk }), clock, patienceMs: 250 })
  const turns = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(50)
    }
    await new Promise((resolve) => setImmediate(resolve))
  }

  it('is waited for while it may be closing', async () => {
    const disk = await stored(wholeTurn(1))
    const writer = await (await windowOn(disk)).sessions.open('a')
    const { sessions } = await patient(disk)
    const opening = sessions.open('a')
    await turns(100)
    await writer.close()
    await turns(100)
    expect((await opening).access).toBe('write')
  })

  it('is not waited for beyond that', async () => {
    const disk = await stored(wholeTurn(1))
    await (await windowOn(disk)).sessions.open('a')
    const { sessions } = await patient(disk)
    const opening = sessions.open('a')
    await turns(300)
    expect((await opening).access).toBe('read-only')
  })

  it('cannot be renamed or removed from here', async () => {
    const { two } = await twoWindows()
    await expect(two.sessions.rename('a', 'mine')).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    await expect(two.sessions.remove('a')).rejects.toMatchObject({ code: 'SESSION_BUSY' })
  })
})

describe('a session that another window takes over', () => {
  it('turns read-only for good, tells, and lets no effect go on', async () => {
    const disk = await stored(wholeTurn(1))
    const { sessions, kernel, events } = await windowOn(disk)
    const session = await sessions.open('a')
    const told: string[] = []
    kernel.root.on('session/access', (changed) => void told.push(`${changed.id} ${changed.access}`))
    session.append(turnStart(2))
    events.loseLease('a')
    events.loseLease('a')
    expect([told, session.access]).toEqual([['a read-only'], 'read-only'])
    expect(() => session.append(stepStart(2, 1))).toThrow('another window writes it')
    await expect(session.flush()).rejects.toMatchObject({ code: 'READ_ONLY' })
    await session.close()
    expect(disk.logs.get('a')!.text).not.toContain('"turn":2')
  })
})

describe('a session on a disk that takes nothing', () => {
  const rows: readonly [name: string, damage: (disk: MemoryDisk) => void][] = [
    ['with an open turn', () => undefined],
    ['with a torn tail', (disk) => void (disk.logs.get('a')!.text += '{"seq": 99, "ty')],
  ]
  it.each(rows)('%s is read as it stands, says why it cannot be written, and is mended once there is room', async (_name, damage) => {
    const disk = await killed([turnStart(1), stepStart(1, 1), prompt('go')])
    damage(disk)
    const before = disk.logs.get('a')!.text
    const { sessions, events } = await windowOn(disk)
    events.failWrites('no space left on device')
    const session = await sessions.open('a')
    expect([session.access, session.writer, typesOf(session)]).toEqual(['read-only', undefined, ['turn/start', 'step/start', 'user/message']])
    expect(session.obstacle).toContain('no space left on device')
    expect(() => session.append(turnStart(2))).toThrow(/reading only: .*no space left on device/)
    await expect(sessions.rename('a', 'New')).rejects.toThrow('no space left on device')
    expect([disk.logs.get('a')!.text, disk.logs.get('a')!.cuts.size]).toEqual([before, 0])
    const roomy = await windowOn(disk)
    const again = await roomy.sessions.open('a')
    expect([again.access, again.obstacle, typesOf(again).slice(3)]).toEqual(['write', undefined, expect.arrayContaining(['step/end', 'turn/end'])])
    await again.close()
  })
})

describe('a session that expires', () => {
  const soon = () => clock.now() + 1
  const touched = async () => stored(wholeTurn(1))

  it('stays for who asks for it while it is looked at', async () => {
    const { sessions } = await windowOn(await touched())
    const [isGone, opened] = await Promise.all([sessions.expire('a', soon()), sessions.open('a')])
    expect([isGone, opened.access, typesOf(opened).slice(0, -1)]).toEqual([false, 'write', wholeTurn(1).map(({ type }) => type)])
  })
  it('is not found by who asks for it while it goes, by none half way', async () => {
    const { sessions, events } = await windowOn(await touched())
    const remove = events.remove.bind(events)
    const asked: Promise<unknown>[] = []
    Object.assign(events, {
      async remove(id: string) {
        asked.push(sessions.open('a'), sessions.rename('a', 'Late'), sessions.hold(['a']).then(() => sessions.readTail('a', 1)))
        await Promise.resolve()
        await remove(id)
      },
    })
    expect(await sessions.expire('a', soon())).toBe(true)
    expect(await Promise.allSettled(asked)).toMatchObject(asked.map(() => ({ reason: { code: 'SESSION_NOT_FOUND' } })))
    expect([sessions.live('a'), await sessions.list()]).toEqual([undefined, []])
  })
  it('stays when it is being opened, and is whole then', async () => {
    const { sessions } = await windowOn(await touched())
    const [opened, isGone] = await Promise.all([sessions.open('a'), sessions.expire('a', soon())])
    expect([opened.access, isGone, await sessions.expire('a', soon())]).toEqual(['write', false, false])
    const fork = await sessions.fork('a')
    await Promise.all([opened.close(), fork.close()])
    expect((await sessions.list()).map(({ id }) => id)).toContain('a')
  })
  it('stays while it is held, as for an export, and goes afterwards', async () => {
    const { sessions } = await windowOn(await touched())
    const releases = [await sessions.hold(['a']), await sessions.hold(['a', 'b'])]
    for (const release of releases) {
      expect(await sessions.expire('a', soon())).toBe(false)
      release()
      release()
    }
    expect(await sessions.expire('a', soon())).toBe(true)
  })
  it('stays when it was touched since, or was named', async () => {
    const { sessions } = await windowOn(await touched())
    expect(await sessions.expire('a', 1)).toBe(false)
    const [, isGone] = await Promise.all([sessions.rename('a', 'Mine'), sessions.expire('a', soon())])
    expect([isGone, await sessions.expire('a', soon())]).toEqual([false, false])
    expect(await sessions.list()).toMatchObject([{ id: 'a', title: 'Mine' }])
  })
  it('is busy while another window writes it', async () => {
    const disk = await touched()
    const other = await (await windowOn(disk)).sessions.open('a')
    await expect((await windowOn(disk)).sessions.expire('a', soon())).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    await other.close()
  })
  it('that a person removes while it is being opened goes all the same, once', async () => {
    const { sessions } = await windowOn(await touched())
    const [opened, removed] = await Promise.allSettled([sessions.open('a'), sessions.remove('a'), sessions.expire('a', soon())])
    expect([opened.status, removed.status, sessions.live('a'), await sessions.list()]).toEqual(['fulfilled', 'fulfilled', undefined, []])
    await expect(sessions.open('a')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })
})

describe('closing a session', () => {
  it('writes everything, tells, and lets it go', async () => {
    const disk = createMemoryDisk()
    const { sessions, kernel, projections } = await windowOn(disk)
    const seen: string[] = []
    kernel.root.on('session/disposed', (session) => void seen.push(`${session.id} ${sessions.live(session.id) === undefined}`))
    const session = await sessions.create({ cwd: '/project', id: 'a' })
    session.append(turnStart(1))
    await Promise.all([session.close(), session.close()])
    expect(seen).toEqual(['a true'])
    expect(disk.logs.get('a')!.text).toContain('turn/start')
    expect(disk.logs.get('a')!.lease).toBeNull()
    expect(projections.snapshot('a')).toEqual({ asOfSeq: -1, values: {} })
  })

  it('happens to all when the host goes', async () => {
    const disk = createMemoryDisk()
    const { sessions, kernel } = await windowOn(disk)
    for (const id of ['a', 'b']) (await sessions.create({ cwd: '/project', id })).append(turnStart(1))
    await kernel.dispose()
    expect([...disk.logs.values()].map(({ lease }) => lease)).toEqual([null, null])
  })
})

describe('listeners in a layer', () => {
  it('hear the sessions bound to it or below', async () => {
    const { sessions, kernel } = await windowOn(createMemoryDisk())
    const preset = kernel.createScope('preset', null)
    const agent = kernel.createScope('agent', preset)
    const heard: string[] = []
    kernel.root.scoped(preset).on('session/event', (session) => void heard.push(`preset ${session.id}`))
    kernel.root.on('session/event', (session) => void heard.push(`global ${session.id}`))
    const bound = await sessions.create({ cwd: '/project', id: 'bound' })
    sessions.bindScope('bound', agent)
    bound.append(turnStart(1))
    ;(await sessions.create({ cwd: '/project', id: 'other' })).append(turnStart(1))
    expect(heard).toEqual(['preset bound', 'global bound', 'global other'])
  })
})

describe('the list of sessions', () => {
  const list = async (disk: MemoryDisk) => (await (await windowOn(disk)).sessions.list()).map(({ title, updatedAt, isLive, problem }) => ({ title, updatedAt, isLive, problem }))
  const title = (text: string): EventDraft => ({ type: 'session/title', data: { title: text, messageSeqs: [], source: { kind: 'user' } } })

  it('is newest first and holds live and stored ones', async () => {
    const { sessions } = await windowOn(createMemoryDisk())
    for (const id of ['a', 'b', 'c']) {
      clock.advance(10)
      const session = await sessions.create({ cwd: `/${id}`, id })
      appendAll(session, wholeTurn(1))
      if (id !== 'b') await session.close()
    }
    expect(await sessions.list()).toEqual([
      expect.objectContaining({ id: 'c', isLive: false, cwd: '/c' }),
      expect.objectContaining({ id: 'b', isLive: true }),
      expect.objectContaining({ id: 'a', isLive: false, createdAt: clock.now() - 20, updatedAt: clock.now() - 20 }),
    ])
  })

  it('takes title and time from the note', async () => {
    const disk = await stored([...wholeTurn(1), title('Mine')])
    disk.logs.get('a')!.text = disk.logs.get('a')!.text.split('\n')[0]!
    expect(await list(disk)).toEqual([{ title: 'Mine', updatedAt: clock.now(), isLive: false, problem: undefined }])
  })

  it('is the same without notes', async () => {
    const disk = await stored([...wholeTurn(1), title('Mine')])
    const withNote = await list(disk)
    disk.logs.get('a')!.note = null
    expect(await list(disk)).toEqual(withNote)
    disk.logs.get('a')!.note = { at: Number.MAX_SAFE_INTEGER, value: { stateVersion: 99, length: 1, state: {} } }
    expect(await list(disk)).toEqual(withNote)
  })

  it('sees what came after an old note', async () => {
    const disk = await stored(wholeTurn(1))
    clock.advance(5)
    const { events, sessions } = await windowOn(disk)
    const session = await sessions.open('a')
    session.append(title('Later'))
    await session.flush()
    events.crash()
    expect(await list(disk)).toMatchObject([{ title: 'Later' }])
  })

  it('shows a session that cannot be read, with the reason', async () => {
    const disk = await stored(wholeTurn(1))
    disk.logs.get('a')!.text = '{"vers'
    expect(await list(disk)).toMatchObject([{ isLive: false, problem: expect.stringContaining('first line') }])
  })
})

describe('renaming', () => {
  it('is an event of the person, for live and stored sessions alike', async () => {
    const disk = await stored(wholeTurn(1))
    const { sessions } = await windowOn(disk)
    await sessions.rename('a', '  New \n name ')
    expect(await sessions.list()).toMatchObject([{ title: 'New name', isLive: false }])
    expect(disk.logs.get('a')!.lease).toBeNull()
    const session = await sessions.open('a')
    expect(session.events().findLast(({ type }) => type === 'session/title')!.data).toEqual({ title: 'New name', messageSeqs: [], source: { kind: 'user' } })
    await sessions.rename('a', 'Again')
    expect(session.projections().values['title']).toBe('Again')
  })

  it.each(['', ' \n\t'])('refuses the blank title %j', async (title) => {
    const { sessions } = await windowOn(await stored(wholeTurn(1)))
    await expect(sessions.rename('a', title)).rejects.toMatchObject({ code: 'INVALID_TITLE' })
  })
  it('refuses a title of more than 80 bytes', async () => {
    const { sessions } = await windowOn(await stored(wholeTurn(1)))
    await sessions.rename('a', 'é'.repeat(40))
    await expect(sessions.rename('a', 'é'.repeat(41))).rejects.toMatchObject({ code: 'INVALID_TITLE', message: expect.stringContaining('82') })
  })
})

describe('removing', () => {
  it('takes a stored session away', async () => {
    const disk = await stored(wholeTurn(1))
    await (await windowOn(disk)).sessions.remove('a')
    expect(disk.logs.size).toBe(0)
  })
  it('closes a live one first', async () => {
    const disk = await stored(wholeTurn(1))
    const { sessions } = await windowOn(disk)
    const session = await sessions.open('a')
    await sessions.remove('a')
    expect([disk.logs.size, sessions.live('a')]).toEqual([0, undefined])
    expect(() => session.append(turnStart(2))).toThrow('closed')
  })
  it('takes a session without events away', async () => {
    const { sessions } = await windowOn(createMemoryDisk())
    await sessions.create({ cwd: '/project', id: 'a' })
    await sessions.remove('a')
    expect(await sessions.list()).toEqual([])
  })
  it('takes a stored session without events away', async () => {
    const disk = await stored(wholeTurn(1))
    disk.logs.get('a')!.text = `${disk.logs.get('a')!.text.split('\n')[0]}\n`
    const { sessions } = await windowOn(disk)
    expect((await sessions.open('a')).length).toBe(0)
    await sessions.remove('a')
    expect(disk.logs.size).toBe(0)
  })
  it('refuses one that is not there', async () => {
    const { sessions } = await windowOn(createMemoryDisk())
    await expect(sessions.remove('a')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })
})

describe('the tail of a session', () => {
  it('is the newest events, live or stored', async () => {
    const disk = await stored([...wholeTurn(1), ...wholeTurn(2)])
    const { sessions } = await windowOn(disk)
    const closed = await sessions.readTail('a', 10)
    expect(closed.events.map(({ seq }) => seq)).toEqual([46, 47, 48, 49, 50, 51, 52, 53, 54, 55])
    expect(closed.header.id).toBe('a')
    await sessions.open('a')
    const live = await sessions.readTail('a', 11)
    expect(live.events.slice(0, 10)).toEqual(closed.events)
    expect((await sessions.readTail('a', 1_000)).events).toHaveLength(57)
  })
})

describe('forking', () => {
  const live = async () => {
    const disk = await stored([...wholeTurn(1), ...wholeTurn(2)])
    const made = await windowOn(disk)
    return { ...made, disk, source: await made.sessions.open('a') }
  }

  it('copies the talk up to the boundary, marks its end and stores it', async () => {
    const { sessions, source, disk } = await live()
    const child = await sessions.fork('a', { boundary: 27, childId: 'b' })
    expect(child.header).toEqual({ version: 0, id: 'b', createdAt: clock.now(), cwd: '/project', parentSession: 'a', seedLength: 28 })
    expect(child.events(0, 28)).toEqual(source.events(0, 28))
    expect(typesOf(child).slice(28)).toEqual(['session/end-seed'])
    expect(child.projections().asOfSeq).toBe(28)
    appendAll(child, wholeTurn(2))
    await child.close()
    expect((await (await windowOn(disk)).sessions.open('b')).events(0, 28)).toEqual(source.events(0, 28))
    expect(source.length).toBe(57)
  })

  it('copies all by default, and does not mark the end twice', async () => {
    const { sessions, source } = await live()
    const child = await sessions.fork('a')
    expect(child.events()).toEqual(source.events())
  })

  it('gives the child the images of its talk; one that is missing stays missing', async () => {
    const { sessions, blobs } = await windowOn(createMemoryDisk())
    const source = await sessions.create({ cwd: '/project', id: 'a' })
    const { attachmentId } = await blobs.putAttachment('a', new Uint8Array([1, 2]), { mediaType: 'image/png' })
    const missing = `sha256:${'0'.repeat(64)}`
    for (const id of [attachmentId, missing]) {
      const image = { type: 'image' as const, attachment: { attachmentId: id, mediaType: 'image/png', bytes: 2 } }
      source.append({ ...prompt('x'), data: { ...prompt('x').data, content: [image] } })
    }
    const child = await sessions.fork('a')
    expect([...(await blobs.getAttachment(child.id, attachmentId))]).toEqual([1, 2])
    await expect(blobs.getAttachment(child.id, missing)).rejects.toThrow('missing')
  })

  it.each([
    [{ boundary: -1 }, 'INVALID_BOUNDARY'],
    [{ boundary: 57 }, 'INVALID_BOUNDARY'],
    [{ boundary: 1.5 }, 'INVALID_BOUNDARY'],
    [{ boundary: 30 }, 'OPEN_TURN'],
    [{ boundary: 28 }, 'OPEN_TURN'],
    [{ childId: 'a' }, 'SESSION_ALREADY_EXISTS'],
  ])('refuses %j with %s', async (options, code) => {
    const { sessions } = await live()
    await expect(sessions.fork('a', options)).rejects.toMatchObject({ code })
  })

  it('leaves nothing behind when a listener refuses the child', async () => {
    const { sessions, kernel, disk } = await live()
    kernel.root.on('session/created', () => {
      throw new Error('veto')
    })
    await expect(sessions.fork('a', { childId: 'b' })).rejects.toThrow('veto')
    expect([sessions.live('b'), [...disk.logs.keys()]]).toEqual([undefined, ['a']])
  })

  it('refuses a session that is not open, or not there', async () => {
    const { sessions } = await windowOn(await stored(wholeTurn(1)))
    await expect(sessions.fork('a')).rejects.toMatchObject({ code: 'SESSION_NOT_LIVE' })
    await expect(sessions.fork('b')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })
})

describe('titles', () => {
  const titled = async (...drafts: EventDraft[]) => {
    const { sessions } = await windowOn(createMemoryDisk(), true)
    const session = await sessions.create({ cwd: '/project', id: 'a' })
    for (const draft of drafts) {
      session.append(draft)
      await Promise.resolve()
    }
    return session
  }
  const titlesIn = (session: Session) => session.events().filter(({ type }) => type === 'session/title')

  it('come from the first words of the first prompt', async () => {
    const session = await titled(prompt('  Please  rename the\nold parser module'), prompt('And more'))
    expect(titlesIn(session)).toEqual([
      expect.objectContaining({ data: { title: 'Please rename the old parser', messageSeqs: [0], source: { kind: 'fallback' } } }),
    ])
    expect(session.projections().values['title']).toBe('Please rename the old parser')
  })
  it('fit 40 bytes, whole characters', async () =>
    expect((await titled(prompt('日本語の文章には空白がありません'))).projections().values['title']).toBe('日本語の文章には空白があり'))
  it('do not come from what was put in without the person', async () => {
    const notice = { ...prompt('x'), data: { ...prompt('x').data, source: { kind: 'plugin', plugin: 'p' } } } as EventDraft
    expect((await titled(notice)).projections().values['title']).toBeNull()
  })
  it('do not come from a prompt without words', async () => expect((await titled(prompt(' '), prompt('two'))).projections().values['title']).toBe('two'))
  it('of a person win over every later one', async () => {
    const set = (title: string, kind: 'user' | 'fallback'): EventDraft => ({ type: 'session/title', data: { title, messageSeqs: [], source: { kind } } })
    const session = await titled(prompt('first words'), set('Mine', 'user'), set('Machine', 'fallback'))
    expect(session.projections().values['title']).toBe('Mine')
    session.append(set('Mine again', 'user'))
    expect(session.projections().values['title']).toBe('Mine again')
  })
  it('cost nothing when the session closes first', async () => {
    const { sessions } = await windowOn(createMemoryDisk(), true)
    const session = await sessions.create({ cwd: '/project', id: 'a' })
    session.append(prompt('words'))
    const closing = session.close()
    await closing
    expect(titlesIn(session)).toEqual([])
  })
})
