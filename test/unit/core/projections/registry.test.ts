import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { EventDraft, SessionEvent } from '../../../../extension/core/log/event.ts'
import type { Projection } from '../../../../extension/core/projections/projection.ts'
import { createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { createSessionRig } from '../../../support/session-rig.ts'
import { answer, prompt, stepEnd, stepStart, textDelta, turnEnd, turnStart, wholeTurn } from '../../../support/session-talk.ts'

const started = async () => {
  const rig = await createSessionRig({ events: createMemoryEventStore() })
  return { ...rig, session: await rig.sessions.create({ cwd: '/project', id: 'a' }) }
}
/** Keeps the numbers of the events it was given. */
const seen = (key: string, parts?: Projection['parts']): Projection<readonly number[], number[]> => ({
  key,
  stateVersion: 1,
  schema: () => z.array(z.int()),
  ...(parts === undefined ? {} : { parts }),
  start: () => [],
  step: (state, event) => [...state, event.seq],
  view: (state) => [...state],
})
const counter = (type: SessionEvent['type']): Projection<number, number> => ({
  key: 'counter',
  stateVersion: 1,
  schema: () => z.int(),
  start: () => 0,
  step: (state, event) => (event.type === type ? state + 1 : state),
  view: (state) => state,
})
const appendAll = (session: { append: (draft: EventDraft) => unknown }, drafts: readonly EventDraft[]) => drafts.forEach((draft) => session.append(draft))

describe('projections', () => {
  it('are empty before the first event', async () => {
    const { session } = await started()
    expect(session.projections()).toMatchObject({ asOfSeq: -1, values: { title: null, sessionStats: { steps: 0 }, tokenUsage: { inputTokens: 0 } } })
  })

  it('are given each event once, live, late and after a reload', async () => {
    const { session, projections, sessions } = await started()
    projections.register(seen('early'))
    appendAll(session, wholeTurn(1))
    projections.register(seen('late'))
    await session.flush()
    projections.register(seen('packed'))
    appendAll(session, wholeTurn(2))
    const all = session.events().map(({ seq }) => seq)
    for (const key of ['early', 'late', 'packed']) expect(session.projections().values[key]).toEqual(all)
    await session.close()
    const again = await sessions.open('a')
    expect(again.projections().values['early']).toEqual(again.events().map(({ seq }) => seq))
  })

  it('are given as many streamed parts as they ask for, the same after a reload', async () => {
    const { session, projections, sessions } = await started()
    projections.register(seen('none', 'none'))
    projections.register(seen('first', 'first'))
    appendAll(session, wholeTurn(1))
    const live = session.projections().values
    expect(live['none']).toEqual(session.events().filter(({ type }) => type !== 'assistant/chunk').map(({ seq }) => seq))
    // The first delta of each step, and not the opening of its block.
    expect((live['first'] as number[]).filter((seq) => session.events(seq, seq + 1)[0]!.type === 'assistant/chunk')).toEqual([5, 22])
    await session.close()
    const again = (await sessions.open('a')).projections().values
    expect((again['none'] as number[]).slice(0, -1)).toEqual(live['none'])
    expect((again['first'] as number[]).slice(0, -1)).toEqual(live['first'])
  })

  it('feed what changed after the commit, and nothing else', async () => {
    const { session, projections } = await started()
    projections.register(counter('turn/start'))
    const changes: unknown[] = []
    const undo = projections.onDidChange(({ sessionId, key, value, asOfSeq }) => {
      if (key === 'counter') changes.push([sessionId, value, asOfSeq, session.length])
    })
    appendAll(session, wholeTurn(1))
    appendAll(session, [turnStart(2)])
    undo()
    appendAll(session, [turnEnd(2), turnStart(3)])
    expect(changes).toEqual([
      ['a', 1, 0, 1],
      ['a', 2, 28, 29],
    ])
  })

  it('contain a listener that throws', async () => {
    const { session, projections, logger } = await started()
    projections.onDidChange(() => {
      throw new Error('listener')
    })
    appendAll(session, wholeTurn(1))
    expect(session.length).toBe(28)
    expect(logger.lines.some(({ level }) => level === 'error')).toBe(true)
  })

  it('that throw stand still in that session, and are reported once', async () => {
    const { session, projections, logger } = await started()
    const broken: Projection<number, number> = { ...counter('turn/start'), step: (state, event) => {
      if (event.seq === 2) throw new Error('broken')
      return state + 1
    } }
    projections.register(broken)
    appendAll(session, wholeTurn(1))
    expect(session.projections().values['counter']).toBe(2)
    expect(session.projections().values['sessionStats']).toMatchObject({ steps: 2 })
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  it('are gone when taken back', async () => {
    const { session, projections } = await started()
    const undo = projections.register(counter('turn/start'))
    undo()
    undo()
    appendAll(session, wholeTurn(1))
    expect(session.projections().values).not.toHaveProperty('counter')
    projections.register(counter('turn/end'))
    undo()
    expect(session.projections().values['counter']).toBe(1)
  })

  it.each([
    ['a key that is taken', { ...counter('turn/start'), key: 'title' }, /registered already/],
    ['a version that is none', { ...counter('turn/start'), stateVersion: 0 }, /stateVersion/],
  ])('refuse %s', async (_, projection, message) => {
    const { projections } = await started()
    expect(() => projections.register(projection)).toThrow(message)
  })

  it('give frozen values', async () => {
    const { session } = await started()
    appendAll(session, wholeTurn(1))
    expect(Object.values(session.projections().values).every((value) => Object.isFrozen(value))).toBe(true)
  })
})

describe('the built-in ones', () => {
  const fold = async (steps: readonly (EventDraft | number)[]) => {
    const { session, clock } = await started()
    for (const step of steps) {
      if (typeof step === 'number') clock.advance(step)
      else session.append(step)
    }
    return session.projections().values
  }
  const message = answer(1, 1, 'x', ['c'])
  const called = (callId: string): EventDraft => ({ type: 'tool/call', data: { turn: 1, step: 1, callId, name: 'look', arguments: '{}' } })
  const settled = (callId: string): EventDraft => ({
    type: 'tool/result',
    surfaceOp: 'append',
    data: {
      turn: 1,
      step: 1,
      message: { id: callId, role: 'tool', source: { kind: 'tool', callId }, content: [{ type: 'tool-result', callId, isError: false, content: [] }] },
    },
  })

  it('add up tokens', async () =>
    expect((await fold([...wholeTurn(1), ...wholeTurn(2)]))['tokenUsage']).toEqual({
      inputTokens: 40,
      outputTokens: 20,
      cacheRead: 12,
      cacheWrite: 8,
      reasoning: 4,
      last: { inputTokens: 10, outputTokens: 5, cacheRead: 3, cacheWrite: 2, reasoning: 1 },
    }))

  it('measure a step: to its first part, its message, its calls', async () =>
    expect(
      (await fold([turnStart(1), 1, stepStart(1, 1), 20, textDelta(1, 1, 'a'), 300, textDelta(1, 1, 'b'), message, 1, called('c'), called('d'), 4_000, settled('c'), 1_000, settled('d'), stepEnd(1, 1), turnEnd(1)]))[
        'sessionStats'
      ],
    ).toEqual({ turns: 1, steps: 1, llmMs: 320, ttftMs: 20, ttftSteps: 1, decodeMs: 300, decodeTokens: 6, toolMs: 9_000 }))

  it('do not count the time to a first part that never came', async () =>
    expect((await fold([turnStart(1), stepStart(1, 1), 20, message, stepEnd(1, 1)]))['sessionStats']).toEqual({
      turns: 1,
      steps: 1,
      llmMs: 20,
      ttftMs: 0,
      ttftSteps: 0,
      decodeMs: 0,
      decodeTokens: 0,
      toolMs: 0,
    }))

  it('count turns with a closed step only', async () =>
    expect((await fold([turnStart(1), turnEnd(1), turnStart(2), stepStart(2, 1)]))['sessionStats']).toMatchObject({ turns: 0, steps: 0 }))

  it('say when somebody last did something', async () => {
    const { session, clock } = await started()
    const at = clock.now()
    appendAll(session, [turnStart(1), prompt('x')])
    clock.advance(50)
    appendAll(session, [{ type: 'session/title', data: { title: 'T', messageSeqs: [1], source: { kind: 'fallback' } } }])
    expect(session.projections().values['sessionListMetadata']).toEqual({ title: 'T', updatedAt: at, prompts: 1, isTurnOpen: true, isArchived: false })
    appendAll(session, [turnEnd(1)])
    expect(session.projections().values['sessionListMetadata']).toEqual({ title: 'T', updatedAt: at + 50, prompts: 1, isTurnOpen: false, isArchived: false })
  })

  it('say that a session is archived until a person says something', async () => {
    const { session } = await started()
    const isArchived = () => (session.projections().values['sessionListMetadata'] as { readonly isArchived: boolean }).isArchived
    appendAll(session, [{ type: 'session/archived', data: { isArchived: true } }])
    expect(isArchived()).toBe(true)
    appendAll(session, [prompt('x')])
    expect(isArchived()).toBe(false)
  })
})
