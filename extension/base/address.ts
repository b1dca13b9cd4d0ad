import { isUri } from './is-uri.ts'

/** An address with two slashes behind its scheme, also where there is one because no host is named, so that it never looks like a path. */
export const fullAddress = (address: string): string => address.replace(/^([^/:]+):\/(?!\/)/, '$1:///')

/** The path of what is called `name` in a folder, which may be an address: there a name stands in the letters of addresses. */
export function childPath(folder: string, name: string): string {
  const base = folder.endsWith('/') ? folder.slice(0, -1) : folder
  return `${base}/${isUri(folder) ? encodedName(name) : name}`
}

/** A part of an address as people write it. What is no whole address text stays as it is. */
export function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // A stray percent sign: it was never in the letters of addresses.
    return part
  }
}

/** As the editor writes names into addresses: all but letters, digits and `-._~` by their bytes. */
const encodedName = (name: string) => encodeURIComponent(name.toWellFormed()).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
