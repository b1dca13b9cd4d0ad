import { basename } from 'node:path'
import type { Workspace } from '../../capabilities/workspace.ts'
import { readGitBranch } from './git-branch.ts'

/** One folder, trusted because the person named it on the command line; without an editor there is nothing else to tell. */
export function createFolderWorkspace(folder: string): Workspace {
  const folders = [{ name: basename(folder) || folder, path: folder }]
  return {
    folders: () => folders,
    isTrusted: () => true,
    onDidChangeTrust: () => () => {},
    onDidChangeFolders: () => () => {},
    async snapshot() {
      const branch = await readGitBranch(folder)
      return { openEditors: [], unsavedFiles: [], ...(branch !== null && { gitBranches: [{ folder, branch }] }) }
    },
  }
}
