import { isJsonObject, type JsonObject } from '../../base/json.ts'
import type { Undo } from '../../base/undo.ts'
import type { EventType } from './event.ts'
import { blockText, callText, resultText, turnEndText } from './event-text.ts'

/** What the log must know of an event type to keep its own rules, all of it data, and what of it can be searched for. Source: runtime specification 11.1, 11.2, 11.8. */
export interface EventTypeRules {
  /** A build that does not know the type may skip it; the log marks every such event. */
  readonly isIgnorable?: true
  /** The model sees it: it must carry `surfaceOp`, which no other type may. */
  readonly isSurface?: true
  /** What every session begins with: alone it makes no file, so that a session nobody used leaves none. */
  readonly isSetUp?: true
  /** `turn`: only while a turn is open. `step`: only in the open step that its `turn` and `step` name. */
  readonly inside?: 'turn' | 'step'
  readonly opens?: EventPair
  /** Needs an event before it that opened the pair, which it closes. */
  readonly closes?: EventPair
  /** Needs an event before it that opened the pair, which stays open. */
  readonly within?: EventPair
  /** The call that its `callId` names waits for the person from here until it has a result; its tool says whether such a call may run again. */
  readonly asksForCall?: true
  /** What its data must hold. A reader relies on nothing else without looking. */
  readonly fields?: Readonly<Record<string, FieldKind>>
  /** What of its data a search over sessions finds, as text for people; absent or empty: nothing. Pure; a throw counts as nothing. */
  readonly searchText?: (data: JsonObject) => string
}

/** Two events that belong together: same `name`, equal values under the keys `by`. */
export interface EventPair {
  readonly name: string
  readonly by: readonly string[]
  /** One at a time. What a crash left open ends with the seed of the log that is opened next. */
  readonly isAlone?: true
}

/** `count` is a whole number from 1. A `?` allows the field to be absent. */
export type FieldKind = FieldName | `${FieldName}?`
type FieldName = 'count' | 'number' | 'text' | 'boolean' | 'object' | 'list' | 'assistant-message' | 'tool-message'

/** The event types this build knows. A feature registers its own before a session with such events is opened. */
export interface EventTypes {
  /** Errors: `Error` for a type that is registered already. */
  register(type: EventType, rules?: EventTypeRules): Undo
  get(type: string): EventTypeRules | undefined
}

declare module '../kernel/plugin.ts' {
  interface Services {
    eventTypes: EventTypes
  }
}

/** A registry that knows the types of the core. */
export function createEventTypes(): EventTypes {
  const known = new Map<string, EventTypeRules>(Object.entries(coreEventTypes))
  return {
    register(type, rules = {}) {
      if (known.has(type)) throw new Error(`The event type ${type} is registered already; each has one owner.`)
      known.set(type, rules)
      return () => {
        if (known.get(type) === rules) known.delete(type)
      }
    },
    get: (type) => known.get(type),
  }
}

