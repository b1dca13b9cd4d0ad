import { isUri } from '../../base/is-uri.ts'

/** `root` is a path or a URI. A place as people name it: relative to the workspace, absolute outside it, and anything that is no file by its URI. */
export function shownUri(uri: string, root: string): string {
  const path = pathOfUri(uri)
  if (path === uri) return uri
  const folder = pathOfUri(root).replace(/[\\/]$/, '')
  const isInside = path.toLowerCase().startsWith(`${folder.replaceAll('\\', '/').toLowerCase()}/`)
  return isInside ? path.slice(folder.length + 1) : path
}

/** The path of a file's URI; any other URI as it is. */
export const pathOfUri = (uri: string): string => (uri.startsWith('file://') ? decoded(uri.slice('file://'.length)).replace(/^\/(?=[A-Za-z]:)/, '') : uri)

/** The URI of a path; what is one stays as it is. */
export function uriOfPath(path: string): string {
  if (isUri(path)) return path
  const slashes = path.replaceAll('\\', '/')
  return `file://${slashes.startsWith('/') ? '' : '/'}${encodeURI(slashes).replaceAll(/[?#]/g, encodeURIComponent)}`
}

/** What is no good escape stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
