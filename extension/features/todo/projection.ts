import * as z from 'zod'
import type { Projection } from '../../core/projections/projection.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/log/event-types.ts'
import { todoEventTypes, type Todo } from './events.ts'

/** The list of the latest turn, or null: a list stands until the next turn starts, so a finished one can still be seen. */
export const todosProjection: Projection<readonly Todo[] | null, readonly Todo[] | null> = {
  key: 'todos',
  stateVersion: 1,
  schema: () => z.array(z.strictObject({ content: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) })).nullable(),
  start: () => null,
  step: (state, event) => (event.type === 'todo/write' ? event.data.todos : event.type === 'turn/start' ? null : state),
  view: (state) => state,
}

/** Names the event of the task list and keeps the `todos` projection. */
export const todoPlugin: Plugin = {
  name: 'todo',
  inject: ['eventTypes', 'projections'],
  apply(ctx) {
    ctx.effect(ctx.eventTypes.register('todo/write', todoEventTypes['todo/write']))
    ctx.effect(ctx.projections.register(todosProjection))
  },
}
