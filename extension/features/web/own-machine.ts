const names: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * This machine with its port, such as `localhost:5173`, when an address names it outright; else null.
 *
 * Other spellings of it, and names that only lead to it, are no way in: nobody who reads them sees where they go.
 */
export function ownMachineIn(address: string): string | null {
  const spelling = address.trim()
  if (!URL.canParse(spelling)) return null
  const { protocol, hostname, port } = new URL(spelling)
  if (!names.has(hostname) || !hasOutright(spelling, hostname)) return null
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}

/** A parser makes `127.0.0.1` of `0x7f.1` and `localhost` of what stands in wide letters. */
const hasOutright = (spelling: string, hostname: string): boolean => spelling.toLowerCase().split(/[/?#\\]+/)[1]?.replace(/:\d*$/, '') === hostname
