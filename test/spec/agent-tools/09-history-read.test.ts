import { afterEach, describe, expect, it } from 'vitest'
import type { EventDraft, SessionEvent } from '../../../extension/core/log/event.ts'
import { historyLimits } from '../../../extension/features/history/limits.ts'
import { createSessionEventRead } from '../../../extension/tools/history/session-event-read.ts'
import { createSessionEventTrace } from '../../../extension/tools/history/session-event-trace.ts'
import { createSessionTrace } from '../../../extension/tools/history/session-trace.ts'
import { createHistoryRig, type HistoryRig } from '../../support/history-rig.ts'
import { answer, prompt, stepEnd, stepStart, turnEnd, turnStart, wholeTurn } from '../../support/session-talk.ts'

let rig: HistoryRig
afterEach(() => rig.dispose())
const start = async () => (rig = await createHistoryRig())
const me = () => rig.talk('me', [turnStart(1), stepStart(1, 1), prompt('x')], { isOpen: true })
const said: readonly EventDraft[] = [turnStart(1), stepStart(1, 1), prompt('one', 'a'), answer(1, 1, 'two'), stepEnd(1, 1), turnEnd(1)]

describe('9 session_trace', () => {
  it('says when the session was created and whether it is live, its ancestors nearest first, and its descendants as a tree', async () => {
    await start()
    await rig.talk('grandparent', said)
    await rig.talk('parent', said, { parent: 'grandparent' })
    await rig.talk('old', said, { parent: 'parent' })
    await rig.talk('child', said, { parent: 'old' })
    rig.at += 1
    await rig.talk('grandchild', said, { parent: 'child' })
    await rig.talk('second', said, { parent: 'old' })
    expect(await rig.ask(await me(), 'session_trace', { session_id: 'old' })).toBe(
      [
        'old: New session, created 2026-01-01T00:00:00.000Z, persisted',
        '',
        'Ancestors, nearest first:',
        '- parent: New session, created 2026-01-01T00:00:00.000Z',
        '- grandparent: New session, created 2026-01-01T00:00:00.000Z',
        '',
        'Descendants:',
        '- child: New session, created 2026-01-01T00:00:00.000Z',
        '  - grandchild: New session, created 2026-01-01T00:00:00.001Z',
        '- second: New session, created 2026-01-01T00:00:00.001Z',
      ].join('\n'),
    )
  })
  it('is of the own session by default', async () => {
    await start()
    expect(await rig.ask(await me(), 'session_trace', {})).toBe('me: New session, created 2026-01-01T00:00:00.000Z, live\n\nAncestors: none\n\nDescendants: none')
  })
  it('marks what is outside, or gone, without saying what it is', async () => {
    await start()
    await rig.talk('foreign', said, { cwd: '/elsewhere' })
    await rig.talk('old', said, { parent: 'foreign' })
    await rig.talk('away', said, { cwd: '/elsewhere', parent: 'old' })
    await rig.talk('lost', said, { parent: 'deleted' })
    const caller = await me()
    const [old, lost] = [await rig.ask(caller, 'session_trace', { session_id: 'old' }), await rig.ask(caller, 'session_trace', { session_id: 'lost' })]
    expect(old).toMatch(/nearest first:\n- outside this workspace\n\nDescendants:\n- outside this workspace$/)
    expect(lost).toMatch(/nearest first:\n- outside this workspace\n/)
    expect([old, lost].join()).not.toMatch(/foreign|away|deleted/)
  })
  it('refuses sessions that are each other’s parents', async () => {
    await start()
    await rig.talk('a', said, { parent: 'b' })
    await rig.talk('b', said, { parent: 'a' })
    expect(await rig.ask(await me(), 'session_trace', { session_id: 'a' })).toBe('SESSION_QUERY_INVALID_LINEAGE')
  })
})

