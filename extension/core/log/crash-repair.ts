import type { EventDraft } from './event.ts'
import type { Invariants, OpenTurn } from './invariants.ts'

/** What closes everything that a crash left open at the end of a log; nothing when nothing is. */
export function repairs(invariants: Invariants, freshId: () => string): readonly EventDraft[] {
  const { openTurn } = invariants
  return [...commandRepair(invariants), ...approvalRepair(invariants), ...(openTurn === null ? [] : crashRepair(openTurn, freshId))]
}

/** The question to the person went with the window that showed it; no answer means no. */
function approvalRepair(invariants: Invariants): readonly EventDraft[] {
  return invariants.openPairs('approval').flatMap(([id]): readonly EventDraft[] => (typeof id === 'string' ? [{ type: 'approval/decided', data: { id, outcome: 'cancelled' } }] : []))
}

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
  const results = step.unanswered.flatMap(({ isStarted, isWaiting, callId, name, arguments: args }): readonly EventDraft[] => {
    // The log is flushed before a call begins, so one that still waited for its answer had no effect.
    const mayHaveRun = isStarted && isWaiting !== true
    const result: EventDraft<'tool/result'> = {
      type: 'tool/result',
      surfaceOp: 'append',
      data: {
        ...place,
        message: {
          id: freshId(),
          role: 'tool',
          source: { kind: 'tool', callId },
          content: [{ type: 'tool-result', callId, isError: true, content: [{ type: 'text', text: mayHaveRun ? outcomeUnknown : isWaiting === true ? neverAllowed : notStarted }] }],
        },
        error: { name: 'ToolError', code: mayHaveRun ? 'TOOL_OUTCOME_UNKNOWN' : 'TOOL_NOT_STARTED' },
      },
    }
    return isStarted ? [result] : [{ type: 'tool/call', data: { ...place, callId, name, arguments: args } }, result]
  })
  return [...results, { type: 'step/end', data: place }, end]
}

const commandCut = 'This command was cut off before it ended. Run it again if it is still wanted.'
const notStarted = 'Error: The application stopped before this call started. It had no effect; call it again if it is still wanted.'
const neverAllowed = 'Error: The application stopped while this call waited for the person to allow it. It had no effect; call it again if it is still wanted.'
const outcomeUnknown =
  'Error: The application stopped while this call ran. It may have had its effect, in whole or in part. Look before you call it again.'
