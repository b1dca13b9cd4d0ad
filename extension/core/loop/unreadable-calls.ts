import type { Plugin } from '../kernel/plugin.ts'
import { ModelError } from '../model/contract.ts'
import type { Agent } from '../session/agent.ts'

/** Calls in a row that nobody could read, each answered with what to mend. */
const MOST_UNREADABLE_CALLS = 4

/**
 * Ends a turn whose model keeps writing calls that are no JSON, with a plain verdict, instead of paying for the same failure
 * again and again. One call that can be read begins the count anew, and so does the next turn.
 */
export const unreadableCalls: Plugin = {
  name: 'unreadable-calls',
  apply(ctx) {
    const inARow = new WeakMap<Agent, number>()
    ctx.on('tools/result', ({ agent, parent, arguments: args }, result) => {
      if (agent === undefined || parent !== undefined) return
      const isUnreadable = typeof args === 'string' && result.isError && result.error.info?.code === 'INVALID_ARGS'
      inARow.set(agent, isUnreadable ? (inARow.get(agent) ?? 0) + 1 : 0)
    })
    ctx.on('agent/pre-step', async ({ agent, step }, next) => {
      const count = step === 1 ? 0 : (inARow.get(agent) ?? 0)
      if (count < MOST_UNREADABLE_CALLS) {
        if (step === 1) inARow.delete(agent)
        return next()
      }
      inARow.delete(agent)
      const message = `The model wrote ${count} tool calls in a row that are no JSON, although it was told each time what is wrong. This model cannot do it. Choose another model.`
      throw new ModelError({ code: 'MALFORMED_RESPONSE', message })
    })
  },
}
