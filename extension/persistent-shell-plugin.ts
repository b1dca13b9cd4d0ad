import type { Undo } from './base/undo.ts'
import type { Machine } from './capabilities/machine.ts'
import type { Workspace } from './capabilities/workspace.ts'
import type { Context, Plugin, ScopeKey } from './core/kernel/plugin.ts'
import { settings } from './core/settings/specs.ts'
import type {} from './core/loop/points.ts'
import type {} from './core/policy/permissions.ts'
import type {} from './core/presets/preset.ts'
import { hasFolderForPrograms } from './core/presets/program-tools.ts'
import type {} from './core/settings/settings.ts'
import type {} from './core/tools/service.ts'
import { persistentBash, persistentPwsh } from './tools/shell/persistent-dialect.ts'
import { createPersistentShells, type PersistentShellNeeds } from './tools/shell/persistent-tool.ts'
import { isOffered, shellNeeds, type OfferedShells } from './tools/shell/plugin.ts'
import { programOf } from './tools/shell/shell-dialect.ts'

/**
 * Puts shells that stay in the place of `bash` and `pwsh`, in the layers of presets that want them.
 *
 * What a layer registers itself no restriction of it reaches, so it goes while the folder is not trusted, no folder is on the disk or the person has turned the tool off.
 */
export function persistentShell(needs: Omit<PersistentShellNeeds, 'program' | 'machine' | 'dialect'> & { readonly machine: Machine; readonly shellPath: () => string | null; readonly offered: () => OfferedShells; readonly workspace: Pick<Workspace, 'folders' | 'isTrusted' | 'onDidChangeTrust' | 'onDidChangeFolders'> }): Plugin {
  const { machine, shellPath, workspace, offered } = needs
  return {
    name: 'persistent-shell',
    inject: ['permissions', 'presets', 'settings', 'tools'],
    apply(ctx) {
      const shells = [persistentBash, persistentPwsh].flatMap((dialect) => {
        const program = () => programOf(dialect.name, shellPath(), machine[dialect.name])
        const first = program()
        const make = () => createPersistentShells({ ...needs, dialect, confinement: () => ctx.get('confinement'), program: () => program() ?? first ?? dialect.name })
        const isWanted = isOffered(dialect.name, offered(), machine.platform)
        if (first !== null && isWanted) return [{ name: dialect.name, ...make() }]
        ctx.tools.declareAbsent({ needs: shellNeeds(dialect.name, isWanted), presets: ['minimal'] }, () => make().tool)
        return []
      })
      const layers: { readonly scope: ScopeKey; readonly layer: Context; readonly tools: readonly string[]; readonly undo: Map<string, readonly Undo[]> }[] = []
      const update = () => layers.forEach(updateLayer)
      const updateLayer = ({ scope, layer, tools, undo }: (typeof layers)[number]) => {
        for (const { name, tool, stateOf } of shells) {
          const isThere = tools.includes(name) && workspace.isTrusted() && hasFolderForPrograms(workspace) && !ctx.settings.get(settings.toolsDisabled).includes(name)
          if (isThere === undo.has(name)) continue
          for (const one of undo.get(name) ?? []) one()
          undo.delete(name)
          if (!isThere) continue
          undo.set(name, [
            // What its calls do is declared of this very tool, so each layer has one of its own.
            layer.tools.register({ ...tool }),
            ctx.permissions.declare(
              name,
              (args, agent) => {
                const state = stateOf(agent)
                // What goes to a program that waits is no line of the shell.
                if (state?.isWaiting === true) return { kind: 'unknown' }
                return { kind: 'shell', shell: name, command: typeof args['command'] === 'string' ? args['command'] : '', workdir: state?.folder ?? null }
              },
              scope,
            ),
          ])
        }
      }
      ctx.effect(
        ctx.presets.onMount((scope, { hasPersistentShell, tools }) => {
          if (hasPersistentShell !== true) return
          const made = { scope, layer: ctx.scoped(scope), tools, undo: new Map<string, readonly Undo[]>() }
          layers.push(made)
          updateLayer(made)
        }),
      )
      ctx.effect(workspace.onDidChangeTrust(update))
      ctx.effect(workspace.onDidChangeFolders(update))
      ctx.effect(
        ctx.settings.onDidChange((key) => {
          if (key === settings.toolsDisabled.key) update()
        }),
      )
      ctx.on('agent/disposing', (agent) => Promise.all(shells.map((one) => one.disposeOwner(agent.id))).then(() => {}))
      return () => Promise.all(shells.map((one) => one.dispose())).then(() => {})
    },
  }
}
