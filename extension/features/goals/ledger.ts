import * as z from 'zod'
import type {} from '../../core/cost/events.ts'
import { dollars, tokensOf } from '../../core/cost/rates.ts'
import type { SessionEvent, TurnEndReason } from '../../core/log/event.ts'
import type { UserSources } from '../../core/log/message.ts'
import type { Projection } from '../../core/projections/projection.ts'
import { changeShapeProblem } from './change-schema.ts'
import type { CheckResult, GoalChange, GoalSnapshot, GoalTerms } from './events.ts'
import { moveProblem, phaseAfter } from './moves.ts'

/** The current goal as the log tells of it. */
export type GoalRecord = GoalSnapshot & { readonly roundsStarted: number; readonly createdAt: number; readonly updatedAt: number }

/** The turn that runs or ran last, as far as authority and the driver ask. */
export type TurnFacts = {
  readonly number: number
  readonly isOpen: boolean
  /** A person spoke in it. */
  readonly hasPerson: boolean
  /** The round of a goal it is. */
  readonly round: { readonly goalId: string; readonly revision: number; readonly round: number } | null
  readonly end: TurnEndReason['kind'] | null
  readonly cancelledBy: 'user' | 'parent' | 'hook' | 'disposed' | null
}

/**
 * Everything that goals need to know of a log, told strictly: what contradicts itself stays a failure for good.
 *
 * Shape:  `terms`, `baseline`, `spent`, `workedMs`, `checked`, `firstTurn` belong to `goal`; they begin anew with each that is created.
 *         `openSince` is when the turn that runs began. `stuck` counts rounds in a row in which the model said it was blocked or did nothing.
 * Units:  tokens of all kinds, dollars, milliseconds.
 * Source: agent tools specification 1.1 "Replay is strict"; design 6.1 "Blocked goal".
 */
export type GoalLedger = {
  readonly failure: { readonly seq: number; readonly problem: string } | null
  readonly goal: GoalRecord | null
  readonly usedIds: readonly string[]
  readonly terms: GoalTerms
  readonly baseline: { readonly tokens: number; readonly amount: number; readonly errors: readonly string[] | null }
  readonly spent: { readonly tokens: number; readonly amount: number; readonly unpriced: number }
  readonly workedMs: number
  readonly openSince: number | null
  readonly checked: readonly CheckResult[] | null
  /** The first turn whose changes count as the goal's; null without a goal. */
  readonly firstTurn: number | null
  readonly turn: TurnFacts
  readonly stuck: {
    /** Rounds in a row before this one. */
    readonly before: number
    readonly round: { readonly round: number; readonly isReported: boolean; readonly hasProgress: boolean; readonly openCalls: readonly string[] } | null
  }
}

/** Tools that are no progress by themselves. */
const goalTools: ReadonlySet<string> = new Set(['create_goal', 'get_goal', 'update_goal'])

const noTurn: TurnFacts = { number: 0, isOpen: false, hasPerson: false, round: null, end: null, cancelledBy: null }
const notStuck: GoalLedger['stuck'] = { before: 0, round: null }
const fresh = { terms: { checks: [] }, baseline: { tokens: 0, amount: 0, errors: null }, spent: { tokens: 0, amount: 0, unpriced: 0 }, workedMs: 0, checked: null } as const

export const emptyLedger: GoalLedger = { failure: null, goal: null, usedIds: [], ...fresh, openSince: null, firstTurn: null, turn: noTurn, stuck: notStuck }

/** The ledger after one event; the same object where the event is none of its. */
export function ledgerAfter(ledger: GoalLedger, event: SessionEvent): GoalLedger {
  // The cursor stays at the first contradiction, so that every later read tells of the same one.
  if (ledger.failure !== null) return ledger
  switch (event.type) {
    case 'goal/change':
      return changed(ledger, event)
    case 'user/message':
      return spoken(ledger, event)
    case 'turn/start':
      return { ...ledger, openSince: event.time, turn: { ...noTurn, number: event.data.turn, isOpen: true } }
    case 'turn/end':
      return turnEnded(ledger, event)
    case 'goal/terms': {
      const { goalId, ...terms } = event.data
      return ledger.goal?.id === goalId ? { ...ledger, terms } : ledger
    }
    case 'goal/baseline': {
      const { goalId, started, errors = null } = event.data
      return ledger.goal?.id === goalId ? { ...ledger, baseline: { ...started, errors } } : ledger
    }
    case 'goal/checked':
      return ledger.goal?.id === event.data.goalId ? { ...ledger, checked: event.data.results } : ledger
    case 'goal/strike':
      return ledger.goal?.id === event.data.goalId && ledger.stuck.round?.round === event.data.round ? inRound(ledger, { isReported: true }) : ledger
    case 'cost/estimated':
      return isSettled(ledger) ? ledger : metered(ledger, event)
    case 'tool/call':
      return ledger.stuck.round === null || goalTools.has(event.data.name) ? ledger : inRound(ledger, { openCalls: [...ledger.stuck.round.openCalls, event.data.callId] })
    case 'tool/result':
      return resulted(ledger, event)
    default:
      return ledger
  }
}

