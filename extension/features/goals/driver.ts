import { isErrorOf } from '../../base/harness-error.ts'
import { thrownText } from '../../base/thrown-text.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type { Agents, PreStepDecision, StepPlace } from '../../core/loop/points.ts'
import type { Agent } from '../../core/session/agent.ts'
import { GoalError } from './error.ts'
import { idleRounds, roundProblem } from './ledger.ts'
import type { GoalBook } from './goals.ts'
import { roundMessage } from './round-message.ts'
import type { GoalState } from './service.ts'
import { usedUp } from './terms.ts'

/** Rounds in a row that get nothing done before the goal waits for the person: a model that only says that it will go on would use up all of them. */
const MAX_IDLE_ROUNDS = 10

interface Needs {
  readonly agents: Pick<Agents, 'live' | 'list'>
  readonly goals: GoalBook
  readonly newId: () => string
  readonly logger: Logger
}

/** A round that was put into the inbox and has not begun. */
interface Reservation {
  readonly message: UserMessage
  /** Somebody else has to be heard first. */
  isStale: boolean
}

/** One agent's way through its rounds. */
interface Lane {
  readonly agent: Agent
  reservation: Reservation | null
  /** The log has to be on the disk before the next round. */
  owesCheckpoint: boolean
  isPassing: boolean
  isPassWanted: boolean
  /** The log refused something in the turn that just ran. */
  hasFailed: boolean
  /** Taken up by a step that the goal's budget held back. */
  held: readonly UserMessage[]
  /** The last turn whose end was looked at. */
  judgedTurn: number
}

export interface GoalDriver {
  status(agent: Agent, status: 'idle' | 'running'): void
  changed(agent: Agent): void
  inserted(agent: Agent, message: UserMessage): void
  failed(agent: Agent): void
  /** An agent below it used something. */
  spent(agent: Agent): void
  preStep(place: StepPlace & { readonly messages: readonly UserMessage[] }, next: () => Promise<PreStepDecision>): Promise<PreStepDecision>
  /** Rounds that wait in the inbox of an agent whose host died: nobody reserved them here, and nobody would be heard behind them. */
  dropLeft(agent: Agent): void
  forget(agent: Agent): void
  /** No round begins any more; those that run are stopped. Resolves when they rest. */
  close(): Promise<void>
}

/**
 * Keeps an agent going towards its goal: one round after the other, one at a time, whenever it rests and nobody else waits to be heard.
 *
 * A round that lost its right between the inbox and the step (a word of the person, a change of the goal, a cancel) is taken out of
 * the step; what came in with it enters without it, and no round is counted.
 * A round counts once its message stands in the log. None begins while agents that the session started are at work: what those say at
 * their end is heard first, in a turn of its own.
 * Source: agent tools specification 1.6.
 */
