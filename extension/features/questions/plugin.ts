import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import { settings } from '../../core/settings/specs.ts'
import type {} from '../../core/session/session.ts'
import { createQuestions } from './questions.ts'

/** Offers `questions`, and asks again what a closing window cut off; what waits when it goes is interrupted. */
export function questionsPlugin(needs: { readonly machine: Pick<Machine, 'randomId'>; readonly logger: Logger; readonly clock: Clock }): Plugin {
  return {
    name: 'questions',
    inject: ['agents', 'settings'],
    apply(ctx) {
      const questions = createQuestions({ liveAgent: (id) => ctx.agents.live(id), newId: () => needs.machine.randomId(), logger: needs.logger, clock: needs.clock, timeOutMs: () => ctx.settings.get(settings.questionsTimeOutSeconds) * 1_000 })
      ctx.provide('questions', questions)
      ctx.on('agent/session-start', (agent, source) => {
        if (source === 'resume' && agent.session.access === 'write') questions.restore(agent)
      })
      ctx.on('session/event', ({ id }, event) => {
        const agent = event.type === 'tool/result' ? ctx.agents.live(id) : undefined
        if (event.type === 'tool/result' && agent !== undefined) questions.callEnded(agent, event.data.message.source.callId, event.data.error?.code === 'TOOL_OUTCOME_UNKNOWN')
      })
      ctx.on('agent/disposing', (agent) => questions.withdraw(agent))
      return () => questions.dispose()
    },
  }
}