/** How many rounds in a row, this one included, the model was stuck if it reports now that it is. */
export const stuckRounds = ({ stuck }: GoalLedger): number => (stuck.round === null ? 0 : stuck.before + 1)

/** How many rounds in a row, up to the last that is over, were stuck. */
export const idleRounds = ({ stuck }: GoalLedger): number => stuckBefore(stuck)

/** For the registry: the whole ledger is its own view. */
export const goalLedgerProjection: Projection<GoalLedger, GoalLedger> = {
  key: 'goalLedger',
  stateVersion: 1,
  schema: ledgerSchema,
  parts: 'none',
  start: () => emptyLedger,
  step: ledgerAfter,
  view: (state) => state,
}

// The goal itself

function changed(ledger: GoalLedger, { data, seq, time }: SessionEvent<'goal/change'>): GoalLedger {
  const problem = changeShapeProblem(data) ?? changeProblem(ledger, data)
  if (problem !== null) return failed(ledger, seq, problem)
  if (data.operation === 'clear') return { ...ledger, goal: null, ...fresh, firstTurn: null, stuck: notStuck }
  const { goal, roundsStarted, createdAt, updatedAt, operation } = data
  const next = { ...ledger, goal: { ...goal, roundsStarted, createdAt, updatedAt }, stuck: notStuck }
  if (operation !== 'create') return isSettled(ledger) || isSettled(next) ? settled(ledger, next, time) : next
  return { ...next, ...fresh, usedIds: [...ledger.usedIds, goal.id], firstTurn: ledger.turn.isOpen ? ledger.turn.number : ledger.turn.number + 1, openSince: ledger.turn.isOpen ? time : null }
}

/** A complete goal uses nothing more. */
function settled(before: GoalLedger, after: GoalLedger, time: number): GoalLedger {
  if (isSettled(before) || before.openSince === null) return after
  return { ...after, workedMs: before.workedMs + Math.max(0, time - before.openSince), openSince: null }
}

const isSettled = ({ goal }: GoalLedger): boolean => goal === null || goal.phase === 'complete'

/** Why this change cannot follow what the log says, or null. */
function changeProblem({ goal, usedIds }: GoalLedger, change: GoalChange): string | null {
  const standing = goal === null ? null : { ...goal, isArmed: false }
  const illegal = moveProblem(change.operation, standing)
  if (illegal !== null) return `${change.operation} is not legal here: ${illegal.message}`
  if (change.operation === 'create') return createProblem(change, usedIds)
  // Only `create` may find none.
  if (goal === null) return 'there is no goal'
  const { id, revision } = change.operation === 'clear' ? change.cleared : change.goal
  if (id !== goal.id) return `it is about ${id}, and the goal is ${goal.id}`
  if (revision !== goal.revision + 1) return `revision ${revision} does not follow ${goal.revision}`
  const at = change.operation === 'clear' ? change.clearedAt : change.updatedAt
  if (at < goal.updatedAt) return 'its time is before that of the change before it'
  return change.operation === 'clear' ? null : fieldProblem(goal, change)
}

type SnapshotChange = Exclude<GoalChange, { readonly operation: 'clear' }>

function createProblem(change: SnapshotChange, usedIds: readonly string[]): string | null {
  const { goal, roundsStarted, createdAt, updatedAt } = change
  if (usedIds.includes(goal.id)) return `the id ${goal.id} was used before`
  if (goal.revision !== 1 || roundsStarted !== 0 || goal.phase !== 'active') return 'a new goal is active, at revision 1, with no rounds'
  return createdAt === updatedAt ? null : 'a new goal was changed before it was made'
}

function fieldProblem(goal: GoalRecord, change: SnapshotChange): string | null {
  const { operation, goal: next } = change
  if (change.createdAt !== goal.createdAt) return 'it says another time of creation'
  if (change.roundsStarted !== goal.roundsStarted) return `it counts ${change.roundsStarted} rounds, and ${goal.roundsStarted} were begun`
  if (next.phase !== phaseAfter(operation, goal.phase)) return `${operation} does not lead to ${next.phase}`
  if (operation === 'edit') return JSON.stringify(next.blockedReason) === JSON.stringify(goal.blockedReason) ? null : 'an edit keeps what blocks the goal'
  return next.objective === goal.objective && next.maxGoalRounds === goal.maxGoalRounds ? null : `${operation} changes neither objective nor cap`
}

function failed(ledger: GoalLedger, seq: number, problem: string): GoalLedger {
  return { ...ledger, failure: { seq, problem } }
}

// Turns and rounds

function spoken(ledger: GoalLedger, { data, seq }: SessionEvent<'user/message'>): GoalLedger {
  const { source } = data
  // A person who speaks may have taken away what was in the way.
  if (source.kind === 'user') return ledger.turn.hasPerson && ledger.stuck === notStuck ? ledger : { ...ledger, turn: { ...ledger.turn, hasPerson: true }, stuck: notStuck }
  if (source.kind !== 'goal') return ledger
  const problem = roundProblem(ledger.goal, source)
  if (problem !== null || ledger.goal === null) return failed(ledger, seq, problem ?? 'there is no goal')
  const { goalId, revision, round } = source
  return {
    ...ledger,
    goal: { ...ledger.goal, roundsStarted: round },
    turn: { ...ledger.turn, round: { goalId, revision, round } },
    stuck: { before: stuckBefore(ledger.stuck), round: { round, isReported: false, hasProgress: false, openCalls: [] } },
  }
}

