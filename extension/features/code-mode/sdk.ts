import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'

type Described = Pick<ToolDefinition, 'name' | 'description' | 'parameters'> & { readonly output: { readonly schema: JsonObject } }

/** Below this many containers a type is `unknown`: nobody reads on, and a schema of a stranger may be as deep as it likes. */
const MAX_DEPTH = 24

/**
 * What a program can call, as TypeScript declarations: arguments and canonical values of every tool by name.
 *
 * The same tools give the same bytes, in whatever order they come. Descriptions are comments that nothing in them can end.
 * Source: runtime specification 7.2.
 */
export function sdkText(tools: readonly Described[]): string {
  const sorted = tools.toSorted((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0))
  const map = (name: string, typeOf: (tool: Described) => string, hasComments: boolean) =>
    [`interface ${name} {`, ...sorted.map((tool) => `${hasComments ? comment(tool.description) : ''}${propertyName(tool.name)}: ${typeOf(tool)}`), '}'].join('\n')
  return withoutPlaceholders(
    [
      map('ToolArgsMap', ({ parameters }) => typeText(parameters), true),
      map('ToolOutputMap', ({ output }) => typeText(output.schema), false),
      'type ToolName = keyof ToolArgsMap',
      'declare class ToolCallError extends Error { readonly name: "ToolCallError"; readonly toolName: ToolName; readonly message: string }',
      'type Call<N extends ToolName> = {} extends ToolArgsMap[N] ? (args?: ToolArgsMap[N]) => Promise<ToolOutputMap[N]> : (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]>',
      ['declare const tools: {', ...sorted.map(({ name }) => `${propertyName(name)}: Call<${JSON.stringify(name)}>`), '}'].join('\n'),
    ].join('\n'),
  )
}

/** The type of a schema; `unknown` for what the language of schemas does not know. */
export function typeText(schema: Json | undefined, depth = 0): string {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return 'unknown'
  if (isJsonArray(schema['oneOf'] ?? null)) return union((schema['oneOf'] as readonly Json[]).map((branch) => typeText(branch, depth + 1)))
  if (Object.hasOwn(schema, 'const')) return literal(schema['const']!)
  const members = schema['enum']
  if (members !== undefined && isJsonArray(members)) return union(members.map(literal))
  switch (schema['type']) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema['type']
    case 'number':
    case 'integer':
      return 'number'
    case 'array': {
      const item = typeText(schema['items'], depth + 1)
      return isUnion(schema['items']) ? `(${item})[]` : `${item}[]`
    }
    case 'object':
      return objectText(schema, depth)
    default:
      return 'unknown'
  }
}

function objectText(schema: JsonObject, depth: number): string {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const required = new Set(isJsonArray(schema['required'] ?? null) ? (schema['required'] as readonly Json[]) : [])
  const names = Object.keys(properties)
  if (names.length === 0) return schema['additionalProperties'] === false ? '{}' : depth === 0 ? '{}' : 'Record<string, unknown>'
  const parts = names.map((name) => {
    const property = properties[name]
    const description = isJsonObject(property) && typeof property['description'] === 'string' ? comment(property['description']) : ''
    return `${description}${propertyName(name)}${required.has(name) ? '' : '?'}: ${typeText(property, depth + 1)}`
  })
  return `{ ${parts.join('; ')} }`
}

const union = (parts: readonly string[]): string => [...new Set(parts)].join(' | ') || 'never'

/** It may be written with a bar, which would end the item of a list. */
const isUnion = (schema: Json | undefined): boolean => isJsonObject(schema) && ['oneOf', 'enum'].some((key) => isJsonArray(schema[key] ?? null)) && !Object.hasOwn(schema, 'const')

const literal = (value: Json): string => (value === null || typeof value !== 'object' ? quoted(value) : 'unknown')

const propertyName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name))

/** The same value in other letters where the prompt would fill something in. */
const quoted = (value: string | number | boolean | null): string => JSON.stringify(value).replaceAll('{{', '{\\u007b')

const comment = (text: string): string => (text.trim() === '' ? '' : `/** ${text.trim().replaceAll('*/', '* /')} */ `)

/** A system prompt fills in what stands between two braces; here nothing is to be filled in. Only types and comments are left to part. */
const withoutPlaceholders = (text: string): string => text.replaceAll(/\{(?=\{)/g, '{ ')
