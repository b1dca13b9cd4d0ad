import { orAbort } from '../../../base/or-abort.ts'
import type { Undo } from '../../../base/undo.ts'
import type { Clock } from '../../../capabilities/clock.ts'
import type { Logger } from '../../../capabilities/logger.ts'
import type { Machine } from '../../../capabilities/machine.ts'
import type { ProcessRunner } from '../../../capabilities/process.ts'
import type { Workspace } from '../../../capabilities/workspace.ts'
import type { Plugin } from '../../../core/kernel/plugin.ts'
import type {} from '../../../core/loop/points.ts'
import type {} from '../../../core/policy/permissions.ts'
import type {} from '../service.ts'
import { claudeCode } from './claude-code.ts'
import type { AgentCli } from './cli.ts'
import { codex } from './codex.ts'
import { createCliProvider, isInstalled } from './provider.ts'

export interface CliProvidersNeeds {
  readonly processes: Pick<ProcessRunner, 'start'>
  readonly clock: Pick<Clock, 'schedule'>
  readonly logger: Logger
  readonly machine: Pick<Machine, 'homeFolder'>
  readonly workspace: Pick<Workspace, 'isTrusted' | 'onDidChangeTrust'>
}

/** The coding agents that can be given a task. */
const agentClis: readonly AgentCli[] = [codex, claudeCode]

/**
 * Registers each installed coding agent as a provider of subagents while its setting is on, its program is found and the folder is trusted.
 *
 * Nothing is started for one that is off. The first request of a turn waits for a look that is under way, so that the tools it declares stay.
 * Source: agent tools specification 6.2, design 6.1.
 */
export function cliProvidersPlugin(parts: CliProvidersNeeds): Plugin {
  const { processes, clock, logger, machine, workspace } = parts
  return {
    name: 'agent-clis',
    inject: ['settings', 'permissions', 'subagents'],
    apply(ctx) {
      const { settings, permissions, subagents } = ctx
      const needs = { processes, clock, workspace, homeFolder: machine.homeFolder, settings, permissions }
      const offered = new Map<AgentCli, Undo>()
      let isGone = false
      /** One look after the other, so that the newest settings have the last word. */
      let settled = Promise.resolve()
      const lookAgain = (clis: readonly AgentCli[]) => {
        settled = settled.then(async () => void (await Promise.all(clis.map(look)))).catch((error: unknown) => logger.warn('Whether a coding agent is installed could not be found out.', { error: String(error) }))
      }

      async function look(cli: AgentCli): Promise<void> {
        const isWanted = !isGone && workspace.isTrusted() && cli.configuration(settings).isEnabled
        const isThere = isWanted && (await isInstalled(cli, needs))
        const undo = offered.get(cli)
        if (isThere && !isGone) {
          if (undo === undefined) offered.set(cli, subagents.registerProvider(createCliProvider(cli, needs)))
          return
        }
        undo?.()
        offered.delete(cli)
        if (isWanted) logger.warn('A coding agent is on in the settings, and its program was not found or does not run.', { name: cli.name, path: cli.configuration(settings).path })
      }

      // A program of others, started in the person's folder: asked for as a command is.
      for (const cli of agentClis) ctx.effect(permissions.declare(cli.tool, () => ({ kind: 'shell', shell: 'bash', command: cli.commandLine(settings), workdir: null })))
      lookAgain(agentClis)
      ctx.effect(settings.onDidChange((key) => lookAgain(agentClis.filter(({ settingsPrefix }) => key.startsWith(settingsPrefix)))))
      ctx.effect(workspace.onDidChangeTrust(() => lookAgain(agentClis)))
      ctx.on('agent/pre-step', async ({ signal }, next) => {
        await orAbort(settled, signal)
        return next()
      })
      return async () => {
        isGone = true
        await settled
        offered.forEach((undo) => undo())
      }
    },
  }
}
