import type { ScopeKey } from './plugin.ts'

/** The layers an event or a look-up at `scope` passes, nearest first, without the global one. */
export function scopeChain(scope: ScopeKey | null): readonly ScopeKey[] {
  const chain: ScopeKey[] = []
  for (let key = scope; key !== null; key = key.parent) chain.push(key)
  return chain
}

/** True when `layer` is `scope` or above it; the global layer (null) is above all. */
export function isAtOrAbove(layer: ScopeKey | null, scope: ScopeKey | null): boolean {
  if (layer === null) return true
  for (let key = scope; key !== null; key = key.parent) if (key === layer) return true
  return false
}