describe('9 session_event_trace', () => {
  const replaced = async () => {
    await start()
    const old = await rig.talk('old', [turnStart(1), stepStart(1, 1), prompt('one', 'a'), answer(1, 1, 'two'), prompt('three', 'b')], { isOpen: true })
    old.append({ ...prompt('first summary', 'c'), surfaceOp: { op: 'replace', start: 0, end: 1 }, sourceEventSeqs: [2, 3] })
    old.append({ ...prompt('second summary', 'd'), surfaceOp: { op: 'replace', start: 0, end: 0 }, sourceEventSeqs: [5, 4] })
    await old.close()
    return me()
  }
  const ask = async (args: object) => {
    const caller = await replaced()
    return await rig.ask(caller, 'session_event_trace', { session_id: 'old', ...args })
  }
  const trace = async (seq: number) => (await ask({ seq })).split('\n').slice(1)
  it('tells what took the place of an event, and of that', async () => {
    expect(await trace(2)).toEqual(['replaced by: 5', 'replacement chain: 2 → 5 → 6', 'replaces: none', 'sources: none', 'derived events: 5'])
  })
  it('tells what an event replaced and came from', async () => {
    expect(await trace(5)).toEqual(['replaced by: 6', 'replacement chain: 5 → 6', 'replaces: 2, 3', 'sources: 2, 3', 'derived events: 6'])
  })
  it('tells a source that was not replaced from one that was', async () => {
    expect([await trace(4), (await rig.dispose(), await trace(6))]).toEqual([
      ['replaced by: none', 'replacement chain: none', 'replaces: none', 'sources: none', 'derived events: 6'],
      ['replaced by: none', 'replacement chain: none', 'replaces: 5', 'sources: 5, 4', 'derived events: none'],
    ])
  })
  it.each([[2, 'shadowed'], [4, 'current'], [0, 'log-only']])('says of event %i that it is %s', async (seq, surface) =>
    expect(await ask({ seq })).toMatch(new RegExp(`^event ${seq}, \\S+, ${surface}, 2026-`)))
  it('knows parts of streams too', async () => {
    await start()
    await rig.talk('old', wholeTurn(1))
    expect(await rig.ask(await me(), 'session_event_trace', { session_id: 'old', seq: 6 })).toMatch(/^event 6, assistant\/chunk, log-only/)
  })
  it.each<[string, object, string]>([
    ['a number beyond the log', { seq: 99 }, 'SESSION_QUERY_EVENT_NOT_FOUND'],
    ['a negative number', { seq: -1 }, 'SESSION_QUERY_INVALID_WINDOW'],
    ['no number', {}, 'INVALID_ARGS'],
  ])('refuses %s', async (_, args, code) => expect(await ask(args)).toBe(code))
  it('refuses a log whose replacement names places that are not there', async () => {
    await start()
    const old = await rig.talk('old', said)
    const line: Partial<SessionEvent> = { ...prompt('x', 'y'), seq: old.length, time: 0, surfaceOp: { op: 'replace', start: 7, end: 9 }, sourceEventSeqs: [0] }
    rig.events.disk.logs.get('old')!.text += `${JSON.stringify(line)}\n`
    expect(await rig.ask(await me(), 'session_event_trace', { session_id: 'old', seq: 0 })).toBe('SESSION_QUERY_INVALID_SURFACE')
  })
})

