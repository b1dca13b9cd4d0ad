import { decodedPart } from '../base/address.ts'
import { isUri } from '../base/is-uri.ts'
import type { WorkspaceFolder } from '../capabilities/workspace.ts'

/**
 * How a path is shown to the model, in a spelling that every tool takes back: led by the folder's name where several folders
 * are open, relative to `cwd` inside it, else as it is. What is relative is in plain letters, also inside an address. All paths canonical.
 */
export function shownPath(path: string, cwd: string, folders: readonly WorkspaceFolder[]): string {
  const shown = spelledPath(path, cwd, folders)
  // Most are paths of the disk, of which a search may show a hundred thousand.
  return shown !== path && !path.startsWith('/') && isUri(path) ? decodedPart(shown) : shown
}

function spelledPath(path: string, cwd: string, folders: readonly WorkspaceFolder[]): string {
  if (folders.length > 1) {
    // The innermost folder, when one open folder lies in another.
    const inside = folders.filter((folder) => relativeTo(folder.path, path) !== undefined).sort((a, b) => b.path.length - a.path.length)[0]
    const isNameUnique = inside !== undefined && folders.filter(({ name }) => name === inside.name).length === 1
    if (isNameUnique) return join(inside.name, relativeTo(inside.path, path) ?? '')
  }
  const relative = relativeTo(cwd, path)
  return relative === undefined ? path : relative === '' ? '.' : relative
}

/** A path for a line of its own: one that would break the line is quoted as in JSON, which a model can give back. */
export const onOneLine = (path: string): string =>
  /[\p{Cc}\u2028\u2029]/u.test(path)
    ? JSON.stringify(path).replace(/[\u007f-\u009f\u2028\u2029]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : path

/** The rest of `path` below `folder`, empty for the folder itself; undefined outside. */
export function relativeTo(folder: string, path: string): string | undefined {
  const base = withoutLastSlashes(folder)
  if (path === folder || path === base) return ''
  const next = path[base.length]
  if (!path.startsWith(base) || (next !== '/' && next !== '\\')) return undefined
  // The root of another file system ends in slashes of its own, as in `memfs:///`.
  const rest = path.slice(base.length + 1)
  return rest.startsWith('/') ? rest.replace(/^\/+/, '') : rest
}

function withoutLastSlashes(folder: string): string {
  let end = folder.length
  while (end > 0 && (folder[end - 1] === '/' || folder[end - 1] === '\\')) end -= 1
  return end === folder.length ? folder : folder.slice(0, end)
}

const join = (name: string, rest: string) => (rest === '' ? name : `${name}/${rest}`)
