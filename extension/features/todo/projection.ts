import type { Projection } from '../../core/projections/projection.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type { Todo } from './events.ts'

/** The list of the latest turn, or null: a list stands until the next turn starts, so a finished one can still be seen. */
export const todosProjection: Projection<readonly Todo[] | null, readonly Todo[] | null> = {
  key: 'todos',
  stateVersion: 1,
  start: () => null,
  step: (state, event) => (event.type === 'todo/write' ? event.data.todos : event.type === 'turn/start' ? null : state),
  view: (state) => state,
}

/** Keeps the `todos` projection. */
export const todoPlugin: Plugin = {
  name: 'todo',
  inject: ['projections'],
  apply: (ctx) => ctx.projections.register(todosProjection),
}