describe('9 session_event_read', () => {
  const read = async (args: object) => {
    await start()
    await rig.talk('old', said)
    return rig.ask(await me(), 'session_event_read', { session_id: 'old', ...args })
  }
  it('gives the whole event as fenced JSON, alone by default', async () => {
    const text = await read({ seq: 2 })
    const [, json] = /^```json\n([\s\S]+)\n```$/.exec(text) ?? []
    expect(JSON.parse(json ?? '')).toEqual({ type: 'user/message', seq: 2, time: Date.UTC(2026, 0, 1), surfaceOp: 'append', data: { id: 'a', role: 'user', content: [{ type: 'text', text: 'one' }], source: { kind: 'user' } } })
  })
  it('gives neighbours as number, type and time with their complete text', async () => {
    expect((await read({ seq: 4, before: 2, after: 9 })).replace(/```[\s\S]+```/, '{}')).toBe(
      ['event 2, user/message, 2026-01-01T00:00:00.000Z\none', 'event 3, assistant/message, 2026-01-01T00:00:00.000Z\ntwo', '{}', 'event 5, turn/end, 2026-01-01T00:00:00.000Z'].join('\n\n'),
    )
  })
  it('stops at the beginning of the log', async () => expect(await read({ seq: 0, before: 50 })).toMatch(/^```json/))
  it('reads the own session up to now', async () => {
    await start()
    expect(await rig.ask(await me(), 'session_event_read', { seq: 2 })).toContain('"text": "x"')
  })
  it('fences what holds a fence itself', async () => {
    await start()
    await rig.talk('old', [turnStart(1), stepStart(1, 1), prompt('````js')])
    expect(await rig.ask(await me(), 'session_event_read', { session_id: 'old', seq: 2 })).toMatch(/^`{5}json\n[\s\S]+\n`{5}$/)
  })
  it('leaves known shapes of secrets out', async () => {
    await start()
    const token = `ghp_${'a1B2'.repeat(9)}`
    await rig.talk('old', [turnStart(1), stepStart(1, 1), prompt(token, 'a'), prompt('b')])
    const text = await rig.ask(await me(), 'session_event_read', { session_id: 'old', seq: 2, after: 1 })
    expect([text.includes(token), text.includes('[GitHub token left out]')]).toEqual([false, true])
  })
  it.each<[string, object, string]>([
    ['a number beyond the log', { seq: 6 }, 'SESSION_QUERY_EVENT_NOT_FOUND'],
    ['a negative number', { seq: -1 }, 'SESSION_QUERY_INVALID_WINDOW'],
    ['more neighbours before than allowed', { seq: 1, before: historyLimits.neighbours + 1 }, 'SESSION_QUERY_INVALID_WINDOW'],
    ['more neighbours after than allowed', { seq: 1, after: historyLimits.neighbours + 1 }, 'SESSION_QUERY_INVALID_WINDOW'],
    ['a negative window', { seq: 1, before: -1 }, 'SESSION_QUERY_INVALID_WINDOW'],
    ['a window that is no whole number', { seq: 1, before: 0.5 }, 'INVALID_ARGS'],
  ])('refuses %s', async (_, args, code) => expect(await read(args)).toBe(code))
  it('does not tell a log that cannot be read from one that is not there', async () => {
    await start()
    await rig.talk('old', said)
    rig.events.disk.logs.get('old')!.text = 'nonsense\n'
    expect(await rig.ask(await me(), 'session_event_read', { session_id: 'old', seq: 0 })).toBe('SESSION_QUERY_TOOL_UNAUTHORIZED')
  })
  it('says that the disk failed when it did', async () => {
    rig = await createHistoryRig({ wrapEvents: (events) => ({ ...events, describe: async () => Promise.reject(Object.assign(new Error('EIO'), { syscall: 'read' })) }) })
    const caller = await me()
    expect(await rig.ask(caller, 'session_event_read', { session_id: 'old', seq: 0 })).toBe('SESSION_QUERY_PERSISTENCE_FAILED')
  })
})

it('9 traces and reads may run beside others, and have no time of their own', () => {
  for (const tool of [createSessionTrace({ limits: historyLimits } as never), createSessionEventTrace({ limits: historyLimits } as never), createSessionEventRead({ limits: historyLimits } as never)])
    expect([tool.isConcurrencySafe?.({ seq: 1 }), tool.timeoutMs]).toEqual([true, undefined])
})
it('9 nothing is written by any of them', async () => {
  await start()
  await rig.talk('old', said)
  const caller = await me()
  const before = { stored: rig.events.lines('old'), own: caller.length }
  for (const tool of ['session_search', 'session_event_search', 'session_trace', 'session_event_trace', 'session_event_read']) await rig.ask(caller, tool, { query: 'one', seq: 1, session_id: 'old' })
  expect({ stored: rig.events.lines('old'), own: caller.length }).toEqual(before)
})
it('9 the value of each is its text', async () => {
  await start()
  const result = await rig.run(await me(), 'session_trace', {})
  expect(result.isError ? null : [typeof result.value, result.content]).toEqual(['string', [{ type: 'text', text: result.isError ? '' : result.value }]])
})
