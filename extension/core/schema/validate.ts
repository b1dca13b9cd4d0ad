import { isJsonArray, isJsonObject } from '../../base/json.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { clipped } from '../../base/text.ts'

/** Steps of a path that are shown; a deeper one is led by an ellipsis. */
const SHOWN_STEPS = 24
/** UTF-16 units that each alternative of a union may add to its message. */
const SHOWN_ALTERNATIVE = 160

/**
 * Everything that is wrong with `value` under `schema`, in the order of the value; empty when it fits.
 *
 * Shape:  each text names the place as a quoted dotted path, or `root` for the whole value.
 * Errors: none, for any schema that `checkSchema` accepts. Iterative: depth does not overflow the stack.
 * Source: runtime specification 3.2.
 */
export function validate(schema: JsonObject, value: Json | undefined, root = 'arguments'): readonly string[] {
  const violations: string[] = []
  // A stack of work. The parts of a node are pushed last first, so that reports come in order; a union pushes its
  // own closing task below its branches, so that it runs after all of them.
  const pending: Task[] = [{ schema, value, path: null, sink: violations }]
  for (let task = pending.pop(); task; task = pending.pop()) {
    if ('close' in task) task.close()
    else visit(task, root, pending)
  }
  return violations
}

interface Visit {
  readonly schema: JsonObject
  readonly value: Json | undefined
  readonly path: Path | null
  readonly sink: string[]
}
type Task = Visit | { readonly close: () => void }
interface Path {
  readonly step: string
  readonly parent: Path | null
}

function visit(task: Visit, root: string, pending: Task[]): void {
  const { schema, value, path, sink } = task
  const place = (): string => placeOf(path, root)
  if (Object.hasOwn(schema, 'oneOf')) {
    visitUnion(schema['oneOf'] as readonly JsonObject[], task, place, pending)
  } else if (!Object.hasOwn(schema, 'type')) {
    if (value === undefined) sink.push(`${place()} must be a JSON value`)
  } else {
    const type = schema['type'] as string
    if (!hasType(type, value)) sink.push(`${place()} must be ${ARTICLE[type] ?? type}, not ${describe(value)}`)
    else if (type === 'array') visitItems(task, pending)
    else if (type === 'object') visitProperties(task, place, pending)
    else checkLiterals(schema, value as Json, place, sink)
  }
}

function visitUnion(branches: readonly JsonObject[], task: Visit, place: () => string, pending: Task[]): void {
  const sinks = branches.map((): string[] => [])
  const close = (): void => {
    const fitting = sinks.filter((found) => found.length === 0).length
    if (fitting === 1) return
    const reasons = sinks.map((found) => clipped(found.join(', '), SHOWN_ALTERNATIVE)).join('; or ')
    task.sink.push(
      fitting > 1
        ? `${place()} fits ${fitting} of the ${branches.length} alternatives; exactly one must fit`
        : `${place()} fits none of the ${branches.length} alternatives (${reasons})`,
    )
  }
  pending.push({ close })
  branches.forEach((schema, index) => pending.push({ ...task, schema, sink: sinks[index] as string[] }))
}

function visitItems({ schema, value, path, sink }: Visit, pending: Task[]): void {
  const schemaOfItem = own(schema, 'items') as JsonObject | undefined
  if (!schemaOfItem) return
  const items = value as readonly Json[]
  for (let index = items.length - 1; index >= 0; index--) {
    pending.push({ schema: schemaOfItem, value: items[index], path: { step: String(index), parent: path }, sink })
  }
}

function visitProperties({ schema, value, path, sink }: Visit, place: () => string, pending: Task[]): void {
  const object = value as JsonObject
  const properties = (own(schema, 'properties') ?? {}) as JsonObject
  for (const name of (own(schema, 'required') ?? []) as readonly string[]) {
    if (!Object.hasOwn(object, name) || object[name] === undefined) sink.push(`${place()} lacks the required property "${name}"`)
  }
  const names = Object.keys(object).filter((name) => object[name] !== undefined)
  for (const name of names.reverse()) {
    const inner: Path = { step: name, parent: path }
    if (Object.hasOwn(properties, name)) {
      pending.push({ schema: properties[name] as JsonObject, value: object[name], path: inner, sink })
    } else if (own(schema, 'additionalProperties') === false) {
      pending.push({ close: () => void sink.push(`${placeOf(inner, '')} is not a known property`) })
    }
  }
}

function placeOf(path: Path | null, root: string): string {
  if (!path) return root
  const steps: string[] = []
  let at: Path | null = path
  for (; at && steps.length < SHOWN_STEPS; at = at.parent) steps.unshift(at.step)
  return `"${at ? '…' : ''}${steps.join('.')}"`
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

function checkLiterals(schema: JsonObject, value: Json, place: () => string, sink: string[]): void {
  if (Object.hasOwn(schema, 'const') && schema['const'] !== value) {
    sink.push(`${place()} must be ${JSON.stringify(schema['const'])}`)
    return
  }
  const members = own(schema, 'enum') as readonly Json[] | undefined
  if (members && !members.includes(value)) {
    sink.push(`${place()} must be one of ${members.map((member) => JSON.stringify(member)).join(', ')}`)
  }
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  switch (typeof value) {
    case 'object':
      return 'an object'
    case 'string':
      return `the string ${JSON.stringify(clipped(value, 60))}`
    case 'number':
    case 'boolean':
    case 'bigint':
      return `the ${typeof value} ${value}`
    default:
      // No JSON, but a check never throws.
      return `a ${typeof value}`
  }
}


/** What the schema itself says, whatever its prototype holds. */
const own = (schema: JsonObject, keyword: string): Json | undefined => (Object.hasOwn(schema, keyword) ? schema[keyword] : undefined)
