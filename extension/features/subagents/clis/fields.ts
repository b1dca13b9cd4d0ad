import { isJsonObject, type Json } from '../../../base/json.ts'

/** The value at a path of field names; undefined where there is none. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found: Json | undefined = value
  for (const name of path) {
    if (found === undefined || !isJsonObject(found) || !Object.hasOwn(found, name)) return undefined
    found = found[name]
  }
  return found
}

export function textAt(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}
