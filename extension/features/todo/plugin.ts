import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/log/event-types.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/projections/projection.ts'
import type {} from '../../core/session/session.ts'
import { todoEventTypes } from './events.ts'
import { todosProjection } from './projection.ts'
import type {} from './service.ts'
import { createTaskBook } from './tasks.ts'

/** Names the events of the task list, keeps the `todos` projection and provides `tasks`. */
export function todoPlugin({ logger, machine }: { readonly logger: Logger; readonly machine: Pick<Machine, 'randomId'> }): Plugin {
  return {
    name: 'todo',
    inject: ['eventTypes', 'projections'],
    apply(ctx) {
      for (const [type, rules] of Object.entries(todoEventTypes)) ctx.effect(ctx.eventTypes.register(type as keyof typeof todoEventTypes, rules))
      ctx.effect(ctx.projections.register(todosProjection))
      const book = createTaskBook({ logger, newId: () => machine.randomId() })
      ctx.provide('tasks', book)
      ctx.on('agent/pre-step', async ({ agent }, next) => {
        const decision = await next()
        const reminder = decision.kind === 'enter' ? book.reminder(agent.session, decision.messages) : null
        return decision.kind !== 'enter' || reminder === null ? decision : { ...decision, messages: [reminder, ...decision.messages] }
      })
      ctx.on('session/event', (session, { type }) => {
        if (type === 'todo/write' || type === 'todo/edited' || type === 'plan/approved' || type === 'turn/start') book.changed(session)
      })
    },
  }
}
