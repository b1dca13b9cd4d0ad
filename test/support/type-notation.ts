import type { Json, JsonObject } from '../../extension/base/json.ts'

/** A type as documents of tools write it: `string`, `"a" | "b"`, `{ id:string, label?:string }[]`, `Name`. */
export type Shape =
  | { readonly kind: 'plain'; readonly name: string }
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'list'; readonly of: Shape }
  | { readonly kind: 'object'; readonly members: Members }
  | { readonly kind: 'either'; readonly branches: readonly Shape[] }
export type Members = Readonly<Record<string, { readonly isRequired: boolean; readonly shape: Shape }>>

const token = /\s*(?:("[^"]*")|([A-Za-z_]\w*)|(\[\]|[{}(),:?|]))/y

/** `a:string, b?:"x" | "y"[]`. `names` are the types that the text may name. Errors: `Error` where it cannot be read. */
export function membersFrom(text: string, names: Readonly<Record<string, string>> = {}): Members {
  const { shape } = readShape(`{${text}}`, names)
  if (shape.kind !== 'object') throw new Error(`These are no members: ${text}`)
  return shape.members
}

export const shapeFrom = (text: string, names: Readonly<Record<string, string>> = {}): Shape => readShape(text, names).shape

function readShape(text: string, names: Readonly<Record<string, string>>): { readonly shape: Shape } {
  const words: string[] = []
  for (token.lastIndex = 0; token.lastIndex < text.trimEnd().length; ) {
    const [, value, name, mark] = token.exec(text) ?? fail(text, 'a word')
    words.push(value ?? name ?? mark ?? '')
  }
  let at = 0
  const take = (wanted: string) => (words[at] === wanted ? Boolean((at += 1)) : false)
  const need = (wanted: string) => take(wanted) || fail(text, `${wanted} before ${words.slice(at, at + 3).join(' ')}`)

  const either = (): Shape => {
    const branches = [list()]
    while (take('|')) branches.push(list())
    return branches.length === 1 ? branches[0]! : eitherOf(branches)
  }
  const list = (): Shape => {
    let shape = single()
    while (take('[]')) shape = { kind: 'list', of: shape }
    return shape
  }
  const single = (): Shape => {
    if (take('{')) return object()
    if (take('(')) {
      const inner = either()
      need(')')
      return inner
    }
    const word = words[at++] ?? fail(text, 'a type')
    if (word.startsWith('"')) return { kind: 'value', value: word.slice(1, -1) }
    const meant = names[word]
    return meant === undefined ? { kind: 'plain', name: word } : readShape(meant, names).shape
  }
  const object = (): Shape => {
    const members: Record<string, Members[string]> = {}
    while (!take('}')) {
      const name = words[at++] ?? fail(text, 'a member')
      const isRequired = !take('?')
      need(':')
      members[name] = { isRequired, shape: either() }
      take(',')
    }
    return { kind: 'object', members }
  }
  const shape = either()
  if (at < words.length) fail(text, `an end before ${words[at]}`)
  return { shape }
}

/** The same of a JSON Schema. */
export function shapeOfSchema(schema: JsonObject): Shape {
  const { type, items, properties, required, oneOf } = schema
  const values = schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']])
  if (Array.isArray(values)) return eitherOf(values.map((value: Json): Shape => (typeof value === 'string' ? { kind: 'value', value } : { kind: 'plain', name: JSON.stringify(value) })))
  if (Array.isArray(oneOf)) return eitherOf(oneOf.map((branch) => shapeOfSchema(branch as JsonObject)))
  if (type === 'array') return { kind: 'list', of: items === undefined ? { kind: 'plain', name: 'unknown' } : shapeOfSchema(items as JsonObject) }
  if (type === 'object' && Object.keys(properties ?? {}).length > 0) {
    const needed = (required ?? []) as readonly string[]
    return { kind: 'object', members: Object.fromEntries(Object.entries(properties as Readonly<Record<string, JsonObject>>).map(([name, inner]) => [name, { isRequired: needed.includes(name), shape: shapeOfSchema(inner) }])) }
  }
  return { kind: 'plain', name: typeof type === 'string' ? type : 'unknown' }
}

/** Alternatives in an order of their own; one alone is itself. */
function eitherOf(branches: readonly Shape[]): Shape {
  const flat = branches.flatMap((branch) => (branch.kind === 'either' ? branch.branches : [branch]))
  const sorted = flat.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))
  return sorted.length === 1 ? sorted[0]! : { kind: 'either', branches: sorted }
}

/**
 * Whether every value of `actual` is one of `stated`, but that it may have members beside, and that a stated `unknown`, `object`,
 * `string` or `number` stands for whatever is narrower. Each alternative that is stated is there.
 */
export function covers(stated: Shape, actual: Shape): boolean {
  if (stated.kind === 'plain' && stated.name === 'unknown') return true
  if (stated.kind === 'either') return stated.branches.every((branch) => branchesOf(actual).some((other) => covers(branch, other)))
  if (actual.kind === 'either') return stated.kind === 'plain' ? actual.branches.every((branch) => covers(stated, branch)) : actual.branches.some((branch) => covers(stated, branch))
  if (stated.kind === 'plain') return actual.kind === 'plain' ? actual.name === stated.name || (stated.name === 'number' && actual.name === 'integer') : stated.name === (actual.kind === 'value' ? 'string' : actual.kind)
  if (stated.kind === 'value') return actual.kind === 'value' && actual.value === stated.value
  if (stated.kind === 'list') return actual.kind === 'list' && covers(stated.of, actual.of)
  return actual.kind === 'object' && Object.entries(stated.members).every(([name, { isRequired, shape }]) => {
    const own = actual.members[name]
    return own !== undefined && (own.isRequired || !isRequired) && covers(shape, own.shape)
  })
}

const branchesOf = (shape: Shape): readonly Shape[] => (shape.kind === 'either' ? shape.branches : [shape])

/** As text again, for messages. */
export function textOf(shape: Shape): string {
  switch (shape.kind) {
    case 'plain':
      return shape.name
    case 'value':
      return `"${shape.value}"`
    case 'list':
      return shape.of.kind === 'either' ? `(${textOf(shape.of)})[]` : `${textOf(shape.of)}[]`
    case 'either':
      return shape.branches.map(textOf).join(' | ')
    case 'object':
      return `{ ${membersText(shape.members)} }`
  }
}

export const membersText = (members: Members): string => Object.entries(members).map(([name, { isRequired, shape }]) => `${name}${isRequired ? '' : '?'}:${textOf(shape)}`).join(', ')

function fail(text: string, wanted: string): never {
  throw new Error(`${wanted} is missing in: ${text}`)
}
