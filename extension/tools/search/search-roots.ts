import type { FileSystem } from '../../capabilities/file-system.ts'
import { SearchError } from '../../capabilities/search.ts'
import type { Workspace, WorkspaceFolder } from '../../capabilities/workspace.ts'
import type { BodyExecution } from '../../core/tools/definition.ts'
import { sessionFolder } from '../session-folder.ts'
import { shownPath } from '../shown-path.ts'

export interface SearchRoots {
  /** Absolute and canonical. */
  readonly roots: readonly string[]
  /** The glob, relative to the roots. */
  readonly glob: string | undefined
  readonly shown: (path: string) => string
}

export interface SearchScope {
  readonly path: string | undefined
  /** May be led by the name of an open folder, as paths are shown where several are open. */
  readonly glob: string | undefined
  readonly kind: 'folder' | 'any'
}

/**
 * Where a search looks: the one place that was named, else every open folder, else the session's.
 *
 * Errors: `SearchError` `SEARCH_FAILED` for a place that is not there, or a file where `kind` wants a folder.
 */
export async function searchRoots(
  needs: { readonly files: Pick<FileSystem, 'resolve' | 'stat'>; readonly workspace: Pick<Workspace, 'folders'> },
  { path, glob, kind }: SearchScope,
  exec: BodyExecution,
): Promise<SearchRoots> {
  const folder = sessionFolder(exec)
  const cwd = (await needs.files.resolve('.', folder, exec.signal)).path
  // Whole paths, which mean the disk also where the session works in a folder that is not there.
  const folders = await canonicalFolders(needs.workspace.folders(), async (each) => (await needs.files.resolve(each, '/', exec.signal)).path)
  const shown = (found: string) => shownPath(found, cwd, folders)
  if (path === undefined) {
    const isOpen = folders.length > 1 && folders.some((each) => each.path === cwd)
    if (!isOpen) return { roots: [cwd], glob, shown }
    const named = folderNamedBy(glob, folders)
    return named ? { roots: [named.folder.path], glob: named.rest, shown } : { roots: folders.map((each) => each.path), glob, shown }
  }
  const target = await needs.files.resolve(path, folder, exec.signal)
  if (!target.exists) throw new SearchError('SEARCH_FAILED', `${path} does not exist. Check the path, or leave it out to search everything.`)
  if (kind === 'folder' && (await needs.files.stat(target, exec.signal)).kind !== 'directory')
    throw new SearchError('SEARCH_FAILED', `${path} is not a folder. Name the folder to search in.`)
  return { roots: [target.path], glob, shown }
}

/** The folder whose name leads `glob`, by the rule that paths follow, and the glob inside it. */
function folderNamedBy(glob: string | undefined, folders: readonly WorkspaceFolder[]) {
  const [, name, rest] = /^([^/]+)(\/.+)$/.exec(glob ?? '') ?? []
  const folder = rest === undefined ? undefined : folders.find((each) => each.name === name)
  // The slash stays, so that a bare name does not match at any depth.
  return folder && rest !== undefined ? { folder, rest } : undefined
}

async function canonicalFolders(folders: readonly WorkspaceFolder[], canonical: (path: string) => Promise<string>): Promise<readonly WorkspaceFolder[]> {
  if (folders.length < 2) return folders
  return Promise.all(folders.map(async ({ name, path }) => ({ name, path: await canonical(path) })))
}
