import { isJsonArray, isJsonObject, type Json } from '../../base/json.ts'

export interface RalphReport {
  readonly status: 'continue' | 'complete' | 'blocked'
  readonly summary: string
  readonly evidence: readonly string[]
  readonly nextSteps: readonly string[]
  readonly blocker: string
}
export interface RalphResult {
  readonly status: 'complete' | 'blocked' | 'budget-limited'
  readonly roundsStarted: number
  readonly report: RalphReport
}

/** UTF-16 units of a report as JSON, which is all that one round hands to the next. */
export const MAX_HANDOFF_CHARS = 16_384

/** The end of a run of `ralphScript`, held to every rule again; null when it breaks one. */
export function ralphResult(value: Json, maxRounds: number): RalphResult | null {
  if (!isJsonObject(value)) return null
  const { status, roundsStarted, report } = value
  if (status !== 'complete' && status !== 'blocked' && status !== 'budget-limited') return null
  if (typeof roundsStarted !== 'number' || !Number.isSafeInteger(roundsStarted) || roundsStarted < 1 || roundsStarted > maxRounds) return null
  const read = report === undefined ? null : readReport(report)
  if (read === null || read.status !== (status === 'budget-limited' ? 'continue' : status)) return null
  return { status, roundsStarted, report: read }
}

function readReport(value: Json): RalphReport | null {
  if (!isJsonObject(value) || Object.keys(value).length !== 5) return null
  const { status, summary, evidence, nextSteps, blocker } = value
  if (status !== 'continue' && status !== 'complete' && status !== 'blocked') return null
  if (typeof summary !== 'string' || typeof blocker !== 'string' || !isTexts(evidence) || !isTexts(nextSteps)) return null
  const fits =
    status === 'continue' ? nextSteps.length > 0 && blocker === '' : status === 'complete' ? evidence.length > 0 && nextSteps.length === 0 && blocker === '' : blocker !== ''
  return fits && isTrimmed(summary) && JSON.stringify(value).length <= MAX_HANDOFF_CHARS ? { status, summary, evidence, nextSteps, blocker } : null
}

const isTrimmed = (text: string): boolean => text !== '' && text.trim() === text
const isTexts = (value: Json | undefined): value is readonly string[] => value !== undefined && isJsonArray(value) && value.every((text) => typeof text === 'string' && isTrimmed(text))
