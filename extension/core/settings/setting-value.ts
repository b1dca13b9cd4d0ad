/** `value` with what stands at `path` replaced, or taken away by undefined; objects on the way are copied, missing ones made. */
export function withPath(value: unknown, path: readonly string[], next: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return next
  const object = isRecord(value) ? value : {}
  const inner = withPath(Object.hasOwn(object, key) ? object[key] : undefined, rest, next)
  const others = Object.entries(object).filter(([other]) => other !== key)
  return Object.fromEntries(inner === undefined ? others : [...others, [key, inner]])
}

/** `value` with everything at the given places replaced by dots; `*` stands for any key. */
export function masked(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.some((path) => path.length === 0)) return '••••'
  if (paths.length === 0 || !isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, masked(inner, paths.filter(([first]) => first === '*' || first === key).map(([, ...rest]) => rest))]),
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
