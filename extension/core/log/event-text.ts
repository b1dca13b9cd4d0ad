import type { Json, JsonObject } from '../../base/json.ts'
import { isJsonArray, isJsonObject } from '../../base/json.ts'

// What of the events of the core is worth looking for, read softly: a log of another build may hold anything. Source: agent specification 9.

/** The text blocks of a message; its reasoning, calls and images are left out. */
export const blockText = (content: Json | undefined): string =>
  (content !== undefined && isJsonArray(content) ? content : []).flatMap((block) => (isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string' ? [block['text']] : [])).join('\n')

/** The name of a tool and its arguments as a person would read them: a key and its value a line. */
export function callText({ name, arguments: given }: JsonObject): string {
  return [typeof name === 'string' ? name : '', typeof given === 'string' ? argumentText(given) : ''].filter((part) => part !== '').join('\n')
}

function argumentText(given: string): string {
  try {
    return leaves(JSON.parse(given) as Json, '').join('\n')
  } catch {
    // What the model wrote is no JSON, so its letters are all there is.
    return given
  }
}

function leaves(value: Json, key: string): readonly string[] {
  if (isJsonArray(value)) return value.flatMap((entry) => leaves(entry, key))
  if (isJsonObject(value)) return Object.entries(value).flatMap(([name, entry]: [string, Json]) => leaves(entry, name))
  return [key === '' ? String(value) : `${key}: ${String(value)}`]
}

/** What a tool gave, and the name and code of its failure. */
export function resultText({ message, error }: JsonObject): string {
  const content = isJsonObject(message ?? null) ? (message as JsonObject)['content'] : undefined
  const [block] = content !== undefined && isJsonArray(content) ? content : []
  const text = block !== undefined && isJsonObject(block) ? blockText(block['content']) : ''
  const failure = isJsonObject(error ?? null) ? [(error as JsonObject)['name'], (error as JsonObject)['code']].filter((part) => typeof part === 'string') : []
  return [text, failure.join(' ')].filter((part) => part !== '').join('\n')
}

/** How a turn ended, unless it simply ended. */
export function turnEndText({ reason }: JsonObject): string {
  if (!isJsonObject(reason ?? null)) return ''
  const { kind, failure } = reason as JsonObject
  if (kind === 'completed' || typeof kind !== 'string') return ''
  const facts = isJsonObject(failure ?? null) ? [(failure as JsonObject)['code'], (failure as JsonObject)['message']].filter((part) => typeof part === 'string') : []
  return [`turn ended: ${kind}`, ...facts].join('\n')
}

/** The texts that stand under one of these names, at any depth, a line each: for the records of features. */
export const textUnder =
  (...names: readonly string[]) =>
  (data: JsonObject): string =>
    gathered(data, new Set(names)).join('\n')

function gathered(value: Json, names: ReadonlySet<string>): readonly string[] {
  if (isJsonArray(value)) return value.flatMap((entry) => gathered(entry, names))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, entry]: [string, Json]) => {
    if (typeof entry === 'string') return names.has(name) ? [entry] : []
    if (names.has(name) && isJsonArray(entry) && entry.every((one) => typeof one === 'string')) return entry
    return gathered(entry, names)
  })
}
