import type { Attention, AttentionRequest } from '../../capabilities/attention.ts'
import type { Logger } from '../../capabilities/logger.ts'

/**
 * Where no person looks on: `choose` answers for them by the policy of the run, and what would be told is logged.
 *
 * `choose` gives the id of one of the buttons; null, another id or a failure is no answer, which means no.
 */
export function createPolicyAttention({ choose, logger }: { readonly choose: (request: AttentionRequest) => string | null; readonly logger: Logger }): Attention {
  return {
    async ask(request) {
      if (request.signal.aborted) return null
      try {
        const id = choose(request)
        return request.buttons.some((button) => button.id === id) ? id : null
      } catch (error) {
        logger.error('The policy that answers questions failed; the answer is no.', { error, question: request.text })
        return null
      }
    },
    async tell({ level, text }) {
      logger[level === 'warning' ? 'warn' : level](text)
      return null
    },
  }
}
