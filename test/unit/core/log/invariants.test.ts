import { describe, expect, it } from 'vitest'
import { createEventTypes } from '../../../../extension/core/log/event-types.ts'
import type { EventDraft, SessionEvent } from '../../../../extension/core/log/event.ts'
import { Invariants, type InvariantOptions } from '../../../../extension/core/log/invariants.ts'
import { answer, call, prompt, result, stepEnd, stepStart, textDelta, turnEnd, turnStart, wholeTurn } from '../../../support/session-talk.ts'

const types = createEventTypes()
types.register('todo/write', { inside: 'turn' })

/** Feed a log until a rule stops it. */
const run = (drafts: readonly EventDraft[], options?: InvariantOptions) => {
  const invariants = new Invariants(types, options)
  for (const [seq, draft] of drafts.entries()) {
    const event = { ...draft, seq, time: seq } as SessionEvent
    const violation = invariants.violation(event)
    if (violation !== null) return { at: seq, ...violation }
    invariants.advance(event)
  }
  return { open: invariants.openTurn }
}
const asked = (id: string): EventDraft => ({ type: 'approval/asked', data: { id, toolName: 'bash' } })
const decided = (id: string): EventDraft => ({ type: 'approval/decided', data: { id, outcome: 'rejected' } })
const ran = (commandId: string): EventDraft => ({ type: 'command/run', data: { commandId, name: 'plan', source: 'chat' } })
const done = (commandId: string): EventDraft => ({ type: 'command/done', data: { commandId, kind: 'success' } })
const retry = (retry: number): EventDraft => ({
  type: 'llm/retry',
  data: { retryId: 'r', turn: 1, step: 1, provider: 'p', mode: 'normal', policyKey: 'k', retry, delayMs: 1, failure: { message: 'm', code: 'SERVER' } },
})
const retried = (retry: number): EventDraft => ({ type: 'llm/retry-started', data: { retryId: 'r', turn: 1, step: 1, retry } })
const header: EventDraft = { type: 'request/header', data: { reason: 'initial', header: { config: { provider: 'p', model: 'm' } } } }
const context: EventDraft = { type: 'request/context', data: { provider: 'p', model: 'm' } }
const todo = { type: 'todo/write', data: { todos: [] } } as unknown as EventDraft
const inStep = [turnStart(1), stepStart(1, 1)]

describe('the log allows', () => {
  const check = (...drafts: EventDraft[]) => expect(run(drafts)).toHaveProperty('open')

  it('whole turns one after the other', () => check(...wholeTurn(1), ...wholeTurn(2)))
  it('a turn without a step', () => check(turnStart(1), turnEnd(1), turnStart(2)))
  it('prompts and other facts outside turns', () => check(prompt('x'), asked('a'), ran('c'), ...wholeTurn(1), decided('a'), done('c')))
  it('calls whose starts stand between results', () =>
    check(...inStep, answer(1, 1, '', ['a', 'b']), call(1, 1, 'a'), result(1, 1, 'a'), call(1, 1, 'b'), result(1, 1, 'b')))
  it('the same call id in another step', () =>
    check(...inStep, call(1, 1, 'a'), result(1, 1, 'a'), stepEnd(1, 1), stepStart(1, 2), call(1, 2, 'a'), result(1, 2, 'a')))
  it('retries of one request', () => check(...inStep, retry(1), retried(1), retry(2), retried(2)))
  it('a retry that was never started', () => check(...inStep, retry(1), stepEnd(1, 1), turnEnd(1)))
  it('a later approval under an id that is settled', () => check(asked('a'), decided('a'), asked('a'), decided('a')))
  it('an unknown event anywhere', () => check({ type: 'later/version', ignorable: true, data: {} } as unknown as EventDraft))
})

