import { readCallArguments } from '../../base/call-arguments.ts'
import type { JsonObject } from '../../base/json.ts'

/**
 * The arguments of an earlier call as the JSON text of an object, which is what servers expect: what is one stays byte for
 * byte, what was read with patience is shown as it was read, and what nobody could read is shown inside of an object.
 */
export function callObjectText(text: string): string {
  const read = readCallArguments(text)
  if (!read.ok || !isObject(read.value)) return JSON.stringify({ not_an_object: text })
  return read.isRepaired || text.trim() === '' ? JSON.stringify(read.value) : text
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
