import { isJsonArray, isJsonObject, stringifyJson, type Json, type JsonObject } from '../../base/json.ts'
import { clipped } from '../../base/text.ts'
import type { Answer, Question } from '../questions/service.ts'

const MAX_FIELDS = 20
const MAX_CHOICES = 50
/** UTF-16 units of a choice, and of what a field says of itself. */
const MAX_LABEL = 200
const MAX_FIELD_TEXT = 500
const CONFIRM = 'confirm'
export const YES = 'Yes'
export const NO = 'No'

/**
 * The questions by which a server's wish for values is put to the person; or why it is not. `calls`: for how many it may ask.
 *
 * Source: Model Context Protocol 2025-11-25, elicitation, "Requested Schema".
 */
export function questionsOf(server: string, message: string, schema: JsonObject, calls = 1): readonly Question[] | { readonly problem: string } {
  const properties = isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : []
  if (properties.length > MAX_FIELDS) return { problem: `it asks for ${properties.length} values, and ${MAX_FIELDS} are the most` }
  const header = clipped(server, 20)
  const whatFor = calls === 1 ? '' : calls === 0 ? ' No call of it runs: it asks by itself.' : ` ${calls} calls of it run, and it does not say which it asks for.`
  const asks = `The MCP server **${server.replaceAll(/[\\`*[\]<>]/g, '\\$&')}** asks, and it alone gets the answer${whatFor === '' ? ':' : `.${whatFor}`}\n\n${message}`
  if (properties.length === 0) return [{ id: CONFIRM, header, question: clipped(message, 300), options: [{ label: YES }, { label: NO }], detail: asks }]
  const strange = properties.find(([, field]) => choicesOf(field) === null)
  if (strange !== undefined) return { problem: `“${clipped(strange[0], 60)}” is no plain value, or has more than ${MAX_CHOICES} choices` }
  const required = requiredOf(schema)
  return properties.map(([id, field], index): Question => {
    const { labels, isMany } = choicesOf(field) ?? { labels: [], isMany: false }
    return {
      id,
      header,
      question: clipped(`${words(field, id)}${required.includes(id) ? '' : ' (optional)'}`, MAX_FIELD_TEXT),
      ...(labels.length > 0 && { options: labels.map((label) => ({ label })) }),
      ...(isMany && { multi_select: true }),
      ...(index === 0 && { detail: `${asks}${required.length > 0 ? '\n\nSkip all of it to decline.' : ''}` }),
    }
  })
}

/** What the person answered, as the values that were asked for; or what is wrong with it. Nothing at all where something is needed declines. */
export function valuesOf(schema: JsonObject, answers: readonly Answer[]): { readonly action: 'accept'; readonly content: JsonObject } | { readonly action: 'decline' } | { readonly problem: string } {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  if (Object.keys(properties).length === 0) return answers[0]?.selected[0] === YES ? { action: 'accept', content: {} } : { action: 'decline' }
  const required = requiredOf(schema)
  const isSkipped = answers.every(({ selected, custom = '' }) => selected.length === 0 && custom.trim() === '')
  if (isSkipped && required.length > 0) return { action: 'decline' }
  const content: (readonly [string, Json])[] = []
  for (const { id, selected, custom = '' } of answers) {
    const field = Object.hasOwn(properties, id) ? properties[id] : undefined
    if (!isJsonObject(field)) continue
    const value = valueOf(field, selected, custom.trim())
    if (value === undefined) {
      const preset = field['default']
      if (preset !== undefined && problemOf(field, preset) === null) content.push([id, preset])
      else if (required.includes(id)) return { problem: `“${id}” is needed.` }
      continue
    }
    const problem = problemOf(field, value)
    if (problem !== null) return { problem: `“${id}” ${problem}.` }
    content.push([id, value])
  }
  return { action: 'accept', content: Object.fromEntries(content) }
}

const requiredOf = (schema: JsonObject): readonly Json[] => (isJsonArray(schema['required']) ? schema['required'] : [])

/** What a field says of itself, and what it takes. */
function words(field: Json, id: string): string {
  if (!isJsonObject(field)) return id
  const { title, description, type, format, default: preset } = field
  const said = [title, description].filter((text): text is string => typeof text === 'string' && text !== '')
  const kinds = [type === 'number' || type === 'integer' ? type : format].filter((kind) => typeof kind === 'string')
  const notes = [...kinds, ...(preset === undefined ? [] : [`${wordOf(preset)} when skipped`])]
  return `${said.length === 0 ? id : said.join(': ')}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
}

