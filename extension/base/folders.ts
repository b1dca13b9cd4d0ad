/** Path arithmetic on absolute paths of this machine, `C:\` ones too, and on URI text. */
const uriStart = /^[a-z][\w+.-]+:\/\/[^/]*/i

/** The folder above, or null at the top. */
export function parentFolder(path: string): string | null {
  const top = uriStart.exec(path)?.[0] ?? /^[a-z]:(?=[\\/])/i.exec(path)?.[0] ?? ''
  const steps = path.slice(top.length).replace(/[\\/]+$/, '')
  const cut = Math.max(steps.lastIndexOf('/'), steps.lastIndexOf('\\'))
  if (steps === '' || cut < 0) return null
  return cut === 0 ? `${top}${steps[0]}` : top + steps.slice(0, cut)
}

/** `name`, which may have several steps, below `folder`. */
export function childPath(folder: string, name: string): string {
  const separator = uriStart.test(folder) || !folder.includes('\\') ? '/' : '\\'
  return folder.replace(/[\\/]$/, '') + separator + (separator === '/' ? name : name.replaceAll('/', separator))
}

/** The last step. */
export const nameOf = (path: string): string => path.split(/[\\/]/).at(-1) ?? path

/** `path` as those name it who work in `folder`: from there where it lies below it, else whole. */
export function seenFrom(folder: string, path: string): string {
  if (folder === '' || !path.startsWith(folder)) return path
  // The top of a disk ends in the separator itself.
  const rest = path.slice(folder.replace(/[\\/]$/, '').length)
  return rest.length > 1 && /^[\\/]/.test(rest) ? rest.slice(1) : path
}

/** From `top` down to `folder`, both with; `top` must be `folder` or stand above it. */
export function foldersDown(top: string, folder: string): readonly string[] {
  const found: string[] = []
  for (let at: string | null = folder; at !== null; at = parentFolder(at)) {
    found.unshift(at)
    if (at === top) return found
  }
  return [folder]
}
