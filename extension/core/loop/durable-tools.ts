import type { Json } from '../../base/json.ts'
import type { Plugin } from '../kernel/plugin.ts'
import { effectOf, ownEffects } from '../policy/tool-effects.ts'
import type { Agent } from '../session/agent.ts'
import type { Execution, ToolResult } from '../tools/definition.ts'

/**
 * What a tool is about to do is in the log before it does it: no body of a top-level call that may change something runs
 * before its `tool/call` is on the disk.
 *
 * Bosun's own tools that only read do so while the log is written; what they found counts only once it is. So a step of
 * reading waits for no sync of its own. Calls inside a call rely on the outer one. Calls that overlap share one sync.
 * Errors: when the log cannot be made durable the call fails with the store's reason.
 * Source: runtime specification 12.2; at most one sync on the critical path of a step.
 */
export const durableTools: Plugin = {
  name: 'durable-tools',
  inject: ['tools'],
  apply(ctx) {
    ctx.on('tools/execute', (exec, next) => (exec.agent === undefined || exec.parent !== undefined ? next() : durably(exec, exec.agent, next)))

    async function durably(exec: Execution, agent: Agent, next: () => Promise<ToolResult>): Promise<ToolResult> {
      const durable = agent.session.flush()
      // A tool of a nearer layer may do anything under a known name.
      const isOwn = ctx.tools.get(exec.name, agent.scope) === ctx.tools.get(exec.name, null)
      if (!isOwn || !onlyReads(exec.name, exec.arguments)) {
        await durable
        return next()
      }
      // Awaited below, after the body: a body that was started is never left alone.
      durable.catch(() => {})
      const result = await next()
      await durable
      return result
    }
  },
}

const onlyReads = (name: string, args: Json): boolean => effectOf(ownEffects.get(name), args).kind === 'read'
