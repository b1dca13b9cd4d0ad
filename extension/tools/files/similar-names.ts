const MAX_SIMILAR = 3

/** The folder part of a path as it was spelled, `.` when there is none, and the name. */
export function splitPath(path: string): { readonly folder: string; readonly name: string } {
  const at = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'))
  return { folder: at < 0 ? '.' : at === 0 ? path.slice(0, 1) : path.slice(0, at), name: path.slice(at + 1) }
}

/** Names that may have been meant by `wanted`: other case, other ending, or one in the other; the likeliest first. */
export function similarNames(wanted: string, names: readonly string[]): readonly string[] {
  return names
    .map((name) => ({ name, rank: rankOf(wanted.toLowerCase(), name.toLowerCase()) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .slice(0, MAX_SIMILAR)
    .map(({ name }) => name)
}

function rankOf(wanted: string, name: string): number {
  if (wanted === name) return 4
  const [wantedStem, nameStem] = [stemOf(wanted), stemOf(name)]
  if (wantedStem === nameStem) return 3
  if (plain(wantedStem) === plain(nameStem)) return 2
  const [short, long] = wantedStem.length < nameStem.length ? [wantedStem, nameStem] : [nameStem, wantedStem]
  return short.length >= 3 && long.includes(short) ? 1 : 0
}

const stemOf = (name: string) => name.replace(/(?<=.)\.[^.]*$/, '')
const plain = (name: string) => name.replaceAll(/[-_. ]/g, '')
