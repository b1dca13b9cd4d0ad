import { isJsonObject, JsonError, snapshotJson } from '../../base/json.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { checkSchema } from './check-schema.ts'
import { SchemaError } from './schema-error.ts'
import type { ParameterSpecs, ValueSpec } from './spec.ts'

/**
 * The JSON Schema of a value spec.
 *
 * Errors: `SchemaError` for a spec that breaks the rules of the language, also one that holds itself.
 */
export function toJsonSchema(spec: ValueSpec): JsonObject {
  return compile(spec, 'value')
}

/** The JSON Schema of a tool's arguments: an open object. Errors: as for `toJsonSchema`. */
export function toParameterSchema(specs: ParameterSpecs): JsonObject {
  const schema = compile({ type: 'object', properties: specs, additionalProperties: true }, 'arguments')
  // Open is what an object is when it does not say.
  const { additionalProperties: _open, ...rest } = schema
  return rest
}

/**
 * A schema as data: read once, detached, frozen.
 *
 * Errors: `SchemaError` for what JSON cannot carry: cycles, class instances, hidden or symbol keys, `undefined`.
 */
export function schemaSnapshot(schema: unknown, path: string): JsonObject {
  try {
    const copy = snapshotJson(schema, path)
    if (isJsonObject(copy)) return copy
  } catch (error) {
    if (error instanceof JsonError) throw new SchemaError(path, error.message)
    throw error
  }
  throw new SchemaError(path, 'expected an object.')
}

type Node = Record<string, Json>
interface Pending {
  readonly spec: JsonObject
  /** The schema of `spec`, made but still empty: what stands above holds it already. */
  readonly schema: Node
  readonly path: string
  readonly isProperty: boolean
}

/** Iterative, so that depth does not overflow the stack. What is not of the language stays and is refused by `checkSchema`. */
function compile(spec: unknown, root: string): JsonObject {
  const made: Node = {}
  const pending: Pending[] = [{ spec: schemaSnapshot(spec, root), schema: made, path: root, isProperty: false }]
  for (let next = pending.pop(); next; next = pending.pop()) compileNode(next, pending)
  checkSchema(made)
  return made
}

function compileNode({ spec, schema, path, isProperty }: Pending, pending: Pending[]): void {
  const compiled = (inner: Json, innerPath: string, isInnerProperty = false): Json => {
    // What is no object is refused, by its place, when the whole is checked.
    if (!isJsonObject(inner)) return inner
    const innerSchema: Node = {}
    pending.push({ spec: inner, schema: innerSchema, path: innerPath, isProperty: isInnerProperty })
    return innerSchema
  }
  checkRequired(spec, path, isProperty)
  if (spec['type'] === 'object' && typeof spec['additionalProperties'] !== 'boolean') {
    throw new SchemaError(path, 'an object states `additionalProperties` as true or false.')
  }
  if (!Object.hasOwn(spec, 'type') && !Object.hasOwn(spec, 'oneOf')) throw new SchemaError(path, 'a node has `type` or `oneOf`.')
  for (const [key, value] of Object.entries(spec)) {
    if (key === '__proto__') throw new SchemaError(path, 'the keyword `__proto__` is not supported.')
    if (key === 'required' || (key === 'type' && value === 'json')) continue
    if (key === 'items') schema[key] = compiled(value, `${path}.items`)
    else if (key === 'oneOf' && Array.isArray(value)) schema[key] = (value as readonly Json[]).map((branch, index) => compiled(branch, `${path}.oneOf.${index}`))
    else if (key === 'properties' && isJsonObject(value)) {
      const properties = Object.create(null) as Node
      const required: string[] = []
      for (const [name, property] of Object.entries(value)) {
        properties[name] = compiled(property, `${path}.${name}`, true)
        if (isJsonObject(property) && property['required'] === true) required.push(name)
      }
      schema[key] = properties
      if (required.length > 0) schema['required'] = required
    } else schema[key] = value
  }
}

/** Plugins written without types may say `required: false`, or list names as JSON Schema does. */
function checkRequired(spec: JsonObject, path: string, isProperty: boolean): void {
  if (!Object.hasOwn(spec, 'required') || (isProperty && spec['required'] === true)) return
  throw new SchemaError(path, '`required: true` on a property is the only spelling of required; leave it out otherwise.')
}
