import { basename } from 'node:path'
import type { Workspace } from '../../capabilities/workspace.ts'

/** One folder, trusted because the person named it on the command line; without an editor there is nothing else to tell. */
export function createFolderWorkspace(folder: string): Workspace {
  const folders = [{ name: basename(folder) || folder, path: folder }]
  return {
    folders: () => folders,
    isTrusted: () => true,
    onDidChangeTrust: () => () => {},
    onDidChangeFolders: () => () => {},
    snapshot: async () => ({ openEditors: [], unsavedFiles: [] }),
  }
}
