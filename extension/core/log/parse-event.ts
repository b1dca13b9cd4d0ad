import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { SessionEvent } from './event.ts'
import { fieldProblem, type EventTypeRules, type EventTypes } from './event-types.ts'

/** What a stored line turned out to be. `corrupt` ends the log before it; `unknown` refuses the session. */
export type ParsedEvent =
  | { readonly kind: 'event'; readonly event: SessionEvent }
  | { readonly kind: 'unknown'; readonly type: string }
  | { readonly kind: 'corrupt'; readonly problem: string }

/** Understand one unpacked line as the event number `seq`. The line is taken over, not copied. Source: runtime specification 11.1. */
export function parseEvent(line: JsonObject, seq: number, types: Pick<EventTypes, 'get'>): ParsedEvent {
  const problem = envelopeProblem(line, seq)
  if (problem !== null) return { kind: 'corrupt', problem }
  const type = line['type'] as string
  const rules = types.get(type)
  if (rules === undefined) return line['ignorable'] === true ? { kind: 'event', event: asEvent(line) } : { kind: 'unknown', type }
  const ruleProblem = payloadProblem(line, rules)
  return ruleProblem === null ? { kind: 'event', event: asEvent(line) } : { kind: 'corrupt', problem: `${type}: ${ruleProblem}` }
}

/** Why an event of a known type does not keep the shape of its type, or null. */
export function payloadProblem(event: { readonly [key: string]: unknown }, rules: EventTypeRules): string | null {
  const surfaceOp = event['surfaceOp']
  if (rules.isSurface === true && surfaceOp === undefined) return 'it is seen by the model and needs a surfaceOp'
  if (rules.isSurface !== true && surfaceOp !== undefined) return 'the model does not see it, so it must not carry a surfaceOp'
  return rules.fields === undefined ? null : fieldProblem(event['data'] as JsonObject, rules.fields)
}

/** Why the parts around the data are wrong, or null. */
export function linkProblem(surfaceOp: unknown, sourceEventSeqs: unknown, seq: number): string | null {
  if (surfaceOp !== undefined && surfaceOp !== 'append' && !isReplace(surfaceOp)) return 'its surfaceOp is neither append nor a replace of positions'
  if (sourceEventSeqs === undefined) return null
  if (!Array.isArray(sourceEventSeqs) || sourceEventSeqs.length === 0) return 'its sourceEventSeqs are empty'
  if (!sourceEventSeqs.every((source) => Number.isSafeInteger(source) && source >= 0 && source < seq)) return 'its sourceEventSeqs are not all earlier events'
  return new Set(sourceEventSeqs).size === sourceEventSeqs.length ? null : 'its sourceEventSeqs repeat one'
}

function envelopeProblem(line: JsonObject, seq: number): string | null {
  if (line['seq'] !== seq) return `it should be number ${seq} and says ${JSON.stringify(line['seq'])}`
  if (typeof line['type'] !== 'string' || line['type'] === '') return 'it has no type'
  if (!Number.isFinite(line['time'])) return 'it has no time'
  if (!isJsonObject(line['data'])) return 'it has no data'
  if (line['ignorable'] !== undefined && line['ignorable'] !== true) return 'its ignorable is not true'
  return linkProblem(line['surfaceOp'], line['sourceEventSeqs'], seq)
}

function isReplace(value: unknown): boolean {
  if (!isJsonObject(value as Json)) return false
  const { op, start, end } = value as JsonObject
  return op === 'replace' && Number.isSafeInteger(start) && Number.isSafeInteger(end) && 0 <= (start as number) && (start as number) <= (end as number)
}

// The envelope was checked, and the payload as far as anything relies on it.
const asEvent = (line: JsonObject) => line as unknown as SessionEvent
