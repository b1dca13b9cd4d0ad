import { isJsonArray, isJsonObject, type Json } from '../../base/json.ts'

/** Levels that are indented by two characters each; what is deeper stands on one line. */
const MAX_INDENTED_LEVELS = 5

const nothing = 'The program ended without output.'

/** What the model reads of a program: the lines it printed, then what it returned, texts as they are. Source: runtime specification 7.1. */
export function programText({ logs, result }: { readonly logs: readonly string[]; readonly result?: Json }): string {
  const shown = result === undefined ? [] : [typeof result === 'string' ? result : pretty(result)]
  const text = [...logs, ...shown].join('\n')
  return text === '' ? nothing : text
}

/** The language's own writer is far faster, and does the same where nothing is too deep. */
const pretty = (value: Json): string => (isFlat(value, 0) ? JSON.stringify(value, null, 2) : written(value, 0))

function isFlat(value: Json, level: number): boolean {
  if (value === null || typeof value !== 'object') return true
  if (level >= MAX_INDENTED_LEVELS) return false
  const items: readonly Json[] = isJsonArray(value) ? value : Object.values(value)
  return items.every((item) => isFlat(item, level + 1))
}

function written(value: Json, level: number): string {
  if (level >= MAX_INDENTED_LEVELS || value === null || typeof value !== 'object') return JSON.stringify(value)
  const inner = isJsonArray(value) ? value.map((item) => written(item, level + 1)) : isJsonObject(value) ? Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${written(item, level + 1)}`) : []
  const [open, close] = isJsonArray(value) ? ['[', ']'] : ['{', '}']
  if (inner.length === 0) return `${open}${close}`
  const indent = '  '.repeat(level + 1)
  return `${open}\n${inner.map((line) => indent + line).join(',\n')}\n${'  '.repeat(level)}${close}`
}