/** Why a round cannot be the next of the goal, or null. */
export function roundProblem(goal: GoalRecord | null, { goalId, revision, round }: UserSources['goal']): string | null {
  if (goal === null) return 'a round of no goal'
  if (goal.id !== goalId) return `a round of ${goalId}, and the goal is ${goal.id}`
  if (goal.phase !== 'active') return `a round of a goal that is ${goal.phase}`
  if (goal.revision !== revision) return `a round of revision ${revision}, and the goal is at ${goal.revision}`
  if (round !== goal.roundsStarted + 1) return `round ${round} does not follow ${goal.roundsStarted}`
  return round <= goal.maxGoalRounds ? null : `round ${round} is beyond the ${goal.maxGoalRounds} there are`
}

const stuckBefore = ({ before, round }: GoalLedger['stuck']): number => (round !== null && (round.isReported || !round.hasProgress) ? before + 1 : 0)

function turnEnded(ledger: GoalLedger, { data, time }: SessionEvent<'turn/end'>): GoalLedger {
  const { reason } = data
  const cancelledBy = reason.kind === 'aborted' ? reason.reason.kind : null
  const worked = ledger.openSince === null || isSettled(ledger) ? 0 : Math.max(0, time - ledger.openSince)
  return { ...ledger, workedMs: ledger.workedMs + worked, openSince: null, turn: { ...ledger.turn, isOpen: false, end: reason.kind, cancelledBy } }
}

function inRound(ledger: GoalLedger, more: Partial<NonNullable<GoalLedger['stuck']['round']>>): GoalLedger {
  return ledger.stuck.round === null ? ledger : { ...ledger, stuck: { ...ledger.stuck, round: { ...ledger.stuck.round, ...more } } }
}

function resulted(ledger: GoalLedger, { data }: SessionEvent<'tool/result'>): GoalLedger {
  const { callId, isError } = data.message.content[0]
  const open = ledger.stuck.round?.openCalls ?? []
  if (!open.includes(callId)) return ledger
  return inRound(ledger, { openCalls: open.filter((id) => id !== callId), ...(!isError && { hasProgress: true }) })
}

function metered(ledger: GoalLedger, event: SessionEvent<'cost/estimated'>): GoalLedger {
  const { usage, amount } = event.data
  const { spent } = ledger
  return { ...ledger, spent: { tokens: spent.tokens + tokensOf(usage), amount: dollars(spent.amount + (amount ?? 0)), unpriced: spent.unpriced + (amount === undefined ? 1 : 0) } }
}

/** Of `GoalRecord`. */
export const goalRecordSchema = () =>
  z.strictObject({
    id: z.string(),
    revision: z.int(),
    objective: z.string(),
    phase: z.enum(['active', 'paused', 'blocked', 'complete']),
    maxGoalRounds: z.int(),
    blockedReason: z.strictObject({ code: z.string(), message: z.string() }).exactOptional(),
    roundsStarted: z.int(),
    createdAt: z.number(),
    updatedAt: z.number(),
  })

function ledgerSchema(): z.ZodType<GoalLedger> {
  const round = z.int()
  const sums = { tokens: z.number(), amount: z.number() }
  return z.strictObject({
    failure: z.strictObject({ seq: z.int(), problem: z.string() }).nullable(),
    goal: goalRecordSchema().nullable(),
    usedIds: z.array(z.string()),
    terms: z.strictObject({ maxTokens: z.number().exactOptional(), maxCost: z.number().exactOptional(), maxMinutes: z.number().exactOptional(), checks: z.array(z.string()) }),
    baseline: z.strictObject({ ...sums, errors: z.array(z.string()).nullable() }),
    spent: z.strictObject({ ...sums, unpriced: z.number() }),
    workedMs: z.number(),
    openSince: z.number().nullable(),
    checked: z.array(z.strictObject({ check: z.string(), isOk: z.boolean(), outcome: z.string(), output: z.string(), durationMs: z.number() })).nullable(),
    firstTurn: z.int().nullable(),
    turn: z.strictObject({
      number: z.int(),
      isOpen: z.boolean(),
      hasPerson: z.boolean(),
      round: z.strictObject({ goalId: z.string(), revision: z.int(), round }).nullable(),
      end: z.enum(['completed', 'aborted', 'blocked', 'error', 'max-tokens', 'interrupted', 'paused']).nullable(),
      cancelledBy: z.enum(['user', 'parent', 'hook', 'disposed']).nullable(),
    }),
    stuck: z.strictObject({
      before: z.int(),
      round: z.strictObject({ round, isReported: z.boolean(), hasProgress: z.boolean(), openCalls: z.array(z.string()) }).nullable(),
    }),
  })
}
