import type { SessionEvent } from '../../core/log/event.ts'
import type {} from './events.ts'
import type { DynamicRunState } from './service.ts'

/** A plugin as a log tells of it. */
export interface LoggedPlugin {
  readonly pluginId: string
  readonly packages: readonly { readonly packageId: string; readonly name: string; readonly purpose: string; readonly halves: readonly ('host' | 'client')[] }[]
  /** Of its newest run. */
  readonly run?: { readonly runId: string; readonly packageId: string; readonly state: DynamicRunState; readonly reason?: string }
  /** The package that ran last; one that never came to run does not count. */
  readonly currentPackageId?: string
}

/** Everything that a log says about plugins, and the highest number of each kind of id, so that none is given twice. */
export interface Journal {
  /** Those that were not removed. */
  readonly plugins: ReadonlyMap<string, LoggedPlugin>
  readonly highest: { readonly plugin: number; readonly run: number; readonly approval: number; readonly packages: ReadonlyMap<string, number> }
}

/** What came from another build or by hand may be anything: what is no id counts as none. */
export function readJournal(events: readonly SessionEvent[]): Journal {
  const plugins = new Map<string, LoggedPlugin>()
  const packages = new Map<string, number>()
  const highest = { plugin: 0, run: 0, approval: 0 }
  const count = (pluginId: string, packageId: string) => {
    highest.plugin = Math.max(highest.plugin, numberOf(pluginId))
    packages.set(pluginId, Math.max(packages.get(pluginId) ?? 0, numberOf(packageId)))
  }
  for (const event of events) {
    switch (event.type) {
      case 'cordis/package': {
        const { pluginId, packageId, name, purpose, halves } = event.data
        count(pluginId, packageId)
        const before = plugins.get(pluginId) ?? { pluginId, packages: [] }
        plugins.set(pluginId, { ...before, packages: [...before.packages, { packageId, name, purpose, halves }] })
        break
      }
      case 'cordis/approval': {
        const { approvalId, pluginId, packageId } = event.data
        highest.approval = Math.max(highest.approval, numberOf(approvalId))
        count(pluginId, packageId)
        break
      }
      case 'cordis/run': {
        const { pluginId, packageId, runId, state, reason } = event.data
        highest.run = Math.max(highest.run, numberOf(runId))
        const before = plugins.get(pluginId)
        // A run that was replaced ends after the one that replaced it has come to run.
        if (before === undefined || (before.run !== undefined && numberOf(before.run.runId) > numberOf(runId))) break
        plugins.set(pluginId, { ...before, run: { runId, packageId, state, ...(reason !== undefined && { reason }) }, ...(state === 'running' && { currentPackageId: packageId }) })
        break
      }
      case 'cordis/removed':
        plugins.delete(event.data.pluginId)
        break
      default:
    }
  }
  return { plugins, highest: { ...highest, packages } }
}

const numberOf = (id: string): number => Number(/-(\d{1,9})$/.exec(id)?.[1] ?? 0)
