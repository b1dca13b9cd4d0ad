import { Emitter } from '../../base/emitter.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import { noCost } from '../../core/cost/cost-projection.ts'
import type { CostLedger } from '../../core/cost/ledger.ts'
import { dollars, tokensOf } from '../../core/cost/rates.ts'
import type { Dispatcher } from '../../core/kernel/plugin.ts'
import type { Agents } from '../../core/loop/points.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import { GoalError } from './error.ts'
import { NO_NEW_ERRORS, type BlockedReason, type GoalRef, type GoalSnapshot, type GoalTerms, type SnapshotOperation } from './events.ts'
import { emptyLedger, goalLedgerProjection, type GoalLedger, type GoalRecord } from './ledger.ts'
import { goalMoves, moveProblem, phaseAfter } from './moves.ts'
import type { GoalHold, GoalNews, Goals, GoalState, GoalUse, NewGoal } from './service.ts'
import { checkTerms } from './terms.ts'

export interface GoalsNeeds {
  readonly agents: Pick<Agents, 'live'>
  readonly costs: Pick<CostLedger, 'treeCost' | 'knownTreeCost' | 'ownCost'>
  readonly clock: Pick<Clock, 'now'>
  readonly machine: Pick<Machine, 'randomId'>
  readonly logger: Logger
  readonly dispatch: Dispatcher
  readonly defaultMaxRounds: () => number
  /** Errors that files have now; null where no editor knows. */
  readonly knownErrors: () => readonly string[] | null
  readonly knowsErrors: boolean
  readonly heldBy: (session: Session) => GoalHold | null
}

export interface GoalBook extends Goals {
  /** What holds goals may have changed: all, or that of one agent. */
  noteHolds(agent?: Agent): void
  ledger(session: Session): GoalLedger
}

/** Errors kept of the moment a goal was made; with more of them none counts as new. */
const MAX_BASELINE_ERRORS = 2_000

/** UTF-16 units: it stands in the message of every round. */
export const MAX_OBJECTIVE_CHARS = 20_000

/** UTF-16 units: it stands in notifications, and in every later record while the goal is blocked. */
export const MAX_REASON_CHARS = 4_000

