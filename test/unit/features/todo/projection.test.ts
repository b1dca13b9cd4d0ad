import { expect, it } from 'vitest'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import type { Todo } from '../../../../extension/features/todo/events.ts'
import { todosProjection } from '../../../../extension/features/todo/projection.ts'

const todo = (content: string): Todo => ({ content, status: 'pending' })
const wrote = (...contents: string[]): EventDraft => ({ type: 'todo/write', data: { todos: contents.map(todo) } })
const turnStart: EventDraft = { type: 'turn/start', data: { turn: 1 } }
const turnEnd: EventDraft = { type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } }

const check = (events: readonly EventDraft[], view: readonly Todo[] | null) => {
  const state = events.reduce((before, event, seq) => todosProjection.step(before, { ...event, seq, time: 0 }), todosProjection.start())
  expect(todosProjection.view(state)).toEqual(view)
}

it('has no list at first', () => check([turnStart], null))
it('holds the last list written', () => check([turnStart, wrote('a'), wrote('b', 'c')], [todo('b'), todo('c')]))
it('knows an empty list from none', () => check([turnStart, wrote()], []))
it('keeps the list after the turn', () => check([turnStart, wrote('a'), turnEnd], [todo('a')]))
it('clears it when the next turn starts', () => check([turnStart, wrote('a'), turnEnd, turnStart], null))
it('returns the same state for other events', () => {
  const state = [todo('a')]
  expect(todosProjection.step(state, { ...turnEnd, seq: 0, time: 0 })).toBe(state)
})
