import type { Json } from './json.ts'

/** JSON text that is equal for equal values: object keys stand in code-unit order. */
export function stableStringify(value: Json): string {
  return JSON.stringify(value, (_key, inner: unknown) => (isPlainObject(inner) ? sorted(inner) : inner))
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// fromEntries defines own properties, so a key called `__proto__` stays data.
const sorted = (value: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
