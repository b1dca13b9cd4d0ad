import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import { isWithin, styleOf } from '../../core/policy/paths.ts'
import { childPath, foldersDown, parentFolder } from './folders.ts'
import type { InstructionScope } from './service.ts'

/** A folder that contributes, with the project it stands in. Canonical paths. */
export interface Root {
  readonly folder: string
  /** The nearest folder above with a root marker, else `folder` itself. */
  readonly projectRoot: string
  /** Where the window has several folders. */
  readonly label?: string
}

/** Folders below a root that are looked at; the work of one session rarely meets more. */
export const MAX_NESTED = 100

interface Needs {
  readonly files: Pick<FileSystem, 'resolve'>
  readonly workspace: Pick<Workspace, 'folders'>
}

/**
 * Where instruction files may stand for a session in `cwd`: every folder of the window, the session's own last.
 *
 * Errors: none; a folder that cannot be followed counts as it is spelled.
 */
export async function rootsOf(cwd: string, { files, workspace }: Needs, markers: readonly string[]): Promise<readonly Root[]> {
  const open = workspace.folders()
  const own = open.filter(({ path }) => path !== cwd).map(({ path, name }) => ({ path, label: open.length > 1 ? name : undefined }))
  const ownLabel = open.length > 1 ? open.find(({ path }) => path === cwd)?.name : undefined
  const all = cwd === '' ? own : [...own, { path: cwd, label: ownLabel }]
  return await Promise.all(
    all.map(async ({ path, label }) => {
      const folder = await canonical(files, path)
      return { folder, projectRoot: await projectRootOf(files, folder, markers), ...(label !== undefined && { label }) }
    }),
  )
}

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

export async function canonical(files: Needs['files'], folder: string): Promise<string> {
  try {
    return (await files.resolve(folder, '/')).path
  } catch {
    // A path that cannot be followed holds no file that could be read; what is wrong shows at its files.
    return folder
  }
}

async function projectRootOf(files: Needs['files'], folder: string, markers: readonly string[]): Promise<string> {
  for (let at: string | null = folder; at !== null; at = parentFolder(at)) {
    for (const marker of markers) if (await isThere(files, childPath(at, marker))) return at
  }
  return folder
}

async function isThere(files: Needs['files'], path: string): Promise<boolean> {
  try {
    return (await files.resolve(path, '/')).exists
  } catch {
    // A folder that may not be looked into cannot mark a project.
    return false
  }
}
