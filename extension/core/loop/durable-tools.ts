import type { Plugin } from '../kernel/plugin.ts'

/**
 * What a tool is about to do is in the log before it does it: no body of a top-level call runs before its `tool/call` is on the disk.
 *
 * Calls inside a call rely on the outer one. Calls that overlap share one sync.
 * Errors: when the log cannot be made durable the body does not run; the call fails with the store's reason.
 * Source: runtime specification 12.2.
 */
export const durableTools: Plugin = {
  name: 'durable-tools',
  inject: ['tools'],
  apply(ctx) {
    ctx.on('tools/execute', async (exec, next) => {
      if (exec.agent && exec.parent === undefined) await exec.agent.session.flush()
      return next()
    })
  },
}
