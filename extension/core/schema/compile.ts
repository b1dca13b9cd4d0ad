import { snapshotJson } from '../../base/json.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { checkSchema } from './check-schema.ts'
import { SchemaError } from './schema-error.ts'
import type { ParameterSpecs, PropertySpecs, ValueSpec } from './spec.ts'

/**
 * The JSON Schema of a value spec.
 *
 * Errors: `SchemaError` for a spec that breaks the rules of the language.
 */
export function toJsonSchema(spec: ValueSpec): JsonObject {
  const schema = compileNode(spec, 'value')
  checkSchema(schema)
  return schema
}

/** The JSON Schema of a tool's arguments: an open object. */
export function toParameterSchema(specs: ParameterSpecs): JsonObject {
  const schema: JsonObject = { type: 'object', ...compileProperties(specs, 'arguments') }
  checkSchema(schema)
  return schema
}

function compileNode(spec: ValueSpec, path: string): JsonObject {
  // Authors write specs by hand, so their depth is small; schemas from outside go to `checkSchema` alone.
  const { type, oneOf, items, properties, required: _required, ...rest } = spec as ValueSpec & {
    readonly type?: string
    readonly oneOf?: readonly ValueSpec[]
    readonly items?: ValueSpec
    readonly properties?: PropertySpecs
    readonly required?: true
  }
  const plain = snapshotJson(rest, path) as JsonObject
  if (oneOf) {
    if (type !== undefined) throw new SchemaError(path, 'a node has either `type` or `oneOf`.')
    return { oneOf: oneOf.map((branch, index) => compileNode(branch, `${path}.oneOf.${index}`)), ...plain }
  }
  if (type === 'json') return plain
  if (type === 'array') return { type, ...(items ? { items: compileNode(items, `${path}.items`) } : {}), ...plain }
  if (type === 'object') {
    if (typeof plain['additionalProperties'] !== 'boolean') {
      throw new SchemaError(path, 'an object states `additionalProperties` as true or false.')
    }
    return { type, ...(properties ? compileProperties(properties, path) : {}), ...plain }
  }
  return { type: type as Json, ...plain }
}

function compileProperties(specs: PropertySpecs, path: string): JsonObject {
  const names = Object.keys(specs)
  const properties = Object.create(null) as Record<string, Json>
  for (const name of names) properties[name] = compileNode(specs[name] as ValueSpec, `${path}.${name}`)
  const required = names.filter((name) => specs[name]?.required === true)
  // Plugins written without types may say `required: false`.
  const bad = names.find((name) => ![undefined, true].includes(specs[name]?.required as boolean | undefined))
  if (bad !== undefined) throw new SchemaError(`${path}.${bad}`, '`required: true` is the only spelling of required; leave it out otherwise.')
  return { properties, ...(required.length > 0 ? { required } : {}) }
}
