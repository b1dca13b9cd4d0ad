import type { Clock } from '../../../capabilities/clock.ts'
import type { Plugin } from '../../kernel/plugin.ts'
import { ToolError, type MutableExecution, type ToolResult } from '../definition.ts'
import type {} from '../service.ts'

/** The failure of a call that ran longer than its tool allows itself. */
export class ToolTimeoutError extends ToolError {}

const timedOut = (name: string, timeoutMs: number) =>
  new ToolTimeoutError('TOOL_TIMEOUT', `${name} did not finish within ${timeoutMs} ms. Narrow the request and try again.`)

/**
 * Ends calls of tools that declare `timeoutMs` through their signal, and waits for the body: cooperative, never a hard kill.
 *
 * A call that the caller cancelled first is reported as cancelled, not as timed out.
 * Source: runtime specification 19, capability specification 0.3.
 */
export function timeOutGuard({ clock }: { readonly clock: Clock }): Plugin {
  return {
    name: 'tool-time-out',
    inject: ['tools'],
    apply(ctx) {
      ctx.on('tools/execute', (exec, next) => {
        const timeoutMs = ctx.tools.get(exec.name, exec.agent?.scope)?.timeoutMs
        return timeoutMs === undefined ? next() : timed(exec, timeoutMs, next)
      })

      async function timed(exec: MutableExecution, timeoutMs: number, next: () => Promise<ToolResult>): Promise<ToolResult> {
        const outer = exec.signal
        const deadline = new AbortController()
        const error = timedOut(exec.name, timeoutMs)
        const stop = clock.schedule(timeoutMs, () => {
          // The first cause wins: after the caller's own cancel there is nothing left to time.
          if (!outer.aborted) deadline.abort(error)
        })
        exec.signal = AbortSignal.any([outer, deadline.signal])
        try {
          const result = await next()
          return deadline.signal.aborted ? failureOf(error) : result
        } finally {
          stop()
          exec.signal = outer
        }
      }
    },
  }
}

const failureOf = (error: ToolTimeoutError): ToolResult => ({
  isError: true,
  error: { message: error.message, info: { name: error.name, code: error.code } },
  content: [{ type: 'text', text: `Error: ${error.message}` }],
})
