import { isJsonArray, isJsonObject } from '../../base/json.ts'
import type { Json, JsonObject } from '../../base/json.ts'

/**
 * Everything that is wrong with `value` under `schema`, in the order of the schema; empty when it fits.
 *
 * Shape:  each text names the place as a quoted dotted path, or `root` for the whole value.
 * Errors: none, for any schema that `checkSchema` accepts. Iterative: depth does not overflow the stack.
 * Source: runtime specification 3.2.
 */
export function validate(schema: JsonObject, value: Json | undefined, root = 'arguments'): readonly string[] {
  const violations: string[] = []
  // A stack of work. The parts of a node are pushed last first, so that reports come in order; a union pushes its
  // own closing task below its branches, so that it runs after all of them.
  const pending: (() => void)[] = []
  const visit = (node: JsonObject, part: Json | undefined, path: readonly string[], sink: string[]): void => {
    const place = path.length === 0 ? root : `"${path.join('.')}"`
    if (Object.hasOwn(node, 'oneOf')) {
      visitUnion(node['oneOf'] as readonly JsonObject[], part, path, sink, place)
      return
    }
    if (!Object.hasOwn(node, 'type')) {
      if (part === undefined) sink.push(`${place} must be a JSON value`)
      return
    }
    const type = node['type'] as string
    if (!hasType(type, part)) {
      sink.push(`${place} must be ${ARTICLE[type] ?? type}, not ${describe(part)}`)
      return
    }
    if (type === 'array') visitItems(node, part as readonly Json[], path, sink)
    else if (type === 'object') visitProperties(node, part as JsonObject, path, sink)
    else checkLiterals(node, part as Json, place, sink)
  }
  const visitUnion = (branches: readonly JsonObject[], part: Json | undefined, path: readonly string[], sink: string[], place: string): void => {
    const sinks = branches.map((): string[] => [])
    pending.push(() => {
      const fitting = sinks.filter((found) => found.length === 0).length
      if (fitting === 1) return
      if (fitting > 1) sink.push(`${place} fits ${fitting} of the ${branches.length} alternatives; exactly one must fit`)
      else sink.push(`${place} fits none of the ${branches.length} alternatives (${sinks.map((found) => found.join(', ')).join('; or ')})`)
    })
    branches.forEach((branch, index) => pending.push(() => visit(branch, part, path, sinks[index] as string[])))
  }
  const visitItems = (node: JsonObject, items: readonly Json[], path: readonly string[], sink: string[]): void => {
    const schemaOfItem = node['items'] as JsonObject | undefined
    if (!schemaOfItem) return
    for (let index = items.length - 1; index >= 0; index--) {
      pending.push(() => visit(schemaOfItem, items[index], [...path, String(index)], sink))
    }
  }
  const visitProperties = (node: JsonObject, object: JsonObject, path: readonly string[], sink: string[]): void => {
    const properties = (node['properties'] ?? {}) as JsonObject
    for (const name of (node['required'] ?? []) as readonly string[]) {
      if (!Object.hasOwn(object, name) || object[name] === undefined) {
        sink.push(`${[...path].length === 0 ? root : `"${path.join('.')}"`} lacks the required property "${name}"`)
      }
    }
    const names = Object.keys(object).filter((name) => object[name] !== undefined)
    if (node['additionalProperties'] === false) {
      for (const name of names) if (!Object.hasOwn(properties, name)) sink.push(`"${[...path, name].join('.')}" is not a known property`)
    }
    for (const name of names.reverse()) {
      if (Object.hasOwn(properties, name)) {
        pending.push(() => visit(properties[name] as JsonObject, object[name], [...path, name], sink))
      }
    }
  }
  visit(schema, value, [], violations)
  for (let task = pending.pop(); task; task = pending.pop()) task()
  return violations
}

const ARTICLE: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a finite number',
  integer: 'an integer',
  boolean: 'true or false',
  null: 'null',
  array: 'an array',
  object: 'an object',
}

function hasType(type: string, value: Json | undefined): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type
    case 'number':
      return isPlainNumber(value)
    case 'integer':
      return isPlainNumber(value) && Number.isInteger(value)
    case 'null':
      return value === null
    case 'array':
      return value !== undefined && isJsonArray(value)
    default:
      return isJsonObject(value)
  }
}

const isPlainNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)

function checkLiterals(node: JsonObject, value: Json, place: string, sink: string[]): void {
  if (Object.hasOwn(node, 'const') && node['const'] !== value) {
    sink.push(`${place} must be ${JSON.stringify(node['const'])}`)
    return
  }
  const members = node['enum'] as readonly Json[] | undefined
  if (members && !members.includes(value)) {
    sink.push(`${place} must be one of ${members.map((member) => JSON.stringify(member)).join(', ')}`)
  }
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return `the ${typeof value} ${JSON.stringify(typeof value === 'string' && value.length > 60 ? `${value.slice(0, 60)}…` : value)}`
}
