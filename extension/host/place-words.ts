import type { Workspace } from '../capabilities/workspace.ts'

type Folders = ReturnType<Workspace['folders']>

/**
 * A path as a page for the person shows it: from the folder of the window that it is in, else whole.
 *
 * Shape:  `src/AGENTS.md` in the only folder, `api/src/AGENTS.md` in one of several; a folder of the window by its name.
 */
export function placeWords(path: string, folders: Folders): string {
  for (const { name, path: folder } of folders) {
    if (path === folder) return name
    const rest = path.slice(folder.length)
    if (path.startsWith(folder) && /^[\\/]/.test(rest)) return folders.length === 1 ? rest.slice(1) : `${name}${rest}`
  }
  return path
}
