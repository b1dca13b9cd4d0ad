import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SessionEvent } from '../../../../extension/core/log/event.ts'
import { startOfSchedules, stepSchedules } from '../../../../extension/features/schedule/fold.ts'

type Draft = { readonly type: 'schedule/change' | 'schedule/adjust'; readonly data: object }
const at = '2026-01-01T00:00:00.000Z'
const later = '2026-01-02T00:00:00.000Z'
const change = (data: object): Draft => ({ type: 'schedule/change', data: { version: 1, ...data } })
const adjust = (data: object): Draft => ({ type: 'schedule/adjust', data: { version: 1, ...data } })
const id = 'schedule-1'
const base = { id, prompt: 'x', scheduledAt: at }
const full = { action: 'tell', catchUp: 'once' }
const calendar = { kind: 'calendar', calendar: { rule: '0 0 * * *', timeZone: 'UTC', start: '2026-01-01T00:00:00' } }

const fold = (drafts: readonly Draft[], from = 0) =>
  drafts.map(({ type, data }, seq) => ({ type, data, seq, time: seq }) as unknown as SessionEvent).reduce(stepSchedules, startOfSchedules(from === 0 ? undefined : { seedLength: from }))

const states: Readonly<Record<string, readonly Draft[]>> = {
  nothing: [],
  once: [change({ operation: 'create', schedule: { ...base, kind: 'after', afterSeconds: 5 } })],
  every: [change({ operation: 'create', schedule: { ...base, kind: 'every', everySeconds: 300 } })],
  'by rule': [adjust({ operation: 'create', schedule: { ...base, ...calendar, ...full } })],
  'once, a task': [adjust({ operation: 'create', schedule: { ...base, kind: 'at', action: 'do', catchUp: 'skip' } })],
  paused: [change({ operation: 'create', schedule: { ...base, kind: 'at' } }), adjust({ operation: 'pause', id })],
  snoozed: [change({ operation: 'create', schedule: { ...base, kind: 'at' } }), adjust({ operation: 'snooze', id, until: later })],
  gone: [change({ operation: 'create', schedule: { ...base, kind: 'at' } }), change({ operation: 'dispatch', id })],
}
const moves: Readonly<Record<string, Draft>> = {
  create: change({ operation: 'create', schedule: { ...base, kind: 'at' } }),
  delete: change({ operation: 'delete', id }),
  'delete (ours)': adjust({ operation: 'delete', id }),
  dispatch: change({ operation: 'dispatch', id }),
  'dispatch at': change({ operation: 'dispatch', id, acceptedAt: later }),
  'dispatch (ours) on': adjust({ operation: 'dispatch', id, acceptedAt: later, next: later }),
  'dispatch (ours) last': adjust({ operation: 'dispatch', id, acceptedAt: later, next: null }),
  'skip on': adjust({ operation: 'skip', id, acceptedAt: later, next: later }),
  pause: adjust({ operation: 'pause', id }),
  resume: adjust({ operation: 'resume', id, next: later }),
  snooze: adjust({ operation: 'snooze', id, until: later }),
  run: adjust({ operation: 'run', id, until: later }),
  'edit to once': adjust({ operation: 'edit', id, schedule: { ...base, kind: 'at', ...full } }),
  'edit to every': adjust({ operation: 'edit', id, schedule: { ...base, kind: 'every', everySeconds: 600, ...full } }),
  'edit to a rule': adjust({ operation: 'edit', id, schedule: { ...base, ...calendar, ...full } }),
}
/** What each state allows; every other move makes the log corrupt. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  nothing: ['create'],
  once: ['delete', 'dispatch', 'pause', 'snooze', 'run', 'edit to once'],
  every: ['delete', 'dispatch at', 'pause', 'snooze', 'run', 'edit to every'],
  'by rule': ['delete (ours)', 'dispatch (ours) on', 'dispatch (ours) last', 'skip on', 'pause', 'snooze', 'run', 'edit to every', 'edit to a rule'],
  'once, a task': ['delete (ours)', 'dispatch (ours) last', 'pause', 'snooze', 'run', 'edit to once'],
  paused: ['delete', 'dispatch', 'resume', 'run', 'edit to once'],
  snoozed: ['delete', 'dispatch', 'pause', 'snooze', 'run', 'edit to once'],
  gone: [],
}

describe('the moves of a reminder', () => {
  for (const [state, drafts] of Object.entries(states)) {
    it.each(Object.keys(moves))(`${state}: %s`, (move) => {
      const { problem } = fold([...drafts, moves[move]!])
      expect(problem === null).toBe(allowed[state]?.includes(move))
    })
  }
  it('end it, or move it on', () => {
    const left = (state: string, move: string) => fold([...states[state]!, moves[move]!]).entries.map(({ schedule, isPaused, instead }) => [schedule.scheduledAt, isPaused, instead?.at ?? null])
    expect([left('once', 'dispatch'), left('every', 'dispatch at'), left('by rule', 'skip on'), left('by rule', 'dispatch (ours) last'), left('paused', 'resume'), left('snoozed', 'pause'), left('paused', 'run'), left('snoozed', 'edit to once')]).toEqual([
      [], [['2026-01-02T00:05:00.000Z', false, null]], [[later, false, null]], [], [[later, false, null]], [[at, true, null]], [[at, true, later]], [[at, false, null]],
    ])
  })
})

it('what came with a fork does not count, nor does a corrupt beginning of it', () => {
  const corrupt = adjust({ operation: 'pause', id })
  expect(fold([corrupt, ...states['once']!], 1)).toMatchObject({ lastNumber: 1, problem: null, entries: [{ schedule: { id } }] })
  expect(fold([...states['once']!, ...states['once']!], 1)).toMatchObject({ lastNumber: 1, problem: null })
})

it('whatever stands in a log, it is read or refused, and never thrown at; once corrupt it stays so', () => {
  const operation = fc.constantFrom('create', 'delete', 'dispatch', 'skip', 'pause', 'resume', 'snooze', 'run', 'edit', 'other')
  const data = fc.oneof(fc.dictionary(fc.constantFrom('version', 'operation', 'id', 'schedule', 'until', 'next', 'acceptedAt'), fc.jsonValue()), fc.record({ version: fc.constant(1), operation, id: fc.constantFrom(id, 'schedule-2', '') }))
  const draft = fc.oneof(fc.constantFrom(...Object.values(moves)), fc.record({ type: fc.constantFrom('schedule/change' as const, 'schedule/adjust' as const), data }))
  fc.assert(
    fc.property(fc.array(draft, { maxLength: 8 }), (drafts) => {
      const states = drafts.map((_, index) => fold(drafts.slice(0, index + 1)))
      const firstBad = states.findIndex(({ problem }) => problem !== null)
      return firstBad < 0 || states.slice(firstBad).every(({ problem }) => problem === states[firstBad]?.problem)
    }),
  )
})
