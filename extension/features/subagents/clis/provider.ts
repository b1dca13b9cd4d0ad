import type { Workspace } from '../../../capabilities/workspace.ts'
import type { Permissions } from '../../../core/policy/permissions.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import { SubagentError, type SubagentProvider } from '../service.ts'
import { WorktreeError } from '../worktree/service.ts'
import type { AgentCli } from './cli.ts'
import { runCli, type CliRunNeeds } from './run-cli.ts'

/** For a program to say its version, which shows that it is there and runs. */
export const LOOK_MS = 5_000

export interface CliProviderNeeds extends CliRunNeeds {
  readonly workspace: Pick<Workspace, 'isTrusted'>
  readonly homeFolder: string
  readonly settings: Pick<Settings, 'get'>
  readonly permissions: Pick<Permissions, 'modeOf'>
}

/** A child of this kind is one process with one session of the product, gone with its one task. It has no tools of ours, and nothing of the talk but the prompt. */
export function createCliProvider(cli: AgentCli, needs: CliProviderNeeds): SubagentProvider {
  const { workspace, settings, permissions } = needs
  return {
    name: cli.name,
    supports: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false, continuable: false },
    inheritsParentContext: false,
    isLocal: false,
    async start({ parent, prompt, runId, cwd, isolation, signal, onText }) {
      const { isEnabled, path, env, isUnbounded } = cli.configuration(settings)
      if (!isEnabled) throw new SubagentError('NO_PROVIDER', `${cli.title} is off in bosun.${cli.settingsPrefix}enabled. The person can turn it on.`)
      if (!workspace.isTrusted()) throw new SubagentError('NO_PROVIDER', `${cli.title} is not started in a folder that is not trusted. The person can trust it in the editor.`)
      const isReadOnly = permissions.modeOf(parent.id) === 'read-only'
      if (isolation === 'worktree' && isUnbounded && !isReadOnly) {
        throw new WorktreeError('PROVIDER_UNWALLED', `${cli.title} runs with bosun.${cli.settingsPrefix}permissionMode set to a mode that nothing holds to a folder, so a worktree would not keep it in. Leave isolation out, or the person chooses another mode.`)
      }
      const { args, protocol } = cli.open({ prompt, isReadOnly }, settings)
      const { outcome } = await runCli(needs, { title: cli.title, command: path ?? cli.program, args, cwd, env, protocol, signal, onText })
      return { childId: `${cli.name}-${runId}`, outcome }
    },
  }
}

/** Whether the program is there and says its version. Never rejects. */
export async function isInstalled(cli: AgentCli, { processes, clock, homeFolder, settings }: Pick<CliProviderNeeds, 'processes' | 'clock' | 'homeFolder' | 'settings'>): Promise<boolean> {
  const { path, env } = cli.configuration(settings)
  const late = new AbortController()
  const cancel = clock.schedule(LOOK_MS, () => late.abort())
  try {
    const running = await processes.start({ command: path ?? cli.program, args: ['--version'], cwd: homeFolder, env, graceMs: 500, signal: late.signal, onOutput: () => {} })
    const { exitCode, hasSurvivors } = await running.exit
    if (hasSurvivors === true) await running.terminate()
    return exitCode === 0
  } catch {
    // Not there, or nothing that can be started: either way there is none.
    return false
  } finally {
    cancel()
  }
}
