/** What was asked for a short while ago. */
export interface ShortCache<T> {
  get(key: string): T | undefined
  set(key: string, value: T, size: number): void
}

/**
 * A cache whose entries grow old after `lifetimeMs` and leave, the longest unused first, when all together are larger than `maxSize`.
 *
 * Units: of `size`, whatever the caller counts in.
 */
export function createShortCache<T>({ now, lifetimeMs, maxSize }: { readonly now: () => number; readonly lifetimeMs: number; readonly maxSize: number }): ShortCache<T> {
  const entries = new Map<string, { readonly value: T; readonly size: number; readonly until: number }>()
  let total = 0
  const remove = (key: string) => {
    total -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }
  return {
    get(key) {
      const found = entries.get(key)
      if (found === undefined) return undefined
      remove(key)
      if (found.until <= now()) return undefined
      entries.set(key, found)
      total += found.size
      return found.value
    },
    set(key, value, size) {
      remove(key)
      if (size > maxSize) return
      entries.set(key, { value, size, until: now() + lifetimeMs })
      total += size
      for (const oldest of entries.keys()) {
        if (total <= maxSize) break
        remove(oldest)
      }
    },
  }
}
