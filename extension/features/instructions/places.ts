import { foldersDown } from '../../base/folders.ts'
import type { Machine } from '../../capabilities/machine.ts'
import { isWithin, styleOf } from '../../core/policy/paths.ts'
import type { Root } from '../../core/told/roots.ts'
import type { InstructionScope } from './service.ts'

/** Folders below a root that are looked at; the work of one session rarely meets more. */
export const MAX_NESTED = 100

/** The folders from each project's root down, broad first, each once. */
export function projectScopes(roots: readonly Root[]): readonly InstructionScope[] {
  const scopes = new Map<string, InstructionScope>()
  for (const { folder, projectRoot, label } of roots) {
    for (const at of foldersDown(projectRoot, folder)) {
      if (!scopes.has(at)) scopes.set(at, { kind: 'project', folder: at, ...(label !== undefined && { label }) })
    }
  }
  return [...scopes.values()]
}

/** The folders from below a root down to `folder`; none for one elsewhere, or among packages of others. */
export function nestedScopes(folder: string, roots: readonly Root[], machine: Pick<Machine, 'platform'>): readonly InstructionScope[] {
  const style = styleOf(machine)
  const above = roots.filter((root) => isWithin(folder, root.folder, style)).toSorted((a, b) => b.folder.length - a.folder.length)[0]
  if (above === undefined || folder === above.folder) return []
  const scopes: InstructionScope[] = []
  for (const at of foldersDown(above.folder, folder).slice(1)) {
    // What comes with a package, or stands in the repository's own folder, does not speak for the person.
    if (/[\\/](node_modules|\.git)$/.test(at)) break
    scopes.push({ kind: 'nested', folder: at, ...(above.label !== undefined && { label: above.label }) })
  }
  return scopes
}
