import type { Undo } from './base/undo.ts'
import type { Machine } from './capabilities/machine.ts'
import type { Workspace } from './capabilities/workspace.ts'
import type { Context, Plugin } from './core/kernel/plugin.ts'
import { settings } from './core/settings/specs.ts'
import type {} from './core/loop/points.ts'
import type {} from './core/policy/permissions.ts'
import type {} from './core/presets/preset.ts'
import type {} from './core/settings/settings.ts'
import type {} from './core/tools/service.ts'
import { createPersistentShells, type PersistentShellNeeds } from './tools/shell/persistent-tool.ts'

/** The preset whose shell stays from call to call. */
const PRESET = 'minimal'

/**
 * Puts the shell that stays in the place of `bash`, in the layer of the minimal preset alone.
 *
 * What a layer registers itself no restriction of it reaches, so it goes while the folder is not trusted or the person has turned the tool off.
 */
export function persistentShell(needs: Omit<PersistentShellNeeds, 'program' | 'machine'> & { readonly machine: Machine; readonly shellPath: () => string | null; readonly workspace: Pick<Workspace, 'isTrusted' | 'onDidChangeTrust'> }): Plugin {
  const { machine, shellPath, workspace } = needs
  return {
    name: 'persistent-shell',
    inject: ['permissions', 'presets', 'settings', 'tools'],
    apply(ctx) {
      const found = machine.bash
      if (machine.platform === 'win32' || found === null) return
      const shells = createPersistentShells({ ...needs, program: () => shellPath() ?? found })
      const layer: Context = ctx.scoped(ctx.presets.scopeOf(PRESET))
      const scope = ctx.presets.scopeOf(PRESET)
      let undo: readonly Undo[] = []
      const update = () => {
        const isOffered = workspace.isTrusted() && !ctx.settings.get(settings.toolsDisabled).includes('bash')
        if (isOffered === undo.length > 0) return
        for (const one of undo) one()
        undo = !isOffered
          ? []
          : [
              layer.tools.register(shells.tool),
              ctx.permissions.declare(
                'bash',
                (args, agent) => {
                  const state = shells.stateOf(agent)
                  // What goes to a program that waits is no line of the shell.
                  if (state?.isWaiting === true) return { kind: 'unknown' }
                  return { kind: 'shell', shell: 'bash', command: typeof args['command'] === 'string' ? args['command'] : '', workdir: state?.folder ?? null }
                },
                scope,
              ),
            ]
      }
      update()
      ctx.effect(workspace.onDidChangeTrust(update))
      ctx.effect(
        ctx.settings.onDidChange((key) => {
          if (key === settings.toolsDisabled.key) update()
        }),
      )
      ctx.on('agent/disposing', (agent) => shells.disposeOwner(agent.id))
      return () => shells.dispose()
    },
  }
}