/** Why `data` is not what its type promises, or null. */
export function fieldProblem(data: JsonObject, fields: Readonly<Record<string, FieldKind>>): string | null {
  for (const key of Object.keys(fields)) {
    const kind = fields[key]!
    const isOptional = kind.endsWith('?')
    const value: unknown = Object.hasOwn(data, key) ? data[key] : undefined
    if (value === undefined && isOptional) continue
    const name = (isOptional ? kind.slice(0, -1) : kind) as FieldName
    if (!fieldChecks[name](value)) return `its ${key} is no ${name}`
  }
  return null
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const isBlockList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((block) => isObject(block) && typeof block['type'] === 'string')

const fieldChecks: Readonly<Record<FieldName, (value: unknown) => boolean>> = {
  count: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  number: (value) => typeof value === 'number',
  text: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  list: Array.isArray,
  'assistant-message': (value) => isObject(value) && value['role'] === 'assistant' && isBlockList(value['content']),
  'tool-message': (value) => {
    if (!isObject(value) || value['role'] !== 'tool' || !isBlockList(value['content'])) return false
    const blocks = value['content'] as readonly Record<string, unknown>[]
    const block = blocks[0]
    return blocks.length === 1 && block!['type'] === 'tool-result' && typeof block!['callId'] === 'string' && isBlockList(block!['content'])
  },
}

const place = { turn: 'count', step: 'count' } as const
const approval: EventPair = { name: 'approval', by: ['id'] }
const command: EventPair = { name: 'command', by: ['commandId'] }
const retry: EventPair = { name: 'retry', by: ['retryId', 'retry'] }
const compaction: EventPair = { name: 'compaction', by: ['compactionId'], isAlone: true }
const shadowed = { shadowedRange: 'object', shadowedSeqs: 'list', shadowedTokenCount: 'number' } as const

/** Source: runtime specification 11.9. Types that features own are registered by them. */
export const coreEventTypes = {
  'turn/start': { fields: { turn: 'count' } },
  'turn/end': { inside: 'turn', fields: { turn: 'count', reason: 'object' }, searchText: turnEndText },
  'turn/paused': { isIgnorable: true, fields: { turn: 'count', step: 'number', cap: 'text', limit: 'number' } },
  'step/start': { inside: 'turn', fields: place },
  'step/end': { inside: 'step', fields: place },
  'user/message': { isSurface: true, fields: { id: 'text', content: 'list', source: 'object' }, searchText: ({ content }) => blockText(content) },
  'assistant/chunk': { inside: 'step', fields: { ...place, chunk: 'object' } },
  'assistant/message': { isSurface: true, inside: 'step', fields: { ...place, message: 'assistant-message' }, searchText: ({ message }) => (isJsonObject(message ?? null) ? blockText((message as JsonObject)['content']) : '') },
  'tool/call': { inside: 'step', fields: { ...place, callId: 'text', name: 'text', arguments: 'text', from: 'text?' }, searchText: callText },
  'tool/rewritten': { isIgnorable: true, inside: 'step', fields: { ...place, callId: 'text', arguments: 'text', by: 'text' } },
  'tool/result': { isSurface: true, fields: { ...place, message: 'tool-message' }, searchText: resultText },
  'request/header': { inside: 'turn', fields: { header: 'object', reason: 'text' } },
  'request/context': { inside: 'turn', fields: { provider: 'text', model: 'text' } },
  'session/end-seed': {},
  'session/title': { fields: { title: 'text', source: 'object' } },
  'session/archived': { isIgnorable: true },
  'session/title-llm-request': { fields: { titleProvider: 'text', route: 'object', system: 'text', messages: 'list', maxTokens: 'count' } },
  'agent/inbox/spliced': { fields: { target: 'text', start: 'number', inserted: 'list' } },
  'agent-preset/selected': { fields: { agentPreset: 'text' } },
  'agent/configured': { isIgnorable: true, fields: { provider: 'text?', model: 'text?', maxTokens: 'count?', reasoningEffort: 'text?' } },
  'approval/asked': { opens: approval, fields: { id: 'text', toolName: 'text' } },
  'approval/decided': { closes: approval, fields: { id: 'text', outcome: 'text' } },
  'approval/policy': { isSetUp: true, fields: { policy: 'text' } },
  'sandbox/mode': { isSetUp: true, fields: { mode: 'text' } },
  'permission/preset': { isSetUp: true, fields: { preset: 'text' } },
  'permission/rule-granted': { isIgnorable: true, fields: { rule: 'text' } },
  'permission/rule-revoked': { fields: { rule: 'text' } },
  'command/run': { opens: command, fields: { commandId: 'text', name: 'text' } },
  'command/done': { closes: command, fields: { commandId: 'text', kind: 'text' } },
  'llm/retry': { inside: 'step', opens: retry, fields: { ...place, retryId: 'text', retry: 'number', failure: 'object' } },
  'llm/retry-started': { inside: 'step', closes: retry, fields: { ...place, retryId: 'text', retry: 'number' } },
  'compaction/start': { opens: compaction, fields: { compactionId: 'text' } },
  'compaction/summary': { within: compaction, fields: { compactionId: 'text', summary: 'list', ...shadowed, provider: 'text', model: 'text' } },
  'compaction/prune': { fields: shadowed },
  'compaction/end': { closes: compaction, fields: { compactionId: 'text', error: 'object?' } },
  'llm/route': { isIgnorable: true, inside: 'step', fields: { ...place, to: 'object' } },
  'log/repaired': { isIgnorable: true, fields: { cutBytes: 'number', keptAs: 'text', reason: 'text' } },
} satisfies Partial<Record<EventType, EventTypeRules>>
