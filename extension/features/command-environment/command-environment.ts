import type { Machine } from '../../capabilities/machine.ts'
import type { Dispatcher } from '../../core/kernel/plugin.ts'
import { isSecretName } from '../../base/secret-name.ts'
import type { CommandEnvironment, EnvironmentChanges } from './service.ts'

export interface CommandEnvironmentNeeds {
  readonly dispatch: Pick<Dispatcher, 'waterfall'>
  readonly machine: Pick<Machine, 'userFolder'>
  readonly logPath: (sessionId: string) => string
  /** What the person set for their own terminals. */
  readonly ofPerson?: () => EnvironmentChanges
}

/** Names that only we set, so that neither a plugin nor a model can speak in their place. */
const isManaged = (name: string) => /^BOSUN_/i.test(name)

const without = (changes: EnvironmentChanges, isLeftOut: (name: string) => boolean): EnvironmentChanges => Object.fromEntries(Object.entries(changes).filter(([name]) => !isLeftOut(name)))

/**
 * The environment of commands: what the person set for terminals, what their shell sets, then what plugins add, then the facts that
 * programs may rely on.
 *
 * Source: capability specification 0.8 "Environment".
 */
export function createCommandEnvironment({ dispatch, machine, logPath, ofPerson = () => ({}) }: CommandEnvironmentNeeds): CommandEnvironment {
  return async (agent, quiet) => {
    const added = await dispatch.waterfall('shell/environment', agent?.scope ?? null, [{ ...(agent && { agent }) }], async () => ({}))
    return {
      ...without(ofPerson(), isSecretName),
      ...quiet,
      ...without(added, isManaged),
      BOSUN_SHELL: '1',
      BOSUN_HOME: machine.userFolder,
      ...(agent && { BOSUN_SESSION_ID: agent.id, BOSUN_SESSION_JSONL: logPath(agent.id) }),
    }
  }
}
