import { expect, it } from 'vitest'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import type { Task, Todo } from '../../../../extension/features/todo/events.ts'
import { todosProjection } from '../../../../extension/features/todo/projection.ts'

const todo = (content: string, status: Todo['status'] = 'pending'): Todo => ({ content, status })
const wrote = (...todos: Todo[]): EventDraft => ({ type: 'todo/write', data: { todos } })
const turnStart: EventDraft = { type: 'turn/start', data: { turn: 1 } }
const turnEnd: EventDraft = { type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } }

const check = (events: readonly EventDraft[], view: readonly Task[] | null) => {
  const state = events.reduce((before, event, seq) => todosProjection.step(before, { ...event, seq, time: 0 }), todosProjection.start())
  expect(todosProjection.view(state)).toEqual(view)
}

it('has no list at first', () => check([turnStart], null))
it('holds the last list written, each task with an id of its own', () =>
  check([turnStart, wrote(todo('a')), wrote(todo('b'), todo('c'))], [{ id: 't2-1', ...todo('b') }, { id: 't2-2', ...todo('c') }]))
it('knows an empty list from none', () => check([turnStart, wrote()], []))
it('keeps an unfinished list when the next turn starts', () => check([turnStart, wrote(todo('a')), turnEnd, turnStart], [{ id: 't1-1', ...todo('a') }]))
it('keeps a finished list after its turn, and clears it when the next one starts', () => {
  const finished = [turnStart, wrote(todo('a', 'completed')), turnEnd]
  check(finished, [{ id: 't1-1', ...todo('a', 'completed') }])
  check([...finished, turnStart], null)
})
it('returns the same state for other events', () => {
  const state = todosProjection.start()
  expect(todosProjection.step(state, { ...turnEnd, seq: 0, time: 0 })).toBe(state)
})
