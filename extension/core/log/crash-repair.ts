import type { EventDraft } from './event.ts'
import type { Invariants, OpenCall, OpenStep, OpenTurn } from './invariants.ts'

/**
 * What closes everything that a crash left open at the end of a log; nothing when nothing is.
 *
 * A turn in which a call waits for the person stays open, with that call and those behind it: whoever takes the session up
 * goes on there. What it had begun beside is closed.
 */
export function repairs(invariants: Invariants, freshId: () => string): readonly EventDraft[] {
  const { openTurn } = invariants
  const waiting = waitingStep(openTurn)
  const kept = new Set(waiting?.unanswered.map(({ approvalId }) => approvalId))
  const ends = openTurn === null ? [] : waiting === null ? crashRepair(openTurn, freshId) : lostCalls(openTurn.turn, waiting, freshId)
  return [...commandRepair(invariants), ...approvalRepair(invariants, kept), ...ends]
}

/** The step that stands open because a call of it waits for the person; null for any other end. */
export function waitingStep(openTurn: OpenTurn | null): OpenStep | null {
  const step = openTurn?.step ?? null
  return step?.unanswered.some(isWaiting) === true ? step : null
}

/** It was started and had no effect, or it asks for an answer that can still come. */
const isWaiting = ({ isStarted, approvalId, hasAsked }: OpenCall): boolean => isStarted && (approvalId !== undefined || hasAsked === true)

/** The question went with the call that it was about; no answer means no. */
function approvalRepair(invariants: Invariants, kept: ReadonlySet<string | undefined>): readonly EventDraft[] {
  return invariants
    .openPairs('approval')
    .flatMap(([id]): readonly EventDraft[] => (typeof id === 'string' && !kept.has(id) ? [{ type: 'approval/decided', data: { id, outcome: 'cancelled' } }] : []))
}

/** What ran beside the call that waits ended with its window. */
const lostCalls = (turn: number, { step, unanswered }: OpenStep, freshId: () => string): readonly EventDraft[] =>
  unanswered.flatMap((call) => (call.isStarted && !isWaiting(call) ? [lostResult({ turn, step }, call.callId, 'TOOL_OUTCOME_UNKNOWN', freshId())] : []))

/** The failed end of every command that was still running. Source: runtime specification 11.8, 23. */
export function commandRepair(invariants: Invariants): readonly EventDraft[] {
  return invariants.openPairs('command').flatMap(([commandId]): readonly EventDraft[] =>
    typeof commandId === 'string' ? [{ type: 'command/done', data: { commandId, kind: 'error', text: commandCut } }] : [],
  )
}

/**
 * What closes a turn that a crash left open: a failed result for every unanswered call, the end of the step, the end of the turn.
 * A call that was never started gets its `tool/call` too, so that each result has one.
 *
 * Source: runtime specification 11.7.
 */
export function crashRepair(open: OpenTurn, freshId: () => string): readonly EventDraft[] {
  const { turn, step } = open
  const end: EventDraft = { type: 'turn/end', data: { turn, reason: { kind: 'interrupted' } } }
  if (step === null) return [end]
  const place = { turn, step: step.step }
  const results = step.unanswered.flatMap((call): readonly EventDraft[] => {
    const { isStarted, callId, name, arguments: args } = call
    const result = lostResult(place, callId, isStarted ? 'TOOL_OUTCOME_UNKNOWN' : 'TOOL_NOT_STARTED', freshId())
    return isStarted ? [result] : [{ type: 'tool/call', data: { ...place, callId, name, arguments: args } }, result]
  })
  return [...results, { type: 'step/end', data: place }, end]
}

/** The result of a call whose own was lost with its window. The log is flushed before a call begins, so one that is not in it had no effect. */
export const lostResult = (place: { readonly turn: number; readonly step: number }, callId: string, code: 'TOOL_OUTCOME_UNKNOWN' | 'TOOL_NOT_STARTED', id: string): EventDraft<'tool/result'> => ({
  type: 'tool/result',
  surfaceOp: 'append',
  data: {
    ...place,
    message: {
      id,
      role: 'tool',
      source: { kind: 'tool', callId },
      content: [{ type: 'tool-result', callId, isError: true, content: [{ type: 'text', text: lostTexts[code] }] }],
    },
    error: { name: 'ToolError', code },
  },
})

const commandCut = 'This command was cut off before it ended. Run it again if it is still wanted.'
const lostTexts = {
  TOOL_NOT_STARTED: 'Error: The application stopped before this call started. It had no effect; call it again if it is still wanted.',
  TOOL_OUTCOME_UNKNOWN: 'Error: The application stopped while this call ran. It may have had its effect, in whole or in part. Look before you call it again.',
} as const
