import * as z from 'zod'
import type { Json, JsonObject } from '../../base/json.ts'
import { settingEntries, type SettingEntry } from './specs.ts'

/** `contributes.configuration.properties` as the settings define it; the manifest is tested for equality with this. */
export function manifestProperties(): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(settingEntries.map((entry) => [`bosun.${entry.key}`, manifestProperty(entry)]))
}

/** `capabilities.untrustedWorkspaces.restrictedConfigurations`. */
export function restrictedConfigurations(): readonly string[] {
  return settingEntries.filter(({ isRestricted }) => isRestricted).map(({ key }) => `bosun.${key}`)
}

function manifestProperty(entry: SettingEntry): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(entry.schema, { io: 'input', unrepresentable: 'any', override: quiet }) as JsonObject
  // A default is lossless JSON by the types of the entries.
  return { scope: entry.scope, markdownDescription: entry.description, default: entry.fallback as Json, ...plain(schema) }
}

/** Leave out what is true of every number and every name. */
function quiet({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  delete jsonSchema.propertyNames
}

/** The settings page draws an editor for a union of types only when they stand in one list. */
function plain(schema: JsonObject): JsonObject {
  const choices = schema['anyOf'] as readonly JsonObject[] | undefined
  const isNull = (choice: JsonObject) => choice['type'] === 'null'
  const [value, ...others] = (choices ?? []).filter((choice) => !isNull(choice))
  if (choices === undefined || value === undefined || others.length > 0 || !choices.some(isNull)) return schema
  const words = value['enum']
  return { ...value, type: [value['type'] as Json, 'null'], ...(Array.isArray(words) && { enum: [...(words as readonly Json[]), null] }) }
}
