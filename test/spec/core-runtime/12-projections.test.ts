import { afterEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { CacheMiss } from '../../../extension/core/cost/events.ts'
import type {} from '../../../extension/features/schedule/events.ts'
import type {} from '../../../extension/features/workflow/events.ts'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import type { Projection } from '../../../extension/core/projections/projection.ts'
import { createMemoryEventStore } from '../../support/memory-event-store.ts'
import { createSessionRig } from '../../support/session-rig.ts'
import { answer, call, prompt, result, stepEnd, stepStart, textDelta, turnEnd, turnStart, wholeTurn } from '../../support/session-talk.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const rigOf = async (events = createMemoryEventStore()) => {
  const rig = await createSessionRig({ events })
  return { ...rig, events, session: await rig.sessions.create({ cwd: '/project', id: 'a' }) }
}
const prompts: Projection<number, number> = {
  key: 'prompts', stateVersion: 1, schema: () => z.int(), parts: 'none', isKept: true,
  start: () => 0,
  step: (state, event) => (event.type === 'user/message' ? state + 1 : state),
  view: (state) => state,
}
const noteOf = async (events: ReturnType<typeof createMemoryEventStore>) => (await events.describe('a')).note as { readonly rows: readonly { readonly key: string; readonly seq: number; readonly version: number }[] } | null

