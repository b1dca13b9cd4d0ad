import { describe, expect, it } from 'vitest'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import type { Session } from '../../../../extension/core/session/session.ts'
import { createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { createSessionRig } from '../../../support/session-rig.ts'
import { answer, call, prompt, result, stepEnd, stepStart, textDelta, turnEnd, turnStart, wholeTurn } from '../../../support/session-talk.ts'

const started = async () => {
  const events = createMemoryEventStore()
  const rig = await createSessionRig({ events })
  const session = await rig.sessions.create({ cwd: '/project', id: 'a' })
  return { ...rig, events, session }
}
const appendAll = (session: Session, drafts: readonly EventDraft[]) => {
  for (const draft of drafts) session.append(draft)
}
const caught = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('Nothing was thrown.')
}
/** The draft as it would come from code that keeps no types. */
const untyped = (draft: object) => draft as EventDraft

describe('append', () => {
  it('gives the event its number and time, detached and frozen', async () => {
    const { session, clock } = await started()
    session.append(turnStart(1))
    clock.advance(5)
    const draft = { type: 'turn/end' as const, data: { turn: 1, reason: { kind: 'completed' as const } } }
    const event = session.append(draft)
    draft.data.turn = 9
    expect(event).toEqual({ type: 'turn/end', seq: 1, time: 1_700_000_000_005, data: { turn: 1, reason: { kind: 'completed' } } })
    expect([event, event.data, (event.data as { reason: object }).reason].every(Object.isFrozen)).toBe(true)
    expect(session.events()).toEqual([expect.objectContaining({ seq: 0 }), event])
  })

  it('marks types that may be ignored', async () => {
    const { session, types } = await started()
    types.register('fs/observed', { isIgnorable: true })
    expect(session.append(untyped({ type: 'fs/observed', data: {} }))).toMatchObject({ ignorable: true })
  })

  describe('refuses, and appends nothing:', () => {
    const check = async (draft: object, code: string, message: RegExp, before: readonly EventDraft[] = []) => {
      const { session } = await started()
      appendAll(session, before)
      const error = caught(() => session.append(untyped(draft)))
      expect(error).toMatchObject({ name: 'SessionError', code, message: expect.stringMatching(message) })
      expect(session.length).toBe(before.length)
      session.append(before.length === 0 ? turnStart(1) : turnEnd(1))
    }
    const open = [turnStart(1)]

    it('what is no lossless JSON', () => check({ type: 'turn/start', data: { turn: 1, when: new Date() } }, 'NOT_JSON', /data\.when is an instance of Date/))
    it('data that is no object', () => check({ type: 'session/end-seed', data: [] }, 'INVARIANT', /its data is no object/))
    it('a type nobody registered', () => check({ type: 'who/knows', data: {} }, 'UNKNOWN_EVENT', /Register it/))
    it('a field of the wrong kind', () => check({ type: 'turn/start', data: { turn: 0 } }, 'INVARIANT', /its turn is no count/))
    it('a message without a place on the surface', () => check({ ...prompt('x'), surfaceOp: undefined }, 'INVARIANT', /needs a surfaceOp/))
    it('a place on the surface for what the model does not see', () =>
      check({ type: 'turn/start', surfaceOp: 'append', data: { turn: 1 } }, 'INVARIANT', /must not carry a surfaceOp/))
    it('a place that makes no sense', () => check({ ...prompt('x'), surfaceOp: { op: 'replace', start: 1, end: 0 } }, 'INVARIANT', /neither append nor a replace/))
    it('empty sources', () => check({ ...prompt('x'), sourceEventSeqs: [] }, 'INVARIANT', /sourceEventSeqs are empty/, open))
    it('sources that are not earlier', () => check({ ...prompt('x'), sourceEventSeqs: [1] }, 'INVARIANT', /not all earlier/, open))
    it('sources that repeat', () => check({ ...prompt('x'), sourceEventSeqs: [0, 0] }, 'INVARIANT', /repeat one/, open))
    it('what breaks the order of turns', () => check(turnStart(3), 'INVARIANT', /turn 1 comes next \(rule turn-order\)/))
  })

  it('lets what an accessor throws through', async () => {
    const { session } = await started()
    const failure = new Error('mine')
    expect(caught(() => session.append(untyped({ type: 'turn/start', data: { get turn() { throw failure } } })))).toBe(failure)
    session.append(turnStart(1))
  })

  it('tells observers in order after the commit, and contains what they throw', async () => {
    const { session, kernel, logger } = await started()
    const seen: string[] = []
    kernel.root.on('session/event', (_, event) => {
      seen.push(`${event.type} of ${session.length}`)
      throw new Error('observer')
    })
    kernel.root.on('session/event', () => void seen.push('second'))
    appendAll(session, [turnStart(1), turnEnd(1)])
    expect(seen).toEqual(['turn/start of 1', 'second', 'turn/end of 2', 'second'])
    expect(logger.lines.some(({ level }) => level === 'error')).toBe(true)
  })

  it('throws when an observer appends, and commits the outer event', async () => {
    const { session, kernel } = await started()
    let error: unknown
    kernel.root.on('session/event', () => void (error = caught(() => session.append(turnEnd(1)))))
    session.append(turnStart(1))
    expect(error).toMatchObject({ code: 'REENTRANT' })
    expect(session.length).toBe(1)
  })

  it('throws once the session is closed', async () => {
    const { session } = await started()
    await session.close()
    expect(caught(() => session.append(turnStart(1)))).toMatchObject({ code: 'CLOSED' })
  })
})

