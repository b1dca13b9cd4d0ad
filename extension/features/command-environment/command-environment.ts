import type { Machine } from '../../capabilities/machine.ts'
import type { Dispatcher } from '../../core/kernel/plugin.ts'
import type { CommandEnvironment } from './service.ts'

export interface CommandEnvironmentNeeds {
  readonly dispatch: Pick<Dispatcher, 'waterfall'>
  readonly machine: Pick<Machine, 'userFolder'>
  readonly logPath: (sessionId: string) => string
}

/** Names that only we set, so that neither a plugin nor a model can speak in their place. */
const MANAGED = /^BOSUN_/i

/**
 * The environment of commands: that of their shell, then what plugins add, then the facts that programs may rely on.
 *
 * Source: capability specification 0.8 "Environment".
 */
export function createCommandEnvironment({ dispatch, machine, logPath }: CommandEnvironmentNeeds): CommandEnvironment {
  return async (agent, quiet) => {
    const added = await dispatch.waterfall('shell/environment', agent?.scope ?? null, [{ ...(agent && { agent }) }], async () => ({}))
    return {
      ...quiet,
      ...Object.fromEntries(Object.entries(added).filter(([name]) => !MANAGED.test(name))),
      BOSUN_SHELL: '1',
      BOSUN_HOME: machine.userFolder,
      ...(agent && { BOSUN_SESSION_ID: agent.id, BOSUN_SESSION_JSONL: logPath(agent.id) }),
    }
  }
}