describe('the log refuses', () => {
  const check = (rule: string, problem: RegExp, ...drafts: EventDraft[]) =>
    expect(run(drafts)).toEqual({ at: drafts.length - 1, rule, problem: expect.stringMatching(problem) })

  it('a first turn that is not 1', () => check('turn-order', /starts turn 2, but turn 1 comes next/, turnStart(2)))
  it('a gap between turns', () => check('turn-order', /turn 2 comes next/, turnStart(1), turnEnd(1), turnStart(3)))
  it('a turn again', () => check('turn-order', /turn 2 comes next/, turnStart(1), turnEnd(1), turnStart(1)))
  it('a turn inside a turn', () => check('turn-order', /turn 1 is still open/, turnStart(1), turnStart(2)))
  it('the end of no turn', () => check('inside-turn', /no turn is open/, turnEnd(1)))
  it('the end of another turn', () => check('turn-order', /ends turn 2, but turn 1 is open/, turnStart(1), turnEnd(2)))
  it('the end of a turn with an open step', () => check('turn-order', /step 1 is still open/, ...inStep, turnEnd(1)))
  it('a step outside a turn', () => check('inside-turn', /no turn is open/, stepStart(1, 1)))
  it('a step of another turn', () => check('step-order', /names turn 2/, turnStart(1), stepStart(2, 1)))
  it('a first step that is not 1', () => check('step-order', /step 1 comes next/, turnStart(1), stepStart(1, 2)))
  it('a step inside a step', () => check('step-order', /step 1 is still open/, ...inStep, stepStart(1, 2)))
  it('steps that do not begin anew in a turn', () => check('step-order', /step 1 comes next/, ...wholeTurn(1), turnStart(2), stepStart(2, 3)))
  it('the end of no step', () => check('inside-step', /no step is open/, turnStart(1), stepEnd(1, 1)))
  it('the end of another step', () => check('inside-step', /names turn 1, step 2/, ...inStep, stepEnd(1, 2)))
  it('streamed parts outside a step', () => check('inside-step', /no step is open/, turnStart(1), textDelta(1, 1, 'x')))
  it('streamed parts of another step', () => check('inside-step', /turn 1, step 1 is open/, ...inStep, textDelta(1, 2, 'x')))
  it('an answer outside a step', () => check('inside-step', /no step is open/, turnStart(1), answer(1, 1, 'x')))
  it('a call outside a step', () => check('inside-step', /no step is open/, turnStart(1), call(1, 1, 'a')))
  it('a call twice', () => check('tool-call', /call a was started already/, ...inStep, call(1, 1, 'a'), call(1, 1, 'a')))
  it('a result without a call', () => check('tool-result', /no tool\/call a/, ...inStep, answer(1, 1, '', ['a']), result(1, 1, 'a')))
  it('a result of a call of an earlier step', () =>
    check('tool-result', /no tool\/call a/, ...inStep, call(1, 1, 'a'), stepEnd(1, 1), stepStart(1, 2), result(1, 2, 'a')))
  it('a result that names another step', () => check('tool-result', /names turn 1, step 2/, ...inStep, call(1, 1, 'a'), result(1, 2, 'a')))
  it('a result after its step', () => check('tool-result', /no step is open/, ...inStep, call(1, 1, 'a'), stepEnd(1, 1), result(1, 1, 'a')))
  it('a second result', () => check('tool-result', /has a result already/, ...inStep, call(1, 1, 'a'), result(1, 1, 'a'), result(1, 1, 'a')))
  it('a request header outside a turn', () => check('inside-turn', /no turn is open/, header))
  it('a request context outside a turn', () => check('inside-turn', /no turn is open/, ...wholeTurn(1), context))
  it('a task list outside a turn', () => check('inside-turn', /no turn is open/, todo))
  it('a decision nobody asked for', () => check('pairs', /approval it ends was not started/, decided('a')))
  it('a second decision', () => check('pairs', /or has ended/, asked('a'), decided('a'), decided('a')))
  it('a question under an id that waits', () => check('pairs', /approval it starts is open already/, asked('a'), asked('a')))
  it('the end of a command that never ran', () => check('pairs', /command/, ran('c'), done('d')))
  it('the start of a retry nobody scheduled', () => check('pairs', /retry it ends/, ...inStep, retry(1), retried(2)))
})

describe('rules', () => {
  const wrong = [turnStart(2)]
  const check = (options: InvariantOptions, isRefused: boolean) => expect('rule' in run(wrong, options)).toBe(isRefused)

  it('are all on', () => check({}, true))
  it('are off together', () => check({ enabled: false }, false))
  it('are off one by one', () => check({ block: ['turn-order'] }, false))
  it('are on when allowed', () => check({ allow: ['turn-order'] }, true))
  it('are off when others are allowed', () => check({ allow: ['pairs'] }, false))
  it('do not hide each other', () =>
    expect(run([{ ...asked('a') }, asked('a')], { block: ['turn-order', 'inside-turn'] })).toMatchObject({ rule: 'pairs' }))
})

describe('what is open', () => {
  const check = (drafts: readonly EventDraft[], open: unknown) => expect(run(drafts)).toEqual({ open })
  const unanswered = (callId: string, isStarted: boolean) => ({ callId, name: 'look', arguments: '{}', isStarted })

  it('is nothing at the start', () => check([], null))
  it('is nothing after a turn', () => check(wholeTurn(1), null))
  it('is a turn', () => check([turnStart(1)], { turn: 1, step: null }))
  it('is a step', () => check(inStep, { turn: 1, step: { step: 1, unanswered: [] } }))
  it('is a turn after its step', () => check([...inStep, stepEnd(1, 1)], { turn: 1, step: null }))
  it('are calls in the order of the model, started or not', () =>
    check([...inStep, answer(1, 1, '', ['a', 'b', 'c']), call(1, 1, 'b'), call(1, 1, 'a'), result(1, 1, 'a')], {
      turn: 1,
      step: { step: 1, unanswered: [unanswered('b', true), unanswered('c', false)] },
    }))
})