const usage = { inputTokens: 5, outputTokens: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const cacheMisses: readonly CacheMiss['reason'][] = [
  { kind: 'model', from: 'a', to: 'b' }, { kind: 'system' }, { kind: 'tools', change: 'moved', tools: ['read'], total: 1 }, { kind: 'config', fields: ['maxTokens'] },
  { kind: 'messages', position: 2, what: 'summary' }, { kind: 'dropped' },
]
/** What the tour does not do, between its turn and the next, or in one. */
const rare: readonly EventDraft[] = [
  ...cacheMisses.map((reason): EventDraft => ({ type: 'cost/estimated', ignorable: true, data: { purpose: 'turn', provider: 'p', model: 'm', usage: { ...usage, isEstimate: true }, amount: 0.5, cacheMiss: { lostTokens: 9, sinceMs: 1, reason } } })),
  { type: 'budget/warned', ignorable: true, data: { cap: 'cost', per: 'day', limit: 1, used: 0.9 } },
  { type: 'budget/unpriced', ignorable: true, data: { provider: 'p', model: 'm' } },
  { type: 'budget/raised', ignorable: true, data: { cap: 'cost', per: 'day', limit: 2, base: 1, day: '2026-11-30' } },
  turnStart(2),
  { type: 'turn/paused', data: { turn: 2, step: 1, cap: 'cost', limit: 1, per: 'session', used: 0.9, next: 0.2 } },
  turnEnd(2),
  { type: 'agent/inbox/spliced', data: { target: 'next-turn', start: 0, inserted: [{ id: 'm1', role: 'user', content: [{ type: 'text', text: 'mail' }], source: { kind: 'team-message', teamId: 't', messageId: 'message-1', senderId: 's', senderName: 'ana' } }] } },
  { type: 'plan/mode', data: { active: true } },
  ...(['create', 'block'] as const).map((operation, index): EventDraft => ({
    type: 'goal/change',
    data: {
      kind: 'goal/change', version: 1, operation, roundsStarted: 0, createdAt: 1, updatedAt: 1,
      goal: { id: 'goal-1', revision: index + 1, objective: 'o', maxGoalRounds: 9, ...(operation === 'create' ? { phase: 'active' } : { phase: 'blocked', blockedReason: { code: 'model-reported', message: 'm' } }) },
    },
  })),
  { type: 'goal/terms', ignorable: true, data: { goalId: 'goal-1', maxTokens: 1, maxCost: 0.5, maxMinutes: 2, checks: ['npm test'] } },
  { type: 'goal/baseline', ignorable: true, data: { goalId: 'goal-1', started: { tokens: 0, amount: 0 }, errors: ['a: b'] } },
  { type: 'goal/checked', ignorable: true, data: { goalId: 'goal-1', results: [{ check: 'npm test', isOk: true, outcome: 'exit code 0', output: '', durationMs: 1 }] } },
  { type: 'tool-workflow/run-start', ignorable: true, data: { runId: 'r', name: 'n' } },
  { type: 'session/title', data: { title: 'Mine', messageSeqs: [], source: { kind: 'user' } } },
  { type: 'permission/preset', data: { preset: 'auto' } },
  { type: 'sandbox/mode', data: { mode: 'read-only' } },
  { type: 'approval/policy', data: { policy: 'never' } },
  { type: 'session/archived', ignorable: true, data: { isArchived: true } },
  { type: 'schedule/change', data: { version: 1, operation: 'create', schedule: { id: 'schedule-1', kind: 'after', prompt: 'p', scheduledAt: '2126-01-01T00:00:00.000Z', afterSeconds: 1 } } },
  { type: 'schedule/adjust', data: { version: 1, operation: 'create', schedule: { id: 'schedule-2', kind: 'calendar', prompt: 'p', scheduledAt: '2126-01-01T00:00:00.000Z', calendar: { rule: '0 0 1 1 *', timeZone: 'UTC', start: '2026-01-01T00:00:00' }, action: 'do', catchUp: 'skip' } } },
  { type: 'schedule/adjust', data: { version: 1, operation: 'snooze', id: 'schedule-2', until: '2126-01-02T00:00:00.000Z' } },
]

describe('units', () => {
  let application: WholeApplication | undefined
  afterEach(() => application?.dispose())

  it('of the application have the keys the specification names, as far as their features are there', async () => {
    application = await wholeApplication()
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    const keys = Object.keys(agent.session.projections().values)
    expect(keys).toEqual(expect.arrayContaining(['title', 'todos', 'permissions', 'tokenUsage', 'contextPressure', 'contextBreakdown', 'sessionStats', 'sessionListMetadata', 'imageLimits', 'cost']))
  })

  it('of the application give what their schemas say, after every event of whole talks', async () => {
    application = await wholeApplication({ settings: { 'model.provider': 'scripted-tour', 'model.name': 'guided-tour' } })
    const { agents, approvals, projections } = application.ctx
    const checked = new Map<string, number>()
    const check = (key: string, value: unknown) => {
      expect([key, projections.get(key)?.schema().safeParse(value).error]).toEqual([key, undefined])
      checked.set(key, (checked.get(key) ?? 0) + 1)
    }
    projections.onDidChange(({ key, value }) => check(key, value))
    approvals.attach()
    approvals.onDidChange(() => approvals.pending().forEach(({ id }) => approvals.answer(id, { outcome: 'allowed-once' })))
    const agent = await agents.create({ cwd: application.folder })
    const { session } = agent
    for (const [key, value] of Object.entries(session.projections().values)) check(key, value)
    agent.followup({ id: 'u1', role: 'user', content: [{ type: 'text', text: 'start' }], source: { kind: 'user' } })
    await agent.whenIdle()
    for (const draft of rare) session.append(draft)
    const changing = Object.keys(session.projections().values).filter((key) => key !== 'imageLimits')
    expect(changing.filter((key) => (checked.get(key) ?? 0) < 2)).toEqual([])
  })

  it('give the same state for what is not theirs, so that nobody is told', async () => {
    const { session, projections } = await rigOf()
    projections.register(prompts)
    const heard: string[] = []
    projections.onDidChange(({ key }) => heard.push(key))
    session.append(turnStart(1))
    expect(heard).not.toContain('prompts')
  })

  it.each([
    ['a key twice', { ...prompts, key: 'title' }, /has one owner/],
    ['a version of 0', { ...prompts, stateVersion: 0 }, /whole number from 1/],
    ['none that says what its views are', { ...prompts, schema: undefined as never }, /must say with "schema"/],
    ['a version that is no number', { ...prompts, stateVersion: Number.NaN }, /whole number from 1/],
  ])('refuse %s', async (_, unit, message) => {
    const { projections } = await rigOf()
    expect(() => projections.register(unit)).toThrow(message)
  })

  it('serve a snapshot as of an event, -1 for an empty log, and a feed of what changed', async () => {
    const { session, projections } = await rigOf()
    projections.register(prompts)
    expect(projections.snapshot('a')).toMatchObject({ asOfSeq: -1, values: { prompts: 0 } })
    expect(projections.snapshot('nobody')).toEqual({ asOfSeq: -1, values: {} })
    const fed: unknown[] = []
    projections.onDidChange((change) => void (change.key === 'prompts' && fed.push(change)))
    session.append(prompt('one'))
    expect(fed).toEqual([{ sessionId: 'a', key: 'prompts', value: 1, asOfSeq: 0 }])
    expect(projections.snapshot('a')).toMatchObject({ asOfSeq: 0, values: { prompts: 1 } })
  })
})

describe('what is kept beside a log', () => {
  it('is a row for each unit that wants it: key, version, number of the last event, value', async () => {
    const { session, events, projections } = await rigOf()
    projections.register(prompts)
    for (const draft of wholeTurn(1)) session.append(draft)
    await session.close()
    const rows = (await noteOf(events))!.rows
    expect(rows.find(({ key }) => key === 'prompts')).toEqual({ key: 'prompts', version: 1, seq: session.length - 1, value: 1 })
  })

  it('is written after 200 events or 5 s, not at each change', async () => {
    const { session, events, projections, clock } = await rigOf()
    projections.register({ ...prompts, step: (state: number, event) => (event.type === 'session/title' ? state : state + 1) })
    const seqNow = async () => {
      clock.advance(200)
      await session.flush()
      await Promise.resolve()
      return (await noteOf(events))?.rows.find(({ key }) => key === 'prompts')?.seq
    }
    for (const draft of [turnStart(1), stepStart(1, 1)]) session.append(draft)
    const first = await seqNow()
    for (let part = 0; part < 50; part++) session.append(textDelta(1, 1, 'x'))
    session.append(answer(1, 1, 'x'))
    expect(await seqNow()).toBe(first)
    for (let at = 0; at < 100; at++) for (const draft of [call(1, 1, `c${at}`), result(1, 1, `c${at}`)]) session.append(draft)
    const afterMany = await seqNow()
    expect(afterMany).toBeGreaterThan(first!)
    session.append(stepEnd(1, 1))
    expect(await seqNow()).toBe(afterMany)
    clock.advance(5_000)
    session.append(stepStart(1, 2))
    expect(await seqNow()).toBeGreaterThan(afterMany!)
  })

  it('spares reading the log; a row of another version, or none, costs the reading and nothing else', async () => {
    const events = createMemoryEventStore()
    const { session } = await rigOf(events)
    for (const draft of [...wholeTurn(1), ...wholeTurn(2)]) session.append(draft)
    await session.close()
    const opened: string[] = []
    const watched = Object.assign(Object.create(events) as typeof events, { open: (...args: Parameters<typeof events.open>) => (opened.push(args[0]), events.open(...args)) })
    const valueWith = async (unit: Projection<number, number>) => {
      const rig = await createSessionRig({ events: watched })
      rig.projections.register(unit)
      const before = opened.length
      return [await rig.sessions.valueOf('a', 'prompts'), opened.length - before]
    }
    expect(await valueWith(prompts)).toEqual([2, 1])
    const writer = await createSessionRig({ events: watched })
    writer.projections.register(prompts)
    await (await writer.sessions.open('a')).close()
    expect(await valueWith(prompts)).toEqual([2, 0])
    expect(await valueWith({ ...prompts, stateVersion: 2 })).toEqual([2, 1])
  })

  it('asked for where it is kept alone, no log is read: a session that was written before the unit was there has nothing', async () => {
    const events = createMemoryEventStore()
    const { session } = await rigOf(events)
    for (const draft of wholeTurn(1)) session.append(draft)
    await session.close()
    const opened: string[] = []
    const watched = Object.assign(Object.create(events) as typeof events, { open: (...args: Parameters<typeof events.open>) => (opened.push(args[0]), events.open(...args)) })
    const rig = await createSessionRig({ events: watched })
    rig.projections.register(prompts)
    expect([await rig.sessions.keptValueOf('a', 'prompts'), await rig.sessions.keptValueOf('a', 'title'), opened]).toEqual([undefined, undefined, []])
    await (await rig.sessions.open('a')).close()
    expect([await rig.sessions.keptValueOf('a', 'prompts'), opened.length]).toEqual([1, 1])
  })

  it('is taken on from the end of the log behind it when a crash left it old', async () => {
    const events = createMemoryEventStore()
    const { session, projections } = await rigOf(events)
    projections.register(prompts)
    for (const draft of wholeTurn(1)) session.append(draft)
    await session.close()
    const again = await createSessionRig({ events })
    again.projections.register(prompts)
    const reopened = await again.sessions.open('a')
    for (const draft of [turnStart(2), prompt('more'), turnEnd(2)]) reopened.append(draft)
    await reopened.flush()
    const reader = await createSessionRig({ events })
    reader.projections.register(prompts)
    expect(await reader.sessions.valueOf('a', 'prompts')).toBe(2)
  })

  it('of a key that nobody registered is nothing', async () => {
    const { sessions } = await rigOf()
    expect(await sessions.valueOf('a', 'unknown')).toBeUndefined()
  })
})

describe('sessionStats', () => {
  it('counts turns with a closed step, steps, and the time of the model and of tools', async () => {
    const { session, clock } = await rigOf()
    const at = (ms: number, ...drafts: readonly Parameters<typeof session.append>[0][]) => {
      clock.advance(ms)
      for (const draft of drafts) session.append(draft)
    }
    at(0, turnStart(1), stepStart(1, 1))
    at(100, textDelta(1, 1, 'x'))
    at(50, answer(1, 1, 'x', ['c']), call(1, 1, 'c'))
    at(30, result(1, 1, 'c'), stepEnd(1, 1), turnEnd(1))
    at(0, turnStart(2), turnEnd(2))
    expect(session.projections().values['sessionStats']).toMatchObject({ turns: 1, steps: 1, llmMs: 150, ttftMs: 100, ttftSteps: 1, decodeMs: 50, toolMs: 30 })
  })
})
