import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../../base/json.ts'
import { checkSchema } from '../../schema/check-schema.ts'

const KEPT = ['description', 'title', 'default', 'examples'] as const
const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'])
/** Keywords a model may use though no validator here knows them; told in words. */
const TOLD = ['format', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'multipleOf'] as const
const MAX_DEPTH = 24
const MAX_NODES = 2_000

/**
 * A schema of whoever lends a tool in the subset that Bosun declares to models. What the subset has no word for is told in the description or left
 * open: the lender validates its arguments itself.
 *
 * Shape:  an object schema, of at most 2 000 nodes; what is deeper or refers to itself is open.
 * Errors: none, whatever it says.
 */
export function declaredParameters(schema: JsonObject): JsonObject {
  const made = convert(schema, { root: schema, depth: 0, budget: { nodes: MAX_NODES }, refs: [] })
  return made['type'] === 'object' ? made : { type: 'object', properties: {} }
}

/** The output schema of a lender when it fits the subset as it is, else null. Source: runtime specification 21. */
export function enforcedOutput(schema: JsonObject | undefined): JsonObject | null {
  if (schema === undefined) return null
  const { $schema: _dialect, $id: _id, ...rest } = schema
  try {
    checkSchema(rest)
    return rest
  } catch {
    // Outside the subset nothing is enforced.
    return null
  }
}

interface Place {
  readonly root: JsonObject
  readonly depth: number
  readonly budget: { nodes: number }
  /** Being followed now. */
  readonly refs: readonly string[]
}

function convert(schema: Json | undefined, place: Place): JsonObject {
  place.budget.nodes -= 1
  if (!isJsonObject(schema) || place.depth > MAX_DEPTH || place.budget.nodes < 0) return {}
  const ref = own(schema, '$ref')
  if (typeof ref === 'string') return followed(ref, schema, place)
  const deeper = { ...place, depth: place.depth + 1 }
  const notes = annotations(schema)
  const branches = own(schema, 'oneOf') ?? own(schema, 'anyOf')
  if (isJsonArray(branches) && branches.length > 0) return alternatives(branches.map((branch) => convert(branch, deeper)), notes)
  const all = own(schema, 'allOf')
  if (isJsonArray(all) && all.length === 1 && !Object.hasOwn(schema, 'type')) return { ...convert(all[0], deeper), ...notes }
  const type = own(schema, 'type') ?? impliedType(schema)
  if (isJsonArray(type)) {
    const types = [...new Set(type)].filter((one) => typeof one === 'string' && TYPES.has(one))
    return alternatives(types.map((one) => convert({ ...withoutNotes(schema), type: one }, deeper)), notes)
  }
  if (typeof type !== 'string' || !TYPES.has(type)) return notes
  if (type === 'array') return { ...notes, type, ...(Object.hasOwn(schema, 'items') && { items: convert(own(schema, 'items'), deeper) }) }
  if (type === 'object') return { ...notes, ...objectParts(schema, deeper) }
  return { ...notes, type, ...literals(schema, type) }
}

function objectParts(schema: JsonObject, place: Place): JsonObject {
  const properties = own(schema, 'properties')
  const made: Record<string, Json> = {}
  if (isJsonObject(properties)) for (const [name, property] of Object.entries(properties)) if (name !== '__proto__') made[name] = convert(property, place)
  const required = own(schema, 'required')
  const names = isJsonArray(required) ? [...new Set(required)].filter((name): name is string => typeof name === 'string' && Object.hasOwn(made, name)) : []
  return {
    type: 'object',
    properties: made,
    ...(names.length > 0 && { required: names }),
    ...(own(schema, 'additionalProperties') === false && { additionalProperties: false }),
  }
}

function followed(ref: string, schema: JsonObject, place: Place): JsonObject {
  if (!ref.startsWith('#') || place.refs.includes(ref)) return annotations(schema)
  let target: Json | undefined = place.root
  for (const part of ref.slice(1).split('/').filter((each) => each !== '')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    target = isJsonObject(target) ? own(target, name) : undefined
  }
  return { ...convert(target, { ...place, depth: place.depth + 1, refs: [...place.refs, ref] }), ...annotations(schema) }
}

function alternatives(branches: readonly JsonObject[], notes: JsonObject): JsonObject {
  const [first] = branches
  if (first === undefined || branches.some((branch) => Object.keys(branch).length === 0)) return notes
  return branches.length === 1 ? { ...first, ...notes } : { ...notes, oneOf: branches }
}

function annotations(schema: JsonObject): JsonObject {
  const kept = Object.fromEntries(KEPT.flatMap((key) => (Object.hasOwn(schema, key) ? [[key, schema[key] as Json]] : [])))
  const told = TOLD.flatMap((key) => {
    const value = own(schema, key)
    return typeof value === 'string' || typeof value === 'number' ? [`${key}: ${value}`] : []
  })
  const description = typeof kept['description'] === 'string' ? kept['description'] : ''
  if (typeof kept['description'] !== 'string') delete kept['description']
  if (typeof kept['title'] !== 'string') delete kept['title']
  if (told.length === 0) return kept
  return { ...kept, description: `${description}${description === '' ? '' : ' '}(${told.join(', ')})` }
}

const withoutNotes = (schema: JsonObject): JsonObject => Object.fromEntries(Object.entries(schema).filter(([key]) => !(KEPT as readonly string[]).includes(key)))

function literals(schema: JsonObject, type: string): JsonObject {
  const fits = (value: Json): boolean => (type === 'null' ? value === null : type === 'integer' ? Number.isInteger(value) : typeof value === type)
  const members = own(schema, 'enum')
  const fitting = isJsonArray(members) ? members.filter(fits) : []
  const constant = own(schema, 'const')
  return {
    ...(fitting.length > 0 && { enum: fitting }),
    ...(constant !== undefined && fits(constant) && (fitting.length === 0 || fitting.includes(constant)) && { const: constant }),
  }
}

function impliedType(schema: JsonObject): string | undefined {
  if (Object.hasOwn(schema, 'properties')) return 'object'
  if (Object.hasOwn(schema, 'items')) return 'array'
  const literal = isJsonArray(own(schema, 'enum')) ? (own(schema, 'enum') as readonly Json[])[0] : own(schema, 'const')
  return typeof literal === 'string' ? 'string' : typeof literal === 'number' ? 'number' : typeof literal === 'boolean' ? 'boolean' : undefined
}

const own = (object: JsonObject, key: string): Json | undefined => (Object.hasOwn(object, key) ? object[key] : undefined)
