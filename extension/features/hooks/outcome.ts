import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { fitBytes } from '../../base/text.ts'
import type { HookDialect, HookPoint } from './hook.ts'

/** How one command ended. */
export interface HookRun {
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly stdout: string
  readonly stderr: string
  /** Standard output went on beyond what was kept. */
  readonly isCut?: boolean
  readonly durationMs: number
}

/** What one hook says. `failed`: it says nothing, and whatever it guards goes on. */
export type HookVerdict = 'allow' | 'ask' | 'deny' | 'none' | 'failed'

export interface HookOutcome {
  readonly verdict: HookVerdict
  /** For a denial, a question or a failure. */
  readonly reason?: string
  /** For the model. */
  readonly context?: string
  /** In the place of the tool's arguments. */
  readonly updatedInput?: JsonObject
  /** The whole turn ends, with this reason. */
  readonly stop?: string
  /** For the person. */
  readonly systemMessage?: string
}

/** Bytes of one text that hooks say, also of several together. A hook that prints a whole file must not fill the model's window. */
const maxToldBytes = 16_384

/** Points whose plain output is context for the model. */
const tellsPlain: readonly HookPoint[] = ['SessionStart', 'UserPromptSubmit', 'SubagentStart']
/** Points at which a hook may hold something back. */
const canBlock: readonly HookPoint[] = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'SubagentStop']

/**
 * What a command's end means: exit 2 holds back with its error output, any other failure means nothing, exit 0 with a JSON object is
 * read, and other output of exit 0 is context where the point takes some. A permission decision of the event's own part wins over the
 * older `decision` beside it. Only the Claude and Bosun dialects can ask.
 * Source: runtime specification 20.
 */
export function outcomeOf(point: HookPoint, dialect: HookDialect, run: HookRun): HookOutcome {
  if (run.timedOut) return { verdict: 'failed', reason: 'It ran out of time.' }
  if (run.exitCode === 2) return canBlock.includes(point) ? { verdict: 'deny', reason: run.stderr.trim() || 'A hook holds this back and gave no reason.' } : { verdict: 'failed', reason: run.stderr.trim() || 'It ended with exit code 2.' }
  if (run.exitCode !== 0) return { verdict: 'failed', reason: run.stderr.trim() || (run.exitCode === null ? 'It was ended by a signal.' : `It ended with exit code ${run.exitCode}.`) }
  const json = jsonObject(run.stdout)
  if (json === null) {
    // Half of an answer may have been a denial.
    if (run.isCut === true && run.stdout.trimStart().startsWith('{')) return { verdict: 'failed', reason: 'It printed more than is read, so its answer is not known. Let it print less.' }
    const text = run.stdout.trim()
    return tellsPlain.includes(point) && text !== '' ? { verdict: 'none', context: text } : { verdict: 'none' }
  }
  return fromJson(point, dialect, json)
}

function fromJson(point: HookPoint, dialect: HookDialect, json: JsonObject): HookOutcome {
  const own = isJsonObject(json['hookSpecificOutput']) ? json['hookSpecificOutput'] : {}
  const verdict = verdictOf(point, dialect, json, own)
  const reason = textOf(own['permissionDecisionReason']) ?? textOf(json['reason'])
  const context = textOf(own['additionalContext'])
  const updatedInput = point === 'PreToolUse' && isJsonObject(own['updatedInput']) ? own['updatedInput'] : undefined
  const systemMessage = textOf(json['systemMessage'])
  return {
    verdict,
    ...(reason !== undefined ? { reason } : verdict === 'deny' && { reason: 'A hook holds this back and gave no reason.' }),
    ...(context !== undefined && { context }),
    ...(updatedInput && verdict !== 'deny' && { updatedInput }),
    ...(json['continue'] === false && { stop: textOf(json['stopReason']) ?? reason ?? 'A hook ended the turn.' }),
    ...(systemMessage !== undefined && { systemMessage }),
  }
}

function verdictOf(point: HookPoint, dialect: HookDialect, json: JsonObject, own: JsonObject): HookVerdict {
  if (!canBlock.includes(point)) return 'none'
  if (point === 'PreToolUse') {
    switch (own['permissionDecision']) {
      case 'allow':
        return 'allow'
      case 'deny':
        return 'deny'
      case 'ask':
        return dialect === 'codex' ? 'none' : 'ask'
      default:
    }
  }
  if (json['decision'] === 'block') return 'deny'
  return json['decision'] === 'approve' ? 'allow' : 'none'
}

const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined)

function jsonObject(text: string): JsonObject | null {
  if (!text.trimStart().startsWith('{')) return null
  try {
    const value = JSON.parse(text) as Json
    return isJsonObject(value) ? value : null
  } catch {
    // Output that only looks like JSON is plain output.
    return null
  }
}

function withFittedTexts(outcome: HookOutcome): HookOutcome {
  const { reason, context, stop, systemMessage } = outcome
  return {
    ...outcome,
    ...(reason !== undefined && { reason: fitted(reason) }),
    ...(context !== undefined && { context: fitted(context) }),
    ...(stop !== undefined && { stop: fitted(stop) }),
    ...(systemMessage !== undefined && { systemMessage: fitted(systemMessage) }),
  }
}

/** What hooks say, as it is kept and told. */
export function fitted(text: string): string {
  const { text: kept, omittedBytes } = fitBytes(text, maxToldBytes)
  return omittedBytes === 0 ? kept : `${kept}\n[${omittedBytes} bytes of what hooks said were left out]`
}

/** All hooks of one moment together: deny over ask over allow; reasons and contexts in order, a blank line between. Each text has at most 16 KiB. */
export function foldOutcomes(outcomes: readonly HookOutcome[]): HookOutcome {
  const verdict = (['deny', 'ask', 'allow'] as const).find((one) => outcomes.some((outcome) => outcome.verdict === one)) ?? 'none'
  const reason = joined(outcomes.flatMap((outcome) => (outcome.verdict === verdict && outcome.reason !== undefined ? [outcome.reason] : [])))
  const context = joined(outcomes.flatMap((outcome) => (outcome.context === undefined ? [] : [outcome.context])))
  const updatedInput = outcomes.findLast((outcome) => outcome.updatedInput !== undefined)?.updatedInput
  const stop = outcomes.find((outcome) => outcome.stop !== undefined)?.stop
  const systemMessage = joined(outcomes.flatMap((outcome) => (outcome.systemMessage === undefined ? [] : [outcome.systemMessage])))
  return withFittedTexts({
    verdict,
    ...(verdict !== 'none' && reason !== undefined && { reason }),
    ...(context !== undefined && { context }),
    ...(updatedInput && verdict !== 'deny' && { updatedInput }),
    ...(stop !== undefined && { stop }),
    ...(systemMessage !== undefined && { systemMessage }),
  })
}

const joined = (texts: readonly string[]): string | undefined => (texts.length === 0 ? undefined : texts.join('\n\n'))
