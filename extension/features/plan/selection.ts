/** What choosing plan mode, or ending it, came to. Source: agent tools specification 2. */
export type SelectionOutcome =
  /** It holds, or waits, already. */
  | 'noop'
  /** It waits for the next step of the turn. */
  | 'queued'
  /** It took a waiting choice back. */
  | 'cancelled'
  /** It stands in the log. */
  | 'committed'

export interface SelectionFacts {
  readonly isTurnOpen: boolean
  /** What the log says. */
  readonly isActive: boolean
  readonly pending: boolean | null
}

const outcomes: Readonly<Record<'turn' | 'idle', Readonly<Record<'differs' | 'holds', SelectionOutcome>>>> = {
  turn: { differs: 'queued', holds: 'cancelled' },
  idle: { differs: 'committed', holds: 'cancelled' },
}

/** One move of the selection. */
export function selectionOutcome({ isTurnOpen, isActive, pending }: SelectionFacts, target: boolean): SelectionOutcome {
  if (target === (pending ?? isActive)) return 'noop'
  return outcomes[isTurnOpen ? 'turn' : 'idle'][target === isActive ? 'holds' : 'differs']
}