describe('the surface', () => {
  const talk = async () => {
    const made = await started()
    appendAll(made.session, [turnStart(1), stepStart(1, 1), prompt('one'), answer(1, 1, '', ['c1']), call(1, 1, 'c1'), result(1, 1, 'c1', 'long')])
    return made
  }
  const shown = (session: Session) => session.surface().nodes.map(({ seq }) => seq)
  const texts = (session: Session) => session.messages().map(({ content }) => JSON.stringify(content))

  it('derives messages in order; an empty answer derives none', async () => {
    const { session } = await talk()
    appendAll(session, [stepEnd(1, 1), stepStart(1, 2), answer(1, 2, '')])
    expect(shown(session)).toEqual([2, 3, 5, 8])
    expect(session.messages().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  })

  it('gives the same messages until one comes, and never changes those it gave', async () => {
    const { session } = await talk()
    const before = session.messages()
    session.append(textDelta(1, 1, 'x'))
    expect(session.messages()).toBe(before)
    session.append(prompt('two'))
    expect([before.length, session.messages().length]).toEqual([3, 4])
    expect(session.messages()[0]).toBe(before[0])
  })

  it('replaces a range and counts generations', async () => {
    const { session } = await talk()
    expect(session.surface().generation).toBe(0)
    session.append({ ...prompt('summary'), surfaceOp: { op: 'replace', start: 0, end: 1 }, sourceEventSeqs: [2, 3, 0] })
    expect([shown(session), session.surface().generation]).toEqual([[6, 5], 1])
    expect(texts(session)[0]).toContain('summary')
    session.append(prompt('next'))
    expect([shown(session), session.surface().generation]).toEqual([[6, 5, 7], 1])
  })

  it('lets a result change its content, also after its step', async () => {
    const { session } = await talk()
    appendAll(session, [stepEnd(1, 1), turnEnd(1)])
    session.append({ ...result(1, 1, 'c1', 'short'), surfaceOp: { op: 'replace', start: 2, end: 2 }, sourceEventSeqs: [5] })
    expect(texts(session)[2]).toContain('short')
  })

  describe('refuses', () => {
    const check = async (draft: object, message: RegExp) => {
      const { session } = await talk()
      const before = session.messages()
      expect(caught(() => session.append(untyped(draft)))).toMatchObject({ code: 'INVARIANT', message: expect.stringMatching(message) })
      expect(session.messages()).toBe(before)
    }
    const replace = (start: number, end: number) => ({ op: 'replace', start, end })

    it('to replace beyond its end', () => check({ ...prompt('x'), surfaceOp: replace(1, 3), sourceEventSeqs: [3, 5] }, /the surface ends at 2/))
    it('to replace without naming what', () => check({ ...prompt('x'), surfaceOp: replace(0, 1), sourceEventSeqs: [2] }, /do not name event 3/))
    it('to replace without any source', () => check({ ...prompt('x'), surfaceOp: replace(0, 1) }, /do not name event 2/))
    it('a result in the place of two nodes', () => check({ ...result(1, 1, 'c1'), surfaceOp: replace(1, 2), sourceEventSeqs: [3, 5] }, /exactly one tool\/result/))
    it('a result in the place of a prompt', () => check({ ...result(1, 1, 'c1'), surfaceOp: replace(0, 0), sourceEventSeqs: [2] }, /exactly one tool\/result/))
    it('a result that changes more than its content', () =>
      check({ ...result(1, 1, 'c2'), surfaceOp: replace(2, 2), sourceEventSeqs: [5] }, /nothing but the content/))
  })
})

describe('events', () => {
  it('are the same whether they were packed or not', async () => {
    const { session, events } = await started()
    const appended = wholeTurn(1).map((draft) => session.append(draft))
    expect(session.events()).toEqual(appended)
    await session.flush()
    expect(session.events()).toEqual(appended)
    for (let from = 0; from <= appended.length; from++) expect(session.events(from, from + 3)).toEqual(appended.slice(from, from + 3))
    expect(events.lines('a').map((line) => line['type'])).toEqual(expect.arrayContaining(['text-chunks', 'tool-call-chunks', 'reasoning-chunks']))
  })
})

describe('flush', () => {
  it('makes everything appended durable, streamed parts too', async () => {
    const { session, events } = await started()
    appendAll(session, wholeTurn(1).slice(0, 7))
    await session.flush()
    expect(events.lines('a').map((line) => line['type'])).toEqual(['turn/start', 'step/start', 'user/message', 'request/header', ...Array(3).fill('assistant/chunk')])
  })

  it('waits for the durable work of others and rejects with theirs', async () => {
    const { session, kernel } = await started()
    kernel.root.on('session/flush', async () => {
      throw new Error('theirs')
    })
    await expect(session.flush()).rejects.toThrow('theirs')
  })

  it('rejects for good when the store failed, while appends go on in memory', async () => {
    const { session, events } = await started()
    events.failWrites('the disk is full')
    session.append(turnStart(1))
    await expect(session.flush()).rejects.toMatchObject({ code: 'WRITE_FAILED' })
    await expect(session.flush()).rejects.toMatchObject({ code: 'WRITE_FAILED' })
    session.append(turnEnd(1))
    expect(session.length).toBe(2)
    await expect(session.close()).rejects.toMatchObject({ code: 'WRITE_FAILED' })
  })

  it('happens by itself after 200 ms', async () => {
    const { session, events, clock } = await started()
    appendAll(session, [turnStart(1), stepStart(1, 1), textDelta(1, 1, 'a'), textDelta(1, 1, 'b'), textDelta(1, 1, 'c')])
    clock.advance(199)
    await Promise.resolve()
    expect(events.disk.logs.size).toBe(0)
    clock.advance(1)
    await new Promise((resolve) => setImmediate(resolve))
    expect(events.lines('a').map((line) => line['type'])).toEqual(['turn/start', 'step/start', 'text-chunks'])
    expect(clock.waiting).toBe(0)
  })

  it('by itself reports a failure once to the diagnostics', async () => {
    const { session, events, clock, logger } = await started()
    events.failWrites('the disk is full')
    session.append(turnStart(1))
    clock.advance(200)
    await new Promise((resolve) => setImmediate(resolve))
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  })
})