export function createGoalDriver({ agents, goals, newId, logger }: Needs): GoalDriver {
  const lanes = new WeakMap<Agent, Lane>()
  let isClosed = false

  function laneOf(agent: Agent): Lane {
    let lane = lanes.get(agent)
    if (lane === undefined) {
      const { number, isOpen } = goals.ledger(agent.session).turn
      lane = { agent, reservation: null, owesCheckpoint: true, isPassing: false, isPassWanted: false, hasFailed: false, held: [], judgedTurn: isOpen ? number - 1 : number }
      lanes.set(agent, lane)
    }
    return lane
  }

  const isLive = (agent: Agent): boolean => !isClosed && !agent.isDisposed && agents.live(agent.id) === agent && agent.session.access === 'write'

  /** At rest, and nobody waits to be heard. What is only told along waits for whatever comes next. */
  const isFree = (agent: Agent): boolean => isLive(agent) && agent.status === 'idle' && agent.inbox.nextTurn.length === 0 && !agent.inbox.nextStep.some(isPersons)

  /** A goal that cannot be read, or that cannot be changed, goes on no further. */
  function contained<T>(agent: Agent, what: string, work: () => T): T | null {
    try {
      return work()
    } catch (error) {
      logger.warn(`${what}, so the goal of this session does not go on by itself.`, { session: agent.id, error: thrownText(error) ?? '' })
      goals.disarm(agent)
      return null
    }
  }

  const read = (agent: Agent): GoalState | null => contained(agent, 'The goal could not be read', () => goals.read(agent.session))

  function block(agent: Agent, { goal }: GoalState, reason: { readonly code: string; readonly message: string }): void {
    contained(agent, 'The goal could not be blocked', () => {
      try {
        goals.block(agent, goal, reason)
      } catch (error) {
        // Whoever changed it meanwhile has decided.
        if (!isErrorOf(GoalError, error, 'GOAL_STALE_REVISION')) throw error
      }
    })
  }

  // One pass after the other

  function pass(lane: Lane): void {
    if (lane.isPassing) {
      lane.isPassWanted = true
      return
    }
    lane.isPassing = true
    void (async () => {
      try {
        do {
          lane.isPassWanted = false
          await passOnce(lane)
        } while (lane.isPassWanted)
      } catch (error) {
        logger.error('A round of a goal could not be begun.', { session: lane.agent.id, error: thrownText(error) ?? '' })
        goals.disarm(lane.agent)
      } finally {
        lane.isPassing = false
      }
    })()
  }

  async function passOnce(lane: Lane): Promise<void> {
    const { agent } = lane
    // Not inside whatever told of the change: an observer of the log may not write to it.
    await Promise.resolve()
    if (!isFree(agent)) return
    const first = read(agent)
    if (first?.heldBy === 'one-turn') return goals.disarm(agent)
    if (!isGoing(first)) return
    if (lane.owesCheckpoint && !(await isFlushed(lane))) return
    const state = isFree(agent) ? await wholeOf(agent) : null
    // Both waits may have changed everything.
    if (!isFree(agent) || !isGoing(state)) return
    const fresh = read(agent)
    if (!isGoing(fresh)) return
    const { goal } = fresh
    if (!mayGoOn(fresh)) {
      // What they use is the goal's, so its budget ends it also while it waits for them.
      const used = usedUp(fresh, fresh.used)
      return used === null ? undefined : block(agent, fresh, used)
    }
    if (goal.roundsStarted >= goal.maxGoalRounds) return block(agent, fresh, { code: 'round-limit', message: `All ${goal.maxGoalRounds} rounds are used.` })
    const spent = usedUp(fresh, fresh.used)
    if (spent !== null) return block(agent, fresh, spent)
    const idle = idleRounds(goals.ledger(agent.session))
    if (idle >= MAX_IDLE_ROUNDS) return block(agent, fresh, { code: 'no-progress', message: `${idle} rounds in a row got nothing done: no tool succeeded in them, and the goal was not completed. Say what is missing, then resume it.` })
    reserve(lane, fresh)
  }

  async function isFlushed(lane: Lane): Promise<boolean> {
    try {
      lane.owesCheckpoint = false
      await lane.agent.session.flush()
      return true
    } catch (error) {
      lane.owesCheckpoint = true
      logger.warn('The log could not be made durable, so the goal of this session does not go on by itself.', { session: lane.agent.id, error: thrownText(error) ?? '' })
      goals.disarm(lane.agent)
      return false
    }
  }

  async function wholeOf(agent: Agent): Promise<GoalState | null> {
    try {
      return await goals.readWhole(agent.session)
    } catch (error) {
      logger.warn('What the goal used could not be read, so it does not go on by itself.', { session: agent.id, error: thrownText(error) ?? '' })
      goals.disarm(agent)
      return null
    }
  }

  function reserve(lane: Lane, state: GoalState): void {
    const { agent } = lane
    const message = roundMessage(newId(), state.goal, { round: state.goal.roundsStarted + 1, checks: state.checks })
    lane.reservation = { message, isStale: false }
    try {
      agent.followup(message)
    } catch (error) {
      lane.reservation = null
      const now = read(agent)
      if (now !== null && mayGoOn(now) && now.goal.revision === state.goal.revision) block(agent, now, { code: 'queue-failed', message: `The round could not be put into the queue: ${thrownText(error) ?? 'no reason was given'}` })
    }
  }

  // What became of it

  function rested(lane: Lane): void {
    const { agent, reservation, hasFailed } = lane
    const { turn } = goals.ledger(agent.session)
    const hasTurn = turn.number > lane.judgedTurn
    lane.reservation = null
    lane.hasFailed = false
    lane.judgedTurn = turn.number
    for (const message of lane.held) if (isLive(agent)) agent.inject(message)
    lane.held = []
    if (reservation !== null) agent.queue.remove(reservation.message.id)
    const isWaiting = reservation !== null && !reservation.isStale && !hasBegun(agent, reservation)
    // A turn that was asked for and never began was cancelled before.
    const wasCancelled = hasTurn ? turn.end === 'aborted' && turn.cancelledBy === 'user' : isWaiting
    const wasRounds = isWaiting || (hasTurn && turn.round !== null)
    if (wasCancelled && wasRounds) return pause(agent)
    if (wasCancelled || hasFailed || (hasTurn && !isGoodEnd(turn.end))) return goals.disarm(agent)
    if (hasTurn) lane.owesCheckpoint = true
    pass(lane)
  }

  /** Its message stands in the log. */
  function hasBegun(agent: Agent, { message: { source } }: Reservation): boolean {
    const { goal } = goals.ledger(agent.session)
    return source.kind === 'goal' && goal?.id === source.goalId && goal.roundsStarted >= source.round
  }

  function pause(agent: Agent): void {
    contained(agent, 'The goal could not be paused', () => {
      const state = goals.read(agent.session)
      if (state?.goal.phase === 'active') goals.pause(agent, state.goal)
    })
  }

  /** Why the round may not begin, or null. */
  function obstacle({ agent }: Lane, { message, isStale }: Reservation): string | null {
    if (isStale || !isLive(agent)) return 'somebody else is heard first'
    const state = read(agent)
    if (!mayGoOn(state)) return 'the goal does not go on by itself'
    return message.source.kind === 'goal' ? roundProblem(state.goal, message.source) : 'no round of a goal'
  }

  /** A budget that is used up in the middle of a round ends it there, unless the person is speaking. */
  async function isOverBudget(agent: Agent, messages: readonly UserMessage[]): Promise<boolean> {
    const { turn, goal } = goals.ledger(agent.session)
    if (!turn.isOpen || turn.round === null || goal === null || turn.hasPerson || messages.some(isPersons)) return false
    const state = read(agent)
    if (state === null || state.goal.phase !== 'active' || (state.maxTokens ?? state.maxCost ?? state.maxMinutes) === undefined) return false
    const whole = await wholeOf(agent)
    const spent = whole === null || whole.goal.phase !== 'active' ? null : usedUp(whole, whole.used)
    if (spent === null || whole === null) return false
    block(agent, whole, spent)
    return true
  }

  /** What came in for the step waits for the next turn. It is put back at rest, where it begins none by itself. */
  function heldBack(lane: Lane, messages: readonly UserMessage[]): PreStepDecision {
    lane.held = [...lane.held, ...messages]
    return { kind: 'reject' }
  }

  return {
    status(agent, status) {
      if (isClosed || status !== 'idle') return
      const lane = lanes.get(agent)
      if (lane !== undefined) rested(lane)
    },

    changed(agent) {
      if (isClosed) return
      const lane = laneOf(agent)
      lane.owesCheckpoint = true
      const { reservation } = lane
      if (reservation !== null && !hasBegun(agent, reservation) && obstacle(lane, reservation) !== null) {
        reservation.isStale = true
        agent.queue.remove(reservation.message.id)
      }
      if (agent.status === 'idle') pass(lane)
    },

    inserted(agent, message) {
      const reservation = lanes.get(agent)?.reservation
      if (reservation == null || !isPersons(message) || hasBegun(agent, reservation)) return
      reservation.isStale = true
      // The person's turn comes at once, not behind one that would be empty. A step that took the round up drops it itself.
      agent.queue.remove(reservation.message.id)
    },

    failed(agent) {
      const lane = lanes.get(agent)
      if (lane !== undefined) lane.hasFailed = true
    },

    spent(agent) {
      const lane = lanes.get(agent)
      if (lane !== undefined && !isClosed && agent.status === 'idle') pass(lane)
    },

    async preStep(place, next) {
      const { agent } = place
      const lane = lanes.get(agent)
      if (lane === undefined) return await next()
      const own = place.messages.find(isRound)
      if (own === undefined) return (await isOverBudget(agent, place.messages)) ? heldBack(lane, place.messages) : await next()
      const reservation = lane.reservation?.message.id === own.id ? lane.reservation : null
      if (reservation !== null && place.messages.some(isPersons)) reservation.isStale = true
      const isValid = (): boolean => reservation !== null && lane.reservation === reservation && isSame(own, reservation.message) && obstacle(lane, reservation) === null
      const wasValid = isValid()
      const decision = await next()
      const isStillValid = wasValid && isValid()
      const entering = decision.kind === 'enter' ? decision.messages : []
      const hasIt = entering.filter(isRound).length === 1 && entering.some((message) => isSame(message, own))
      // Until its message stands in the log a cancel can still give it back.
      if (isStillValid && hasIt) return decision
      lane.reservation = null
      // It had its right, and another listener kept it out or made something else of it: a next try would end the same way.
      const state = isStillValid ? read(agent) : null
      if (state !== null) block(agent, state, { code: 'prompt-rejected', message: 'A hook or another listener did not let the message of the round in as it was.' })
      return decision.kind === 'reject' ? decision : { ...decision, messages: entering.filter((message) => !isRound(message)) }
    },

    dropLeft(agent) {
      if (agent.session.access !== 'write') return
      for (const message of [...agent.inbox.nextTurn, ...agent.inbox.nextStep]) if (isRound(message)) agent.queue.remove(message.id)
    },

    forget: (agent) => void lanes.delete(agent),

    async close() {
      isClosed = true
      const stopping = agents.list().filter((agent) => {
        const lane = lanes.get(agent)
        if (lane === undefined) return false
        const { reservation } = lane
        lane.reservation = null
        goals.disarm(agent)
        const { turn } = goals.ledger(agent.session)
        if (reservation !== null && !agent.isDisposed) agent.queue.remove(reservation.message.id)
        return agent.status === 'running' && (reservation !== null || (turn.isOpen && turn.round !== null))
      })
      for (const agent of stopping) agent.cancel({ kind: 'parent' }, { keepInbox: true })
      await Promise.all(stopping.map((agent) => agent.whenIdle()))
    },
  }
}

type Going = GoalState & { readonly activation: 'armed'; readonly heldBy: null }
const mayGoOn = (state: GoalState | null): state is Going => state !== null && state.goal.phase === 'active' && state.activation === 'armed' && state.heldBy === null

/** It goes on by itself, or does once the agents it waits for are at rest. */
const isGoing = (state: GoalState | null): state is GoalState & { readonly activation: 'armed' } => state !== null && state.goal.phase === 'active' && state.activation === 'armed' && (state.heldBy === null || state.heldBy === 'agents')

const isPersons = ({ source }: UserMessage): boolean => source.kind === 'user'
/** Both are frozen copies of one message, so their keys stand in the same order. */
const isSame = (one: UserMessage, other: UserMessage): boolean => JSON.stringify(one) === JSON.stringify(other)
const isRound = ({ source }: UserMessage): boolean => source.kind === 'goal'

/** Nothing went wrong, so the next round may follow. A step that was held back has had its say. */
const isGoodEnd = (end: string | null): boolean => end === 'completed' || end === 'blocked'
