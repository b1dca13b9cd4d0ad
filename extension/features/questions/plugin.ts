import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import { createQuestions } from './questions.ts'

/** Offers `questions`, and asks again what a closing window cut off; what waits when it goes is interrupted. */
export function questionsPlugin(needs: { readonly machine: Pick<Machine, 'randomId'>; readonly logger: Logger }): Plugin {
  return {
    name: 'questions',
    inject: ['agents'],
    apply(ctx) {
      const questions = createQuestions({ liveAgent: (id) => ctx.agents.live(id), newId: () => needs.machine.randomId(), logger: needs.logger })
      ctx.provide('questions', questions)
      ctx.on('agent/session-start', (agent, source) => {
        if (source === 'resume') questions.restore(agent)
      })
      ctx.on('agent/disposing', (agent) => questions.withdraw(agent))
      return () => questions.dispose()
    },
  }
}
