import { childPath, parentFolder } from '../../base/folders.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Workspace } from '../../capabilities/workspace.ts'

/** A folder that contributes what the model is told, with the project it stands in. Canonical paths. */
export interface Root {
  readonly folder: string
  /** The nearest folder above with a root marker, else `folder` itself. */
  readonly projectRoot: string
  /** Where the window has several folders. */
  readonly label?: string
}

interface Needs {
  readonly files: Pick<FileSystem, 'resolve'>
  readonly workspace: Pick<Workspace, 'folders'>
}

/**
 * The folders that contribute to a session in `cwd`: every folder of the window, the session's own last.
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

/** Links followed; as it is spelled where that cannot be done. */
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
