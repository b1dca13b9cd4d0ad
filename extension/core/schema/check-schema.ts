import { isJsonArray, isJsonObject, stringifyJson } from '../../base/json.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { clipped } from '../../base/text.ts'
import { SchemaError } from './schema-error.ts'

const ANNOTATIONS = new Set(['description', 'title', 'default', 'examples'])
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'])
const KEYWORDS_OF: Readonly<Record<string, ReadonlySet<string>>> = {
  oneOf: new Set(['oneOf']),
  any: new Set(),
  string: new Set(['type', 'enum', 'const']),
  number: new Set(['type', 'enum', 'const']),
  integer: new Set(['type', 'enum', 'const']),
  boolean: new Set(['type', 'enum', 'const']),
  null: new Set(['type', 'enum', 'const']),
  array: new Set(['type', 'items']),
  object: new Set(['type', 'properties', 'required', 'additionalProperties']),
}

/**
 * Hold a JSON Schema against the supported subset, whoever wrote it. Iterative, so a hostile depth cannot overflow the stack.
 *
 * Shape:  sub-schemas may be shared between siblings; the value is lossless JSON already, so it has no cycles.
 * Errors: `SchemaError` with the path and the keyword.
 * Source: runtime specification 3.1 "Raw schema subset".
 */
export function checkSchema(root: JsonObject): void {
  const pending: { schema: Json; path: string }[] = [{ schema: root, path: 'schema' }]
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    const { schema, path } = entry
    if (!isJsonObject(schema)) throw new SchemaError(path, 'expected an object.')
    for (const child of checkNode(schema, path)) pending.push(child)
  }
}

function checkNode(schema: JsonObject, path: string): { schema: Json; path: string }[] {
  const kind = kindOf(schema, path)
  const allowed = KEYWORDS_OF[kind]
  for (const keyword of Object.keys(schema)) {
    if (!ANNOTATIONS.has(keyword) && !allowed?.has(keyword)) {
      throw new SchemaError(path, `the keyword \`${keyword}\` is not supported for ${kind}.`)
    }
  }
  if (kind === 'oneOf') return checkOneOf(schema, path)
  if (kind === 'array') return Object.hasOwn(schema, 'items') ? [{ schema: schema['items'] as Json, path: `${path}.items` }] : []
  if (kind === 'object') return checkObject(schema, path)
  if (kind !== 'any') checkLiterals(schema, kind, path)
  return []
}

function kindOf(schema: JsonObject, path: string): string {
  if (Object.hasOwn(schema, 'oneOf')) {
    if (Object.hasOwn(schema, 'type')) throw new SchemaError(path, 'a node has either `type` or `oneOf`.')
    return 'oneOf'
  }
  if (!Object.hasOwn(schema, 'type')) return 'any'
  const type = schema['type']
  if (typeof type !== 'string' || !TYPES.has(type)) {
    throw new SchemaError(path, `\`type\` is one word of ${[...TYPES].join(', ')}; lists of types are not supported.`)
  }
  return type
}

function checkOneOf(schema: JsonObject, path: string): { schema: Json; path: string }[] {
  const branches = schema['oneOf']
  if (!isJsonArray(branches) || branches.length < 2) throw new SchemaError(path, '`oneOf` needs at least two branches.')
  return branches.map((branch, index) => ({ schema: branch, path: `${path}.oneOf.${index}` }))
}

function checkObject(schema: JsonObject, path: string): { schema: Json; path: string }[] {
  const properties = Object.hasOwn(schema, 'properties') ? schema['properties'] : undefined
  if (properties !== undefined && !isJsonObject(properties)) throw new SchemaError(path, '`properties` is an object.')
  if (Object.hasOwn(schema, 'additionalProperties') && typeof schema['additionalProperties'] !== 'boolean') {
    throw new SchemaError(path, '`additionalProperties` is true or false.')
  }
  const required = Object.hasOwn(schema, 'required') ? schema['required'] : []
  if (!isJsonArray(required)) throw new SchemaError(path, '`required` is a list of property names.')
  for (const name of required) {
    if (typeof name !== 'string' || !properties || !Object.hasOwn(properties, name)) {
      throw new SchemaError(path, `the required property ${shown(name)} is not declared.`)
    }
  }
  return Object.keys(properties ?? {}).map((name) => ({ schema: (properties as JsonObject)[name] as Json, path: `${path}.${name}` }))
}

function checkLiterals(schema: JsonObject, kind: string, path: string): void {
  const fits = (value: Json): boolean => {
    if (kind === 'null') return value === null
    if (kind === 'integer') return Number.isInteger(value)
    return typeof value === kind
  }
  const members = Object.hasOwn(schema, 'enum') ? (schema['enum'] as Json) : undefined
  if (members !== undefined) {
    if (!isJsonArray(members) || members.length === 0) throw new SchemaError(path, '`enum` is a list with at least one value.')
    const odd = members.find((member) => !fits(member))
    if (odd !== undefined) throw new SchemaError(path, `the enum value ${shown(odd)} is not a ${kind}.`)
  }
  if (!Object.hasOwn(schema, 'const')) return
  const constant = schema['const'] as Json
  if (!fits(constant)) throw new SchemaError(path, `the const value ${shown(constant)} is not a ${kind}.`)
  if (members !== undefined && !members.includes(constant)) {
    throw new SchemaError(path, 'the const value is not a member of `enum`.')
  }
}

/** Of any depth and size, as long as a message may be. */
function shown(value: Json): string {
  const text = stringifyJson(value)
  return clipped(text, 80)
}