interface Choices {
  readonly labels: readonly string[]
  readonly values: readonly Json[]
  readonly isMany: boolean
}

/** Null for what is no plain field. */
function choicesOf(field: Json | undefined): Choices | null {
  if (!isJsonObject(field)) return null
  const { type } = field
  if (type === 'boolean') return { labels: [YES, NO], values: [true, false], isMany: false }
  if (type === 'number' || type === 'integer') return { labels: [], values: [], isMany: false }
  if (type === 'array') {
    const items = choicesOf(isJsonObject(field['items']) ? { type: 'string', ...field['items'] } : null)
    return items === null || items.labels.length === 0 || items.isMany ? null : { ...items, isMany: true }
  }
  if (type !== 'string') return null
  const titled = [field['oneOf'], field['anyOf']].find(isJsonArray)
  const members = isJsonArray(field['enum']) ? field['enum'] : []
  const names = isJsonArray(field['enumNames']) ? field['enumNames'] : []
  const all = titled !== undefined ? titled.filter(isJsonObject).map(({ title, const: value }) => ({ value: value ?? null, label: wordOf(title ?? value) })) : members.map((value, index) => ({ value, label: wordOf(names[index] ?? value) }))
  if (all.length > MAX_CHOICES) return null
  // Two that are called the same are told apart by what they stand for.
  const labels = all.map(({ label, value }, index) => (all.some((other, at) => at !== index && other.label === label) ? `${label} (${wordOf(value)})` : label))
  return new Set(labels).size === labels.length ? { labels, values: all.map(({ value }) => value), isMany: false } : null
}

/** Undefined: left out. */
function valueOf(field: JsonObject, selected: readonly string[], custom: string): Json | undefined {
  const { labels, values, isMany } = choicesOf(field) ?? { labels: [], values: [], isMany: false }
  const chosen = selected.flatMap((label) => {
    const at = labels.indexOf(label)
    return at < 0 ? [] : [values[at] ?? null]
  })
  if (isMany) return custom !== '' ? [...chosen, custom] : chosen.length > 0 ? chosen : undefined
  if (chosen.length > 0) return chosen[0]
  if (custom === '') return undefined
  return (field['type'] === 'number' || field['type'] === 'integer') && Number.isFinite(Number(custom)) ? Number(custom) : custom
}

/** What is wrong with a value, to stand behind its name; null when it is as the schema asks. */
function problemOf(field: JsonObject, value: Json): string | null {
  const { labels, values, isMany } = choicesOf(field) ?? { labels: [], values: [], isMany: false }
  const { type } = field
  const limit = (key: string): number | undefined => (typeof field[key] === 'number' ? field[key] : undefined)
  if (isMany) {
    if (!isJsonArray(value) || !value.every((member) => values.includes(member))) return `takes only: ${labels.join(', ')}`
    if (value.length < (limit('minItems') ?? 0)) return `needs at least ${limit('minItems')} of them`
    return value.length > (limit('maxItems') ?? Infinity) ? `takes at most ${limit('maxItems')} of them` : null
  }
  if (labels.length > 0) return values.includes(value) ? null : `takes one of: ${labels.join(', ')}`
  if (type === 'number' || type === 'integer') {
    if (typeof value !== 'number' || (type === 'integer' && !Number.isInteger(value))) return `has to be a ${type === 'integer' ? 'whole ' : ''}number`
    if (value < (limit('minimum') ?? -Infinity)) return `has to be at least ${limit('minimum')}`
    return value > (limit('maximum') ?? Infinity) ? `may be at most ${limit('maximum')}` : null
  }
  if (typeof value !== 'string') return 'has to be a text'
  // As the protocol counts them: code points.
  const { length } = Array.from(value)
  if (length < (limit('minLength') ?? 0)) return `needs at least ${limit('minLength')} characters`
  if (length > (limit('maxLength') ?? Infinity)) return `may have at most ${limit('maxLength')} characters`
  return hasFormat(value, field['format']) ? null : `has to be a ${wordOf(field['format'])}`
}

/** A pattern of a server is not run: it may take for ever. The server looks at the value anyway. */
function hasFormat(value: string, format: Json | undefined): boolean {
  switch (format) {
    case 'email':
      return /^[^\s@]+@[^\s@]+$/.test(value)
    case 'uri':
      return URL.canParse(value)
    case 'date':
      return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
    case 'date-time':
      return /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}/.test(value) && !Number.isNaN(Date.parse(value))
    default:
      return true
  }
}

const wordOf = (value: Json | undefined): string => clipped(typeof value === 'string' ? value : stringifyJson(value ?? null), MAX_LABEL)
