import { glob, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { costEventTypes } from '../../../extension/core/cost/events.ts'
import type { EventDraft, SessionEvent, SurfaceOp } from '../../../extension/core/log/event.ts'
import { coreEventTypes, type EventTypes } from '../../../extension/core/log/event-types.ts'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import type { Session, Sessions } from '../../../extension/core/session/session.ts'
import { featureEventTypes } from '../../../extension/features/event-types.ts'
import { hookEventTypes } from '../../../extension/features/hooks/events.ts'
import { todoEventTypes } from '../../../extension/features/todo/events.ts'
import type {} from '../../../extension/core/tools/code-dispatch.ts'
import type {} from '../../../extension/features/web/service.ts'
import type {} from '../../../extension/features/subagents/worktree/service.ts'
import { createMemoryDisk, createMemoryEventStore, type MemoryDisk } from '../../support/memory-event-store.ts'
import { createLoopRig, fakeTool, linesOf, prompt as promptMessage } from '../../support/loop-rig.ts'
import { callTools, sayText } from '../../support/scripted-adapter.ts'
import { createSessionRig } from '../../support/session-rig.ts'
import { answer, call, chunk, prompt, result, stepEnd, stepStart, turnEnd, turnStart, wholeTurn } from '../../support/session-talk.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const appendAll = (session: Session, drafts: readonly EventDraft[]) => drafts.map((draft) => session.append(draft))
const inTurn: readonly EventDraft[] = [turnStart(1)]
const inStep: readonly EventDraft[] = [...inTurn, stepStart(1, 1)]
const asked: EventDraft = { type: 'approval/asked', data: { id: 'a', toolName: 'shell' } }
const compacting: EventDraft = { type: 'compaction/start', data: { compactionId: 'c', turn: null } }
const summary: EventDraft = {
  type: 'compaction/summary',
  data: {
    compactionId: 'c', sourceCommandId: 'd', summary: [{ type: 'text', text: 's' }], shadowedRange: { start: 0, end: 0 }, shadowedSeqs: [0], shadowedTokenCount: 9,
    provider: 'p', model: 'm', maxTokens: 9, usage: { inputTokens: 1, outputTokens: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5 }, pieces: 2,
  },
}
const replace = (start: number, end: number): SurfaceOp => ({ op: 'replace', start, end })

/** A session over a disk of its own, and a way to come back to it. */
async function fresh(drafts: readonly EventDraft[] = []) {
  const disk = createMemoryDisk()
  const rig = await createSessionRig({ events: createMemoryEventStore({ disk }) })
  const session = await rig.sessions.create({ cwd: '/project', id: 's' })
  appendAll(session, drafts)
  return { disk, session, ...rig }
}
const reopened = async (disk: MemoryDisk) => (await createSessionRig({ events: createMemoryEventStore({ disk }) })).sessions.open('s')
/** Another line at the end of the file, as another build might have written it. */
const scribble = (disk: MemoryDisk, line: object) => {
  disk.logs.get('s')!.text += `${JSON.stringify(line)}\n`
}

describe('11.1 the envelope', () => {
  it('is a type, a number from 0 without a gap, a time and data, all frozen', async () => {
    const { session, clock } = await fresh()
    const at = clock.now()
    const [first, second] = appendAll(session, [turnStart(1), prompt('x')])
    expect(first).toEqual({ type: 'turn/start', seq: 0, time: at, data: { turn: 1 } })
    expect([second?.seq, Object.isFrozen(second), Object.isFrozen(second?.data)]).toEqual([1, true, true])
  })
  it('of another format version refuses to load, and the file stays as it is', async () => {
    const { disk, session } = await fresh(wholeTurn(1))
    await session.close()
    const log = disk.logs.get('s')!
    log.text = log.text.replace('"version":0', '"version":1')
    const { text } = log
    await expect(reopened(disk)).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' })
    expect(log.text).toBe(text)
  })
  it('of an unknown type refuses the session, unless it may be ignored', async () => {
    for (const ignorable of [true, undefined]) {
      const { disk, session } = await fresh([turnStart(1), turnEnd(1)])
      await session.close()
      scribble(disk, { type: 'who/knows', seq: 2, time: 0, data: { a: 1 }, ...(ignorable && { ignorable }) })
      const opening = reopened(disk)
      if (ignorable) expect((await opening).events(2, 3)).toMatchObject([{ type: 'who/knows', data: { a: 1 } }])
      else await expect(opening).rejects.toMatchObject({ code: 'UNKNOWN_EVENT' })
    }
  })
})

describe('11.2 the surface', () => {
  it('current, shadowed and log-only are told apart; a transcript for people is what was appended', async () => {
    const { session } = await fresh(wholeTurn(1))
    const before = session.surface().nodes.map(({ seq }) => seq)
    session.append({ ...prompt('summary'), surfaceOp: replace(0, before.length - 1), sourceEventSeqs: before })
    expect(session.surface().nodes.map(({ seq }) => seq)).toEqual([session.length - 1])
    expect(session.events().filter(({ surfaceOp }) => surfaceOp === 'append').map(({ seq }) => seq)).toEqual(before)
    expect(session.messages().map(({ content }) => content)).toEqual([[{ type: 'text', text: 'summary' }]])
  })
  it('messages are cached by node and made anew when something is replaced', async () => {
    const { session } = await fresh(wholeTurn(1))
    const first = session.messages()
    expect(session.messages()).toBe(first)
    session.append(prompt('more'))
    expect([session.messages()[0] === first[0], session.surface().generation]).toEqual([true, 0])
    session.append({ ...prompt('instead'), surfaceOp: replace(0, 0), sourceEventSeqs: [session.surface().nodes[0]!.seq] })
    expect([session.messages()[0] === first[0], session.messages()[1] === first[1], session.surface().generation]).toEqual([false, true, 1])
  })
  it('an answer without content derives nothing', async () => {
    const { session } = await fresh([...inStep, answer(1, 1, '')])
    expect([session.surface().nodes.length, session.messages()]).toEqual([1, []])
  })
})

describe('11.3 appending', () => {
  const refusals: readonly [string, readonly EventDraft[], unknown, RegExp][] = [
    ['sources that are empty', inTurn, { ...prompt('x'), sourceEventSeqs: [] }, /are empty/],
    ['sources that repeat', inTurn, { ...prompt('x'), sourceEventSeqs: [0, 0] }, /repeat one/],
    ['sources that come later', inTurn, { ...prompt('x'), sourceEventSeqs: [1] }, /not all earlier/],
    ['sources that are no numbers of events', inTurn, { ...prompt('x'), sourceEventSeqs: [-1] }, /not all earlier/],
    ['a replacement that names not all it shadows', [prompt('a'), prompt('b')], { ...prompt('x'), surfaceOp: replace(0, 1), sourceEventSeqs: [0] }, /do not name event 1/],
    ['a replacement without sources', [prompt('a')], { ...prompt('x'), surfaceOp: replace(0, 0) }, /do not name event 0/],
    ['a replacement beyond the end', [prompt('a')], { ...prompt('x'), surfaceOp: replace(0, 1), sourceEventSeqs: [0] }, /the surface ends at 0/],
    ['a place for what the model does not see', [], { ...turnStart(1), surfaceOp: 'append' }, /must not carry a surfaceOp/],
    ['a message without a place', [], { ...prompt('x'), surfaceOp: undefined }, /needs a surfaceOp/],
    ['a notice with a line of 121 characters', [], notice('x'.repeat(121)), /at most 120 characters/],
    ['such a notice that waits', [], { type: 'agent/inbox/spliced', data: { target: 'next-turn', start: 0, inserted: [notice('x'.repeat(121)).data] } }, /at most 120 characters/],
  ]
  it.each(refusals)('refuses %s, and changes nothing', async (_what, before, draft, problem) => {
    const { session } = await fresh(before)
    expect(() => session.append(draft as EventDraft)).toThrow(problem)
    expect(session.length).toBe(before.length)
  })
  it('refuses what is no lossless JSON', async () => {
    const { session } = await fresh()
    const draft = { type: 'turn/start', data: { turn: 1, extra: undefined, at: new Date(0) } } as unknown as EventDraft
    expect(() => session.append(draft)).toThrow(expect.objectContaining({ code: 'NOT_JSON' }))
  })
  it('keeps its own copy', async () => {
    const { session } = await fresh()
    const todo: { text: string } = { text: 'before' }
    session.append({ type: 'user/message', surfaceOp: 'append', data: { id: 'm', role: 'user', content: [{ type: 'text', ...todo }], source: { kind: 'user' } } })
    todo.text = 'after'
    expect(session.messages()[0]?.content).toEqual([{ type: 'text', text: 'before' }])
  })
  it('tells observers after the commit, in order; one that throws undoes nothing', async () => {
    const { session, kernel } = await fresh()
    const seen: string[] = []
    kernel.root.on('session/event', (told, event) => {
      seen.push(`first ${event.seq} of ${told.length}`)
      throw new Error('broken')
    })
    kernel.root.on('session/event', (_session, { seq }) => void seen.push(`second ${seq}`))
    session.append(turnStart(1))
    expect([seen, session.length]).toEqual([['first 0 of 1', 'second 0'], 1])
  })
  it('an observer that appends is refused', async () => {
    const { session, kernel } = await fresh()
    let failure: unknown
    kernel.root.on('session/event', ({ append }) => {
      try {
        append.call(session, prompt('x'))
      } catch (error) {
        failure = error
      }
    })
    session.append(turnStart(1))
    expect([failure, session.length]).toMatchObject([{ code: 'REENTRANT' }, 1])
  })
  it('a flush waits for all durable work beside it, at once, and rejects with its failure', async () => {
    const { session, kernel } = await fresh(inTurn)
    const trace: string[] = []
    for (const name of ['a', 'b']) {
      kernel.root.on('session/flush', async () => {
        trace.push(`${name} begins`)
        await Promise.resolve()
        trace.push(`${name} ends`)
      })
    }
    await session.flush()
    expect(trace).toEqual(['a begins', 'b begins', 'a ends', 'b ends'])
    kernel.root.on('session/flush', () => Promise.reject(new Error('no room')))
    await expect(session.flush()).rejects.toThrow('no room')
  })

  describe('a result in the place of a result', () => {
    const talk = [...inStep, answer(1, 1, 'look', ['a', 'b']), call(1, 1, 'a'), call(1, 1, 'b'), result(1, 1, 'a'), result(1, 1, 'b')]
    const replaced = (draft: EventDraft<'tool/result'>, more: object = {}): EventDraft => ({ ...draft, surfaceOp: replace(1, 1), sourceEventSeqs: [5], ...more })
    const shorter = result(1, 1, 'a', 'short')
    it('changes its content, also after its step and turn', async () => {
      const { session } = await fresh([...talk, stepEnd(1, 1), turnEnd(1)])
      session.append(replaced(shorter))
      expect(session.messages()[1]).toEqual(shorter.data.message)
    })
    const bad: readonly [string, EventDraft, RegExp][] = [
      ['another call', replaced(result(1, 1, 'b')), /nothing but the content/],
      ['another step', replaced({ ...shorter, data: { ...shorter.data, step: 2 } }), /nothing but the content/],
      ['an error of its own', replaced({ ...shorter, data: { ...shorter.data, error: { name: 'ToolError', code: 'X' } } }), /nothing but the content/],
      ['other facts for the card', replaced({ ...shorter, data: { ...shorter.data, meta: { a: 1 } } }), /nothing but the content/],
      ['another id', replaced({ ...shorter, data: { ...shorter.data, message: { ...shorter.data.message, id: 'other' } } }), /nothing but the content/],
      ['failure instead of success', replaced({ ...shorter, data: { ...shorter.data, message: { ...shorter.data.message, content: [{ ...shorter.data.message.content[0], isError: true }] } } }), /nothing but the content/],
      ['two results at once', replaced(shorter, { surfaceOp: replace(1, 2), sourceEventSeqs: [5, 6] }), /exactly one tool\/result/],
      ['an answer', replaced(shorter, { surfaceOp: replace(0, 0), sourceEventSeqs: [2] }), /exactly one tool\/result/],
    ]
    it.each(bad)('takes no %s', async (_what, draft, problem) => {
      const { session } = await fresh(talk)
      expect(() => session.append(draft)).toThrow(problem)
    })
  })
})

describe('11.4 notices', () => {
  it('a tool that would tell one with a long line fails, and the talk goes on', async () => {
    const rig = createLoopRig({
      answers: [callTools({ id: 'a', name: 'act', args: {} }), sayText('ok')],
      tools: [fakeTool('act', (_args, exec) => (exec.deferContext(notice('x'.repeat(121)).data), 'done'))],
    })
    const agent = await rig.newAgent()
    agent.followup(promptMessage('go'))
    await agent.whenIdle()
    expect(linesOf(agent.session).slice(-7)).toEqual(['call a act', expect.stringMatching(/^result a (?!ok)/), 'step end', 'step 2', 'assistant ok', 'step end', 'end completed'])
    expect(JSON.stringify(agent.session.messages())).toContain('at most 120 characters')
  })
  it('one that stands in a log already is read', async () => {
    const { disk, session } = await fresh([turnStart(1), turnEnd(1)])
    await session.close()
    scribble(disk, { ...notice('x'.repeat(200)), seq: 2, time: 0 })
    expect((await reopened(disk)).events(2, 3)).toMatchObject([{ data: { source: { summary: 'x'.repeat(200) } } }])
  })
})

describe('11.5 the header', () => {
  it('stands outside the log, is frozen, and its folder is absolute', async () => {
    const { sessions } = await fresh()
    const session = await sessions.create({ cwd: '/project', id: 'child', agentPreset: 'ask', origin: 'subagent', parentSession: 's', delegationDepth: 1 })
    expect(session.header).toEqual({ version: 0, id: 'child', createdAt: expect.any(Number), cwd: '/project', agentPreset: 'ask', origin: 'subagent', parentSession: 's', delegationDepth: 1 })
    expect([Object.isFrozen(session.header), session.length]).toEqual([true, 0])
    await expect(sessions.create({ cwd: 'project' })).rejects.toMatchObject({ code: 'INVALID_CWD' })
  })
})

describe('11.6 fork and seed', () => {
  const rows: readonly [string, (sessions: Sessions) => Promise<unknown>][] = [
    ['SESSION_NOT_FOUND', (sessions) => sessions.fork('nobody')],
    ['SESSION_ALREADY_EXISTS', (sessions) => sessions.fork('s', { childId: 's' })],
    ['INVALID_BOUNDARY', (sessions) => sessions.fork('s', { boundary: 10_000 })],
    ['INVALID_BOUNDARY', (sessions) => sessions.fork('s', { boundary: 1.5 })],
    ['OPEN_TURN', (sessions) => sessions.fork('s', { boundary: 5 })],
  ]
  it.each(rows)('a fork fails with %s', async (code, fork) => {
    const { sessions } = await fresh(wholeTurn(1))
    await expect(fork(sessions)).rejects.toMatchObject({ code })
  })
  it('a fork of a session that is stored only is SESSION_NOT_LIVE', async () => {
    const { sessions, session } = await fresh(wholeTurn(1))
    await session.close()
    await expect(sessions.fork('s')).rejects.toMatchObject({ code: 'SESSION_NOT_LIVE' })
  })
  it('a child holds the prefix, the folder, its parent and the length of its seed, closed by its mark', async () => {
    const { sessions, session } = await fresh([...wholeTurn(1), ...wholeTurn(2)])
    const boundary = session.events().find(({ type }) => type === 'turn/end')!.seq
    const child = await sessions.fork('s', { boundary })
    expect(child.header).toMatchObject({ cwd: '/project', parentSession: 's', seedLength: boundary + 1 })
    expect([child.events(0, boundary + 1), child.events(boundary + 1).map(({ type }) => type)]).toEqual([session.events(0, boundary + 1), ['session/end-seed']])
  })
  it('the mark of a seed is not repeated by a second resume', async () => {
    const { disk, session } = await fresh(wholeTurn(1))
    await session.close()
    const { length } = session
    await (await reopened(disk)).close()
    expect((await reopened(disk)).events(length).map(({ type }) => type)).toEqual(['session/end-seed'])
  })
})

describe('11.7 crash repair', () => {
  it('closes an open turn: results for calls, the step, the turn, with the time of the last event', async () => {
    const { disk, session, clock } = await fresh([...inStep, prompt('x'), answer(1, 1, 'look', ['a', 'b']), call(1, 1, 'a')])
    const at = clock.now()
    await session.flush()
    for (const log of disk.logs.values()) log.lease = null
    const again = await reopened(disk)
    const added = again.events(5)
    expect(added.map((event) => [event.type, event.type === 'tool/result' ? event.data.error?.code : undefined])).toEqual([
      ['tool/result', 'TOOL_OUTCOME_UNKNOWN'], ['tool/call', undefined], ['tool/result', 'TOOL_NOT_STARTED'], ['step/end', undefined], ['turn/end', undefined], ['session/end-seed', undefined],
    ])
    expect(added.slice(0, -1).every(({ time }) => time === at)).toBe(true)
    expect(added.find(({ type }) => type === 'turn/end')).toMatchObject({ data: { reason: { kind: 'interrupted' } } })
  })
  it('leaves a turn open whose call waits for the person, and ends what ran beside it', async () => {
    const { disk, session } = await fresh([...inStep, prompt('x'), answer(1, 1, 'look', ['a', 'b', 'c']), call(1, 1, 'a'), call(1, 1, 'b'), { type: 'approval/asked', data: { id: 'q', toolName: 'look', callId: 'a' } }, { type: 'approval/asked', data: { id: 'r', toolName: 'look', callId: 'b' } }, { type: 'approval/decided', data: { id: 'r', outcome: 'allowed-once' } }])
    await session.flush()
    for (const log of disk.logs.values()) log.lease = null
    const again = await reopened(disk)
    expect(again.events(9).map((event) => (event.type === 'tool/result' ? `${event.data.message.source.callId} ${event.data.error?.code}` : event.type))).toEqual(['b TOOL_OUTCOME_UNKNOWN', 'session/end-seed'])
    expect(again.openTurn()?.step?.unanswered.map(({ callId, isStarted, approvalId }) => [callId, isStarted, approvalId])).toEqual([['a', true, 'q'], ['c', false, undefined]])
  })
  it('closes as cancelled what was asked for a call that is over', async () => {
    const { disk, session } = await fresh([...inStep, { type: 'approval/asked', data: { id: 'q', toolName: 'look', callId: 'inner' } }])
    await session.flush()
    for (const log of disk.logs.values()) log.lease = null
    expect((await reopened(disk)).events(3).map((event) => (event.type === 'approval/decided' ? `${event.data.id} ${event.data.outcome}` : event.type))).toEqual(['q cancelled', 'step/end', 'turn/end', 'session/end-seed'])
  })
  it('is durable at once and happens once', async () => {
    const { disk, session } = await fresh(inStep)
    await session.flush()
    for (const log of disk.logs.values()) log.lease = null
    const host = createMemoryEventStore({ disk })
    const first = (await (await createSessionRig({ events: host })).sessions.open('s')).events()
    host.crash()
    expect((await reopened(disk)).events()).toEqual(first)
  })
})

describe('11.8 the checker', () => {
  const rows: readonly [string, readonly EventDraft[]][] = [
    ['turns that do not count from 1', [turnStart(2)]],
    ['steps that do not count from 1', [...inTurn, stepStart(1, 2)]],
    ['a turn in a turn', [...inTurn, turnStart(2)]],
    ['a step in a step', [...inStep, stepStart(1, 2)]],
    ['the end of a turn over an open step', [...inStep, turnEnd(1)]],
    ['a result without a call in its step', [...inStep, answer(1, 1, '', ['a']), result(1, 1, 'a')]],
    ['a result of a call of another step', [...inStep, answer(1, 1, '', ['a']), call(1, 1, 'a'), result(1, 1, 'a'), stepEnd(1, 1), stepStart(1, 2), result(1, 2, 'a')]],
    ['a header outside a turn', [{ type: 'request/header', data: { reason: 'initial', header: { config: { provider: 'p', model: 'm' } } } }]],
    ['a context outside a turn', [{ type: 'request/context', data: { provider: 'p', model: 'm' } }]],
    ['a decision nobody asked for', [{ type: 'approval/decided', data: { id: 'a', outcome: 'rejected' } }]],
    ['a second decision', [asked, { type: 'approval/decided', data: { id: 'a', outcome: 'rejected' } }, { type: 'approval/decided', data: { id: 'a', outcome: 'rejected' } }]],
    ['a retry nobody scheduled', [...inStep, { type: 'llm/retry-started', data: { retryId: 'r', turn: 1, step: 1, retry: 1 } }]],
    ['a summary outside its brackets', [summary]],
    ['the end of a compaction that did not begin', [{ type: 'compaction/end', data: { compactionId: 'c', turn: null } }]],
    ['two compactions at once', [compacting, { type: 'compaction/start', data: { compactionId: 'd', turn: null } }]],
    ['the end of a command that did not run', [{ type: 'command/done', data: { commandId: 'c', kind: 'success' } }]],
  ]
  it.each(rows)('refuses %s with INVARIANT', async (_what, drafts) => {
    const { session } = await fresh(drafts.slice(0, -1))
    expect(() => session.append(drafts.at(-1)!)).toThrow(expect.objectContaining({ code: 'INVARIANT' }))
  })
  it.each([
    [{ enabled: false }, true],
    [{ block: ['turn-order'] }, true],
    [{ allow: ['pairs'] }, true],
    [{ allow: ['turn-order'] }, false],
    [{}, false],
  ] as const)('with %j takes a second turn 1: %s', async (invariants, isTaken) => {
    const { sessions } = await createSessionRig({ events: createMemoryEventStore(), invariants })
    const session = await sessions.create({ cwd: '/project' })
    appendAll(session, [turnStart(1), turnEnd(1)])
    const again = () => session.append(turnStart(1))
    if (isTaken) again()
    else expect(again).toThrow(expect.objectContaining({ code: 'INVARIANT' }))
  })
})

/** One row for each durable event: who writes it (files below `extension`), what must stand before it, and one with all its fields. */
interface EventRow {
  readonly draft: EventDraft
  readonly writers: string
  readonly before?: readonly EventDraft[]
}
const usage = { inputTokens: 1, outputTokens: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5 }
const config = { provider: 'p', model: 'm', reasoningEffort: 'high', temperature: 0.5, maxTokens: 9, stop: ['END'] }
const place = { turn: 1, step: 1 }
const failure = { code: 'SERVER' as const, message: 'busy' }
const budget = { cap: 'cost', per: 'day', limit: 5, used: 4 } as const
const rows: readonly EventRow[] = [
  { draft: turnStart(1), writers: 'core/loop/turn' },
  { draft: { type: 'turn/end', data: { turn: 1, reason: { kind: 'aborted', reason: { kind: 'hook', reason: 'no' } } } }, before: inTurn, writers: 'core/log/crash-repair core/loop/turn' },
  { draft: { type: 'turn/paused', ignorable: true, data: { ...place, cap: 'cost', limit: 5, per: 'day', used: 4, next: 2 } }, before: inTurn, writers: 'core/loop/turn' },
  { draft: stepStart(1, 1), before: inTurn, writers: 'core/loop/step' },
  { draft: stepEnd(1, 1), before: inStep, writers: 'core/log/crash-repair core/loop/resumed-step core/loop/step' },
  { draft: prompt('x'), writers: 'core/compaction/compactor core/loop/step' },
  { draft: chunk(1, 1, { type: 'text-delta', index: 0, delta: 'x' }), before: inStep, writers: 'core/log/chunk-rows core/loop/attempt' },
  { draft: { ...answer(1, 1, 'x'), data: { ...answer(1, 1, 'x').data, usage, interrupted: true } }, before: inStep, writers: 'core/loop/attempt' },
  { draft: call(1, 1, 'a'), before: inStep, writers: 'core/log/crash-repair core/loop/calls core/loop/resumed-step core/tools/scheduler' },
  { draft: { ...result(1, 1, 'a'), data: { ...result(1, 1, 'a').data, error: { name: 'ToolError', code: 'X' }, meta: { a: 1 } } }, before: [...inStep, call(1, 1, 'a')], writers: 'core/compaction/prune core/log/crash-repair core/loop/calls core/tools/scheduler' },
  { draft: { type: 'tool/rewritten', ignorable: true, data: { ...place, callId: 'a', arguments: '{}', by: 'a hook' } }, before: inStep, writers: 'core/tools/pipeline' },
  { draft: { type: 'request/header', data: { reason: 'change', header: { config, adapterDefaults: { a: 1 }, system: 's', tools: [] } } }, before: inTurn, writers: 'core/loop/request' },
  { draft: { type: 'request/context', data: { provider: 'p', model: 'm', contextWindow: 9 } }, before: inTurn, writers: 'core/loop/request' },
  { draft: { type: 'session/end-seed', data: {} }, writers: 'core/session/sessions' },
  { draft: { type: 'session/title', data: { title: 'T', messageSeqs: [], source: { kind: 'provider', provider: 'p' } } }, writers: 'core/session/sessions core/session/title-request core/session/titles-plugin features/editor-calls/calls' },
  { draft: { type: 'session/title-llm-request', data: { titleProvider: 'p', messageSeqs: [0], route: { provider: 'p', model: 'm' }, system: 's', messages: [prompt('x').data], maxTokens: 9 } }, writers: 'core/session/title-request' },
  { draft: { type: 'session/archived', ignorable: true, data: { isArchived: true } }, writers: 'core/session/sessions' },
  { draft: { type: 'agent/inbox/spliced', data: { target: 'next-step', start: 0, removedCount: 1, inserted: [prompt('x').data], outcome: 'canceled' } }, writers: 'core/loop/agent core/session/sessions' },
  { draft: { type: 'agent-preset/selected', data: { agentPreset: 'ask' } }, writers: 'core/loop/agents' },
  { draft: { type: 'agent/configured', ignorable: true, data: { provider: 'p', model: 'm', maxTokens: 9, reasoningEffort: 'low' } }, writers: 'core/loop/agents' },
  { draft: { type: 'approval/asked', data: { id: 'a', toolName: 'shell', callId: 'c', reason: 'why' } }, writers: 'core/policy/approvals' },
  { draft: { type: 'approval/decided', data: { id: 'a', outcome: 'allowed-once', rule: 'r', note: 'n' } }, before: [{ type: 'approval/asked', data: { id: 'a', toolName: 'shell' } }], writers: 'core/log/crash-repair core/policy/approvals' },
  { draft: { type: 'approval/policy', data: { policy: 'never', source: 'delegation' } }, writers: 'core/policy/permissions-service core/session/archive/plugin' },
  { draft: { type: 'sandbox/mode', data: { mode: 'read-only', source: 'delegation' } }, writers: 'core/policy/permissions-service core/session/archive/plugin' },
  { draft: { type: 'permission/preset', data: { preset: 'ask' } }, writers: 'core/policy/permissions-service core/session/archive/plugin' },
  { draft: { type: 'permission/rule-revoked', data: { rule: '{}' } }, writers: 'core/policy/permissions-service' },
  { draft: { type: 'command/run', data: { commandId: 'c', name: 'compact', args: 'now', source: 'chat' } }, writers: 'core/commands/registry' },
  { draft: { type: 'command/done', data: { commandId: 'c', kind: 'error', text: 'no', sourceEventSeq: 0 } }, before: [{ type: 'command/run', data: { commandId: 'c', name: 'compact', source: 'chat' } }], writers: 'core/commands/registry core/log/crash-repair' },
  { draft: { type: 'llm/retry', data: { ...place, retryId: 'r', provider: 'p', mode: 'normal', policyKey: 'settings', retry: 1, maxRetries: 2, delayMs: 3, failure } }, before: inStep, writers: 'core/loop/retry' },
  { draft: { type: 'llm/retry-started', data: { ...place, retryId: 'r', retry: 1 } }, before: [...inStep, { type: 'llm/retry', data: { ...place, retryId: 'r', provider: 'p', mode: 'always', policyKey: 'settings', retry: 1, delayMs: 3, failure } }], writers: 'core/loop/retry' },
  { draft: { type: 'llm/route', ignorable: true, data: { ...place, from: { provider: 'p', model: 'm' }, to: { provider: 'q', model: 'n' }, failure } }, before: inStep, writers: 'core/loop/model-routes' },
  { draft: { type: 'compaction/start', data: { compactionId: 'c', sourceCommandId: 'd', turn: 1 } }, writers: 'core/compaction/compactor' },
  { draft: summary, before: [compacting], writers: 'core/compaction/compactor' },
  { draft: { type: 'compaction/prune', data: { shadowedRange: { start: 0, end: 0 }, shadowedSeqs: [0], shadowedTokenCount: 9 } }, writers: 'core/compaction/prune' },
  { draft: { type: 'compaction/end', data: { compactionId: 'c', sourceCommandId: 'd', turn: null, error: { code: 'summary', message: 'no' } } }, before: [compacting], writers: 'core/compaction/compactor' },
  { draft: { type: 'log/repaired', ignorable: true, data: { cutBytes: 1, keptAs: 'events.jsonl.cut-1', reason: 'torn' } }, writers: 'core/session/sessions' },
  { draft: { type: 'cost/estimated', ignorable: true, data: { purpose: 'turn', provider: 'p', model: 'm', usage } }, writers: 'core/cost/meter' },
  { draft: { type: 'budget/warned', ignorable: true, data: budget }, writers: 'core/cost/budgets' },
  { draft: { type: 'budget/unpriced', ignorable: true, data: { provider: 'p', model: 'm' } }, writers: 'core/cost/budgets' },
  { draft: { type: 'budget/raised', ignorable: true, data: { cap: 'cost', per: 'day', limit: 9, base: 5, day: '2026-01-01' } }, writers: 'core/cost/budgets' },
  { draft: { type: 'todo/write', data: { todos: [{ content: 'a', status: 'in_progress' }] } }, before: inTurn, writers: 'tools/todo/todo-write' },
  { draft: { type: 'todo/edited', ignorable: true, data: { action: 'tick', tasks: [{ id: 't1-1', content: 'a', status: 'completed' }], dropped: [] } }, writers: 'features/todo/tasks' },
  { draft: { type: 'plan/mode', data: { active: true } }, writers: 'features/plan/plan' },
  { draft: { type: 'plan/selected', ignorable: true, data: { active: false, isSilent: true } }, writers: 'features/plan/plan' },
  { draft: { type: 'plan/edited', ignorable: true, data: { callId: 'c', plan: '# P', comments: [] } }, writers: 'features/plan/reviews' },
  { draft: { type: 'plan/approved', ignorable: true, data: { callId: 'c', plan: '# P', isEdited: false, comments: [], steps: [] } }, writers: 'features/plan/reviews' },
  { draft: { type: 'plan/exception', ignorable: true, data: { callId: 'c', tool: 'write' } }, writers: 'features/plan/exceptions' },
  { draft: { type: 'goal/change', data: { kind: 'goal/change', version: 1, operation: 'create', goal: { id: 'goal-1', revision: 1, objective: 'o', phase: 'active', maxGoalRounds: 9 }, roundsStarted: 0, createdAt: 1, updatedAt: 1 } }, writers: 'features/goals/goals' },
  { draft: { type: 'goal/terms', ignorable: true, data: { goalId: 'goal-1', maxTokens: 1, maxCost: 0.5, maxMinutes: 2, checks: ['npm test'] } }, writers: 'features/goals/goals' },
  { draft: { type: 'goal/baseline', ignorable: true, data: { goalId: 'goal-1', started: { tokens: 0, amount: 0 }, errors: [] } }, writers: 'features/goals/goals' },
  { draft: { type: 'goal/checked', ignorable: true, data: { goalId: 'goal-1', results: [{ check: 'npm test', isOk: true, outcome: 'exit code 0', output: '', durationMs: 1 }] } }, writers: 'features/goals/goals' },
  { draft: { type: 'goal/strike', ignorable: true, data: { goalId: 'goal-1', round: 1 } }, writers: 'features/goals/calls' },
  { draft: { type: 'schedule/change', data: { version: 1, operation: 'create', schedule: { id: 'schedule-1', kind: 'after', prompt: 'p', scheduledAt: '2026-01-01T00:00:00.000Z', afterSeconds: 1 } } }, writers: 'features/schedule/due features/schedule/runtime' },
  { draft: { type: 'schedule/adjust', data: { version: 1, operation: 'pause', id: 'schedule-1' } }, writers: 'features/schedule/due features/schedule/runtime' },
  { draft: { type: 'hook/invoked', ignorable: true, data: { turn: 1, point: 'PreToolUse', dialect: 'claude', matcher: '*', handlerId: 'h' } }, before: inTurn, writers: 'features/hooks/plugin' },
  { draft: { type: 'hook/result', ignorable: true, data: { turn: 1, point: 'PreToolUse', handlerId: 'h', decision: 'deny', exitCode: 2, stderrSummary: 's', durationMs: 3, reason: 'r' } }, before: inTurn, writers: 'features/hooks/plugin' },
  { draft: { type: 'feedback/record', ignorable: true, data: { text: 'fine' } }, writers: 'features/commands/plugin' },
  { draft: { type: 'fs/observed', ignorable: true, data: { path: '/a', version: null } }, writers: 'features/observation/observations' },
  { draft: { type: 'fs/before-image', ignorable: true, data: { callId: 'c', path: '/a', digest: null } }, writers: 'features/checkpoints/take-over tools/files/file-change' },
  { draft: { type: 'job/started', ignorable: true, data: { id: 'j', kind: 'shell', label: 'l', movedFromCall: 'c', restartOf: 'i' } }, writers: 'features/jobs/plugin' },
  { draft: { type: 'job/program', ignorable: true, data: { id: 'j', pid: 1, startedAt: 2, birth: 'b' } }, writers: 'features/jobs/plugin' },
  { draft: { type: 'fs/after-image', ignorable: true, data: { callId: 'c', path: '/a', before: null, after: 'd' } }, writers: 'features/checkpoints/recorder' },
  { draft: { type: 'review/limited', ignorable: true, data: { callId: 'c', reason: 'too-large-to-keep', files: 2 } }, writers: 'features/checkpoints/recorder features/checkpoints/shell-changes' },
  { draft: { type: 'review/kept', ignorable: true, data: { files: [{ path: '/a', isWhole: true, calls: [] }] } }, writers: 'features/checkpoints/reviews' },
  { draft: { type: 'review/undone', ignorable: true, data: { scope: 'turn', turn: 1, files: [{ path: '/a', isWhole: true, calls: [], before: 'd', after: null }] } }, writers: 'features/checkpoints/reviews' },
  { draft: { type: 'job/ended', ignorable: true, data: { id: 'j', status: 'failed', detail: 'd' } }, writers: 'features/jobs/plugin' },
  { draft: { type: 'question/asked', ignorable: true, data: { id: 'q', callId: 'c', questions: [] } }, writers: 'features/questions/questions' },
  { draft: { type: 'question/settled', ignorable: true, data: { id: 'q', outcome: 'answered' } }, writers: 'features/questions/questions' },
  { draft: { type: 'web/deepseek-search-llm-request', ignorable: true, data: { callId: 'c', endpoint: 'https://a.test/messages', apiVersion: '1', body: {}, model: 'm', inputTokens: 1, outputTokens: 2, searches: null } }, writers: 'tools/web/web-search' },
  {
    draft: { type: 'subagent/descriptor', data: { version: 2, mode: 'continuable', provider: 'spawn', label: 'l', agentProvider: 'p', agentModel: 'm', persona: 'x', toolFilter: { allow: ['read'], deny: ['write'] } } },
    writers: 'features/subagents/child-starts',
  },
  { draft: { type: 'permission/rule-granted', ignorable: true, data: { rule: '{}' } }, writers: 'core/policy/permissions-service' },
  { draft: { type: 'subagent/promoted', ignorable: true, data: {} }, writers: 'features/subagents/letters' },
  { draft: { type: 'worktree/opened', ignorable: true, data: { id: 'w', label: 'l', runId: 'r', callId: 'c', mayReturn: true, repository: '/project', root: '/w', gitDir: '/project/.git/worktrees/w', branch: 'bosun/l', base: 'b' } }, writers: 'features/subagents/worktree/worktrees' },
  { draft: { type: 'worktree/waiting', ignorable: true, data: { id: 'w', files: 1, commit: 'c' } }, writers: 'features/subagents/worktree/worktrees' },
  { draft: { type: 'worktree/closed', ignorable: true, data: { id: 'w', how: 'discarded' } }, writers: 'features/subagents/worktree/worktrees' },
  { draft: { type: 'tool/code-dispatch-start', ignorable: true, data: { rootCallId: 'c', parentCallId: 'c', subCallId: 'c:code:1', name: 'read', arguments: { file_path: 'a' } } }, writers: 'features/code-mode/code-mode' },
  { draft: { type: 'tool/code-dispatch', ignorable: true, data: { rootCallId: 'c', parentCallId: 'c', subCallId: 'c:code:1', name: 'read', arguments: { file_path: 'a' }, isError: true, content: [], error: { name: 'ToolError', code: 'DENIED' }, meta: {}, policy: { by: 'rule', why: 'w' } } }, before: [{ type: 'tool/code-dispatch-start', ignorable: true, data: { rootCallId: 'c', parentCallId: 'c', subCallId: 'c:code:1', name: 'read', arguments: { file_path: 'a' } } }], writers: 'features/code-mode/code-mode' },
  { draft: { type: 'cordis/package', ignorable: true, data: { pluginId: 'hello-1', packageId: 'pkg-1', name: 'n', purpose: 'p', halves: ['host'], restoredFrom: 'pkg-0' } }, writers: 'features/dynamic-plugins/define' },
  { draft: { type: 'cordis/approval', ignorable: true, data: { approvalId: 'approval-1', pluginId: 'hello-1', packageId: 'pkg-1', outcome: 'allowed', tool: 'cordis_define', isForAllVersions: true } }, writers: 'features/dynamic-plugins/approval' },
  { draft: { type: 'cordis/run', ignorable: true, data: { pluginId: 'hello-1', packageId: 'pkg-1', runId: 'run-1', state: 'failed', reason: 'r' } }, writers: 'features/dynamic-plugins/book features/dynamic-plugins/records' },
  { draft: { type: 'cordis/removed', ignorable: true, data: { pluginId: 'hello-1', wasRunning: false } }, writers: 'features/dynamic-plugins/book' },
  { draft: { type: 'tool-workflow/run-start', ignorable: true, data: { runId: 'r', name: 'n' } }, writers: 'features/workflow/record' },
  { draft: { type: 'tool-workflow/plan', ignorable: true, data: { runId: 'r', kind: 'workflow', meta: { name: 'n', description: 'd' }, script: 'return 1', args: {}, callId: 'c', resumedFrom: 'q' } }, writers: 'features/workflow/record' },
  { draft: { type: 'tool-workflow/phase', ignorable: true, data: { runId: 'r', title: 't' } }, writers: 'features/workflow/record' },
  { draft: { type: 'tool-workflow/log', ignorable: true, data: { runId: 'r', message: 'm' } }, writers: 'features/workflow/record' },
  { draft: { type: 'tool-workflow/agent-start', ignorable: true, data: { runId: 'r', seq: 1, label: 'l', phase: 'p', childId: 'c', isReused: true } }, writers: 'features/workflow/record' },
  { draft: { type: 'tool-workflow/journal', ignorable: true, data: { runId: 'r', seq: 1, key: 'k', result: 'done' } }, writers: 'features/workflow/record' },
  { draft: { type: 'tool-workflow/changes', ignorable: true, data: { runId: 'r', seq: 1, files: 1, paths: ['/project/a'] } }, writers: 'features/workflow/record' },
  { draft: { type: 'tool-workflow/agent-end', ignorable: true, data: { runId: 'r', seq: 1, outcome: 'completed' } }, writers: 'features/workflow/record' },
  { draft: { type: 'tool-workflow/run-end', ignorable: true, data: { runId: 'r', stopReason: 'completed', error: 'e' } }, writers: 'features/workflow/record' },
  { draft: { type: 'team/member', data: { version: 1, teamId: 't', member: { id: 'm', name: 'ada', description: 'd', provider: 'spawn', context: 'fresh', phase: 'failed', error: 'e' } } }, writers: 'features/teams/team' },
  { draft: { type: 'team/task', data: { version: 1, teamId: 't', task: { id: 'task-1', revision: 1, subject: 's', description: 'd', status: 'in_progress', ownerId: 'm', blockedBy: [], writeScopes: ['src'] } } }, writers: 'features/teams/team' },
  { draft: { type: 'team/message/queued', data: { version: 1, teamId: 't', message: { id: 'q', senderId: 'm', senderName: 'ada', targetId: 't', delivery: 'quiet', content: [{ type: 'text', text: 'x' }] } } }, writers: 'features/teams/team' },
  { draft: { type: 'team/message/delivered', data: { version: 1, teamId: 't', messageId: 'q', targetId: 't' } }, writers: 'features/teams/mailbox' },
  { draft: { type: 'terminal/opened', ignorable: true, data: { id: 'pty-1', shell: 'bash' } }, writers: 'features/terminals/plugin' },
  { draft: { type: 'terminal/ended', ignorable: true, data: { id: 'pty-1', exitCode: 0 } }, writers: 'features/terminals/plugin' },
]
/** Named by the specification, with the feature that brings them: from then on each has a row too. */
const later: Readonly<Record<string, string>> = {
  'subagent/descriptor': 'subagents',
  'checkpoint/created': 'checkpoints',
  'checkpoint/restored': 'checkpoints',
  'edit/reviewed': 'review',
}
const surfaceTypes: ReadonlySet<string> = new Set(['user/message', 'assistant/message', 'tool/result'])

describe('11.9 durable events', () => {
  let application: WholeApplication
  let types: EventTypes
  const written = new Map<string, Set<string>>()
  const kept = new Map<string, { readonly id: string; readonly event: SessionEvent; readonly isSeen: boolean }>()
  let restarted: Sessions

  beforeAll(async () => {
    application = await wholeApplication()
    for (const { draft, before = [] } of rows) {
      const session = await application.ctx.sessions.create({ cwd: application.folder })
      appendAll(session, before)
      const seen = session.surface().nodes.length
      kept.set(draft.type, { id: session.id, event: session.append(draft), isSeen: session.surface().nodes.length > seen })
      // What a session begins with alone makes no file.
      session.append(prompt('used'))
    }
    const { ctx } = await application.restart()
    ;({ sessions: restarted, eventTypes: types } = ctx)
    for await (const path of glob('extension/**/*.ts')) {
      for (const [, type] of (await readFile(path, 'utf8')).matchAll(/\btype: '([a-z-]+(?:\/[a-z-]+)+)'/g)) {
        const writers = written.get(type!) ?? new Set()
        written.set(type!, writers.add(path.replace(/^extension\//, '').replace(/\.ts$/, '')))
      }
    }
  })
  afterAll(async () => application.dispose())

  it('has a row for every type that this build knows', () => {
    const known = [coreEventTypes, featureEventTypes, hookEventTypes, todoEventTypes, costEventTypes].flatMap((table) => Object.keys(table))
    const told = new Set<string>([...rows.map(({ draft }) => draft.type), ...Object.keys(later)])
    expect(known.filter((type) => !told.has(type))).toEqual([])
  })
  it.each(rows.map((row) => [row.draft.type, row] as const))('%s: its writers, whether the model sees it, and a log with it loads', async (type, { draft, writers }) => {
    expect([...written.get(type) ?? []].sort()).toEqual(writers.split(' '))
    const stored = kept.get(type)!
    expect([stored.isSeen, types.get(type)?.isSurface === true]).toEqual([surfaceTypes.has(type), surfaceTypes.has(type)])
    expect([draft.surfaceOp !== undefined, stored.event.ignorable === true]).toEqual([surfaceTypes.has(type), types.get(type)?.isIgnorable === true])
    const session = await restarted.open(stored.id)
    expect(session.events(stored.event.seq, stored.event.seq + 1)).toEqual([stored.event])
    await session.close()
  })
  it.each(Object.entries(later))('%s comes with %s and is not for the model', (type) => {
    expect(types.get(type)?.isSurface).toBeUndefined()
  })
})

function notice(line: string): EventDraft<'user/message'> & { readonly data: UserMessage } {
  return { type: 'user/message', surfaceOp: 'append', data: { id: 'n', role: 'user', content: [{ type: 'text', text: 'x' }], source: { kind: 'plugin', plugin: 'p', form: 'notice', summary: line } } }
}