/** Source: agent tools specification 1.1. What is armed lives here and nowhere else. */
export function createGoals({ agents, costs, clock, machine, logger, dispatch, defaultMaxRounds, knownErrors, knowsErrors, heldBy }: GoalsNeeds): GoalBook {
  const armed = new WeakSet<Agent>()
  /** Agents a listener has to hear of when what holds goals changes. */
  const withGoal = new Map<string, Agent>()
  const toldHolds = new WeakMap<Agent, GoalHold | null>()
  const changes = new Emitter<Agent>((error) => logger.error('A listener for goals failed.', { error: String(error) }))

  // Only this unit has this key; a session without it has no goal.
  const ledger = (session: Session): GoalLedger => (session.projections().values[goalLedgerProjection.key] as GoalLedger | undefined) ?? emptyLedger

  function strictLedger(session: Session): GoalLedger {
    const found = ledger(session)
    if (found.failure !== null)
      throw new GoalError('GOAL_LOG_CORRUPT', `The log contradicts itself about the goal at event ${found.failure.seq}: ${found.failure.problem}. Go on in a copy of the session from before that, or in a new one.`)
    return found
  }

  const isArmed = (session: Session): boolean => {
    const agent = agents.live(session.id)
    return agent !== undefined && armed.has(agent)
  }

  const holdOf = (session: Session, goal: GoalRecord): GoalHold | null => (goal.phase === 'active' && isArmed(session) ? heldBy(session) : null)

  function stateOf(session: Session): GoalState | null {
    const { goal, terms, checked, ...rest } = strictLedger(session)
    if (goal === null) return null
    return { goal, ...terms, checked, activation: isArmed(session) ? 'armed' : 'disarmed', used: useOf(session, rest), heldBy: holdOf(session, goal) }
  }

  /** What the session itself used is in its log; what it started is told by the ledger of costs, less what that was when the goal was made. */
  function useOf(session: Session, { spent, baseline, workedMs, openSince }: Pick<GoalLedger, 'spent' | 'baseline' | 'workedMs' | 'openSince'>): GoalUse {
    const started = startedBy(session)
    return {
      tokens: spent.tokens + Math.max(0, started.tokens - baseline.tokens),
      amount: dollars(spent.amount + Math.max(0, started.amount - baseline.amount)),
      isWhole: spent.unpriced === 0 && started.isWhole,
      minutes: (workedMs + (openSince === null ? 0 : Math.max(0, clock.now() - openSince))) / 60_000,
      countsSince: openSince,
    }
  }

  function startedBy({ id }: Session): { readonly tokens: number; readonly amount: number; readonly isWhole: boolean } {
    const tree = costs.knownTreeCost(id)
    const own = costs.ownCost(id)?.total ?? noCost
    return { tokens: tokensOf(tree) - tokensOf(own), amount: dollars(tree.amount - own.amount), isWhole: tree.unpriced === own.unpriced }
  }

  function holdNow({ session }: Agent): GoalHold | null {
    const { goal, failure } = ledger(session)
    return goal === null || failure !== null ? null : holdOf(session, goal)
  }

  function assertLive(agent: Agent): void {
    if (agents.live(agent.id) !== agent || agent.isDisposed || agent.session.access !== 'write')
      throw new GoalError('GOAL_AGENT_NOT_LIVE', 'This session cannot be changed here: it is closed, or another window writes it. Open it again, then change its goal.')
  }

  /** The goal that `ref` names, as it is. */
  function current(agent: Agent, ref: GoalRef): GoalRecord {
    assertLive(agent)
    const { goal } = strictLedger(agent.session)
    if (goal === null) throw new GoalError('GOAL_NOT_FOUND', 'There is no goal. Create one first.')
    if (goal.id !== ref.id || goal.revision !== ref.revision)
      throw new GoalError('GOAL_STALE_REVISION', `The goal has changed: it is ${goal.id} at revision ${goal.revision}, not ${ref.id} at revision ${ref.revision}. Read it again, then decide.`)
    return goal
  }

  function assertMove(operation: Parameters<typeof moveProblem>[0], agent: Agent, goal: GoalRecord | null): void {
    const problem = moveProblem(operation, goal === null ? null : { ...goal, isArmed: armed.has(agent) })
    if (problem !== null) throw problem
  }

  function write(agent: Agent, operation: SnapshotOperation, snapshot: GoalSnapshot, rest: Pick<GoalRecord, 'roundsStarted' | 'createdAt' | 'updatedAt'>): GoalState {
    const { roundsStarted, createdAt, updatedAt } = rest
    agent.session.append({ type: 'goal/change', data: { kind: 'goal/change', version: 1, operation, goal: snapshot, roundsStarted, createdAt, updatedAt } })
    activate(agent, goalMoves[operation].activation)
    tell(agent, { operation, ref: { id: snapshot.id, revision: snapshot.revision }, goal: { ...snapshot, roundsStarted, createdAt, updatedAt } })
    // It was just written.
    return stateOf(agent.session)!
  }

  function activate(agent: Agent, activation: (typeof goalMoves)[SnapshotOperation]['activation']): void {
    if (activation === 'armed') armed.add(agent)
    else if (activation === 'disarmed') armed.delete(agent)
    withGoal.set(agent.id, agent)
  }

  function tell(agent: Agent, news: GoalNews): void {
    toldHolds.set(agent, holdNow(agent))
    dispatch.emit('goal/changed', agent.scope, [agent, news])
    changes.emit(agent)
  }

  /** One durable change of what is there. */
  function change(agent: Agent, ref: GoalRef, operation: Exclude<SnapshotOperation, 'create'>, more: { readonly objective?: string; readonly maxGoalRounds?: number; readonly blockedReason?: BlockedReason } = {}): GoalState {
    const goal = current(agent, ref)
    assertMove(operation, agent, goal)
    const { roundsStarted, createdAt, updatedAt, blockedReason, ...kept } = goal
    const snapshot: GoalSnapshot = {
      ...kept,
      ...(operation === 'edit' && blockedReason !== undefined && { blockedReason }),
      ...more,
      phase: phaseAfter(operation, goal.phase),
      revision: goal.revision + 1,
    }
    return write(agent, operation, snapshot, { roundsStarted, createdAt, updatedAt: Math.max(updatedAt, clock.now()) })
  }

  function writeTerms(agent: Agent, goalId: string, terms: GoalTerms): void {
    agent.session.append({ type: 'goal/terms', ignorable: true, data: { goalId, ...terms } })
  }

  return {
    ledger,
    read: stateOf,

    async readWhole(session) {
      if (strictLedger(session).goal === null) return null
      await costs.treeCost(session.id)
      return stateOf(session)
    },

    create(agent, { objective, maxGoalRounds = defaultMaxRounds(), terms }: NewGoal) {
      assertLive(agent)
      const { goal } = strictLedger(agent.session)
      const words = checkObjective(objective)
      checkRounds(maxGoalRounds)
      const kept = terms === undefined ? null : checkTerms({ checks: [], ...terms }, { knowsErrors })
      assertMove('create', agent, goal)
      const now = clock.now()
      const id = `goal-${machine.randomId()}`
      const { tokens, amount } = startedBy(agent.session)
      agent.session.append({ type: 'goal/change', data: { kind: 'goal/change', version: 1, operation: 'create', goal: { id, revision: 1, objective: words, phase: 'active', maxGoalRounds }, roundsStarted: 0, createdAt: now, updatedAt: now } })
      const errors = kept?.checks.includes(NO_NEW_ERRORS) === true ? knownErrors() : null
      agent.session.append({ type: 'goal/baseline', ignorable: true, data: { goalId: id, started: { tokens, amount }, ...(errors !== null && { errors: errors.slice(0, MAX_BASELINE_ERRORS) }) } })
      if (kept !== null && hasTerms(kept)) writeTerms(agent, id, kept)
      activate(agent, 'armed')
      const made = strictLedger(agent.session).goal
      tell(agent, { operation: 'create', ref: { id, revision: 1 }, ...(made && { goal: made }) })
      return stateOf(agent.session)!
    },

    edit(agent, ref, { objective, maxGoalRounds }) {
      current(agent, ref)
      if (objective === undefined && maxGoalRounds === undefined) throw new GoalError('GOAL_INVALID_EDIT', 'An edit needs a new objective or a new cap of rounds.')
      if (maxGoalRounds !== undefined) checkRounds(maxGoalRounds)
      return change(agent, ref, 'edit', { ...(objective !== undefined && { objective: checkObjective(objective) }), ...(maxGoalRounds !== undefined && { maxGoalRounds }) })
    },

    pause: (agent, ref) => change(agent, ref, 'pause'),
    resume: (agent, ref) => change(agent, ref, 'resume'),
    complete: (agent, ref) => change(agent, ref, 'complete'),

    block(agent, ref, { code, message }) {
      current(agent, ref)
      const words = message.trim()
      if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(code) || words === '') throw new GoalError('GOAL_INVALID_BLOCK_REASON', 'What blocks a goal needs a code in lower kebab-case and a message that says what is in the way.')
      if (words.length > MAX_REASON_CHARS) throw new GoalError('GOAL_INVALID_BLOCK_REASON', `What blocks the goal has ${words.length} characters, and at most ${MAX_REASON_CHARS} are taken. Say it shorter, and put the details into a file.`)
      return change(agent, ref, 'block', { blockedReason: { code, message: words } })
    },

    clear(agent, ref) {
      const { id, revision, updatedAt } = current(agent, ref)
      const cleared = { id, revision: revision + 1 }
      agent.session.append({ type: 'goal/change', data: { kind: 'goal/change', version: 1, operation: 'clear', cleared, clearedAt: Math.max(updatedAt, clock.now()) } })
      activate(agent, 'disarmed')
      tell(agent, { operation: 'clear', ref: cleared })
    },

    setTerms(agent, ref, terms) {
      const goal = current(agent, ref)
      const before = strictLedger(agent.session)
      const kept = checkTerms(terms, { knowsErrors })
      // Errors count as new from when somebody first asked for none.
      const errors = kept.checks.includes(NO_NEW_ERRORS) && before.baseline.errors === null ? knownErrors() : null
      if (errors !== null) {
        const { tokens, amount } = before.baseline
        agent.session.append({ type: 'goal/baseline', ignorable: true, data: { goalId: goal.id, started: { tokens, amount }, errors: errors.slice(0, MAX_BASELINE_ERRORS) } })
      }
      writeTerms(agent, goal.id, kept)
      tell(agent, { operation: 'terms', ref, goal })
      return stateOf(agent.session)!
    },

    noteChecks(agent, { id }, results) {
      agent.session.append({ type: 'goal/checked', ignorable: true, data: { goalId: id, results } })
      changes.emit(agent)
    },

    isInRound({ session }) {
      const { turn } = ledger(session)
      return turn.isOpen && turn.round !== null
    },

    knowsErrors,

    disarm(agent) {
      if (!armed.delete(agent)) return
      const { goal } = ledger(agent.session)
      if (goal !== null) tell(agent, { operation: 'disarm', ref: { id: goal.id, revision: goal.revision }, goal })
    },

    noteHolds(only) {
      for (const [id, agent] of withGoal) {
        if (only !== undefined && only !== agent) continue
        if (agent.isDisposed) {
          withGoal.delete(id)
          continue
        }
        const hold = holdNow(agent)
        if (hold === (toldHolds.get(agent) ?? null)) continue
        toldHolds.set(agent, hold)
        changes.emit(agent)
      }
    },

    onDidChange: (listener) => changes.listen(listener),
  }
}

function checkObjective(objective: string): string {
  const words = objective.trim()
  if (words === '') throw new GoalError('GOAL_INVALID_OBJECTIVE', 'The objective is blank. Say what is to be reached.')
  if (words.length > MAX_OBJECTIVE_CHARS) throw new GoalError('GOAL_INVALID_OBJECTIVE', `The objective has ${words.length} characters, and at most ${MAX_OBJECTIVE_CHARS} are taken. Put the details into a file and name it.`)
  return words
}

function checkRounds(maxGoalRounds: number): void {
  if (!Number.isSafeInteger(maxGoalRounds) || maxGoalRounds < 1) throw new GoalError('GOAL_INVALID_MAX_ROUNDS', `max_goal_rounds must be a whole number from 1, not ${maxGoalRounds}.`)
}

const hasTerms = ({ checks, maxTokens, maxCost, maxMinutes }: GoalTerms): boolean => checks.length > 0 || maxTokens !== undefined || maxCost !== undefined || maxMinutes !== undefined
