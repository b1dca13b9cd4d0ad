import type { Agents } from '../../core/loop/points.ts'
import type { BodyExecution } from '../../core/tools/definition.ts'
import { assertPersons, assertPersonsOrRounds, authorityOf, type GoalAuthority } from './authority.ts'
import { changesSince, MAX_DIFF_BYTES, type ChangesNeeds } from './changes.ts'
import { CHECK_TIMEOUT_MS, MAX_CHECK_OUTPUT, runChecks, type CheckNeeds } from './checks.ts'
import { GoalToolError } from './error.ts'
import type { CheckResult, GoalRef } from './events.ts'
import { MAX_OBJECTIVE_CHARS, MAX_REASON_CHARS, type GoalBook } from './goals.ts'
import { stuckRounds } from './ledger.ts'
import type { GoalState, NewGoal } from './service.ts'
import { MAX_CHECK_CHARS, MAX_CHECKS } from './terms.ts'
import { fieldsOf, refOf, type GoalUpdate } from './update.ts'
import { failedChecksText, wrapUpMessage } from './wrap-up.ts'

/** Caps of what a goal holds: UTF-16 units, items, ms, bytes. */
export interface GoalLimits {
  readonly objectiveChars: number
  readonly reasonChars: number
  readonly checks: number
  readonly checkChars: number
  readonly checkMs: number
  readonly checkOutputBytes: number
  readonly diffBytes: number
}

/** What the goal tools ask: the same goal, under the authority of the turn that calls. Source: agent tools specification 1.2 to 1.5. */
export interface GoalCalls {
  readonly limits: GoalLimits
  /** Errors: `GoalToolError` `GOAL_TOOL_AGENT_REQUIRED`, `GOAL_TOOL_DRIVER_REQUIRED`; `GoalError` `GOAL_LOG_CORRUPT`. */
  read(exec: BodyExecution): GoalState | null
  /** Errors: as `read`, and `GOAL_TOOL_AUTHORITY_REQUIRED`; those of `Goals.create`. */
  create(exec: BodyExecution, goal: NewGoal): GoalState
  /**
   * Errors: as `create`, and `GOAL_TOOL_INVALID_UPDATE`, `GOAL_TOOL_BLOCK_THRESHOLD`, `GOAL_TOOL_CHECK_FAILED`; those of `Goals`.
   * After an autonomous complete or blocked, a message that asks for the last account follows the result.
   */
  update(exec: BodyExecution, update: GoalUpdate): Promise<GoalState>
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    goalCalls: GoalCalls
  }
}

interface Needs extends CheckNeeds, ChangesNeeds {
  readonly agents: Pick<Agents, 'live' | 'initiator'>
  readonly goals: GoalBook
  readonly newId: () => string
  /** Rounds in a row that have to be stuck before one of them may block the goal. */
  readonly blockedAfterRounds: () => number
}

export function createGoalCalls({ agents, goals, newId, blockedAfterRounds, ...needs }: Needs): GoalCalls {
  const authority = ({ agent }: BodyExecution): GoalAuthority => authorityOf(agent, { agents, ledger: ({ session }) => goals.ledger(session) })

  /** All checks of the goal, before it may count as complete. None for a state that is not the current one: the change itself refuses that. */
  async function verify(exec: BodyExecution, { agent }: GoalAuthority, ref: GoalRef): Promise<readonly CheckResult[]> {
    const state = goals.read(agent.session)
    if (state === null || state.goal.id !== ref.id || state.goal.revision !== ref.revision || state.goal.phase === 'complete' || state.checks.length === 0) return []
    const results = await runChecks(state.checks, exec, { ...needs, errorsBefore: goals.ledger(agent.session).baseline.errors })
    goals.noteChecks(agent, ref, results)
    if (results.some(({ isOk }) => !isOk)) throw new GoalToolError('GOAL_TOOL_CHECK_FAILED', failedChecksText(results))
    return results
  }

  /**
   * The model's own word that it is blocked counts once as many rounds in a row were stuck: each reported it, or got nothing done
   * (no call of another tool succeeded). A word of the person, a change of the goal and a round with progress and no report begin anew.
   */
  function assertStuck({ agent }: GoalAuthority, ref: GoalRef): void {
    const known = goals.ledger(agent.session)
    const [stuck, needed] = [stuckRounds(known), blockedAfterRounds()]
    if (stuck >= needed) return
    const { goal, stuck: now } = known
    if (goal?.id === ref.id && goal.revision === ref.revision && now.round !== null && !now.round.isReported)
      agent.session.append({ type: 'goal/strike', ignorable: true, data: { goalId: goal.id, round: now.round.round } })
    throw new GoalToolError(
      'GOAL_TOOL_BLOCK_THRESHOLD',
      `Noted for this round. The goal counts as blocked once ${needed} rounds in a row report it or get nothing done; this is number ${stuck}. Try another way, or end the turn and report it again in the next round if it still holds.`,
    )
  }

  async function wrapUp(exec: BodyExecution, { agent, isPersons }: GoalAuthority, outcome: 'complete' | 'blocked', checks: readonly CheckResult[], firstTurn: number | null): Promise<void> {
    if (isPersons) return
    const changes = firstTurn === null ? null : await changesSince(agent.session, firstTurn, needs)
    exec.deferContext(wrapUpMessage(newId(), { outcome, checks, changes }))
  }

  return {
    limits: { objectiveChars: MAX_OBJECTIVE_CHARS, reasonChars: MAX_REASON_CHARS, checks: MAX_CHECKS, checkChars: MAX_CHECK_CHARS, checkMs: CHECK_TIMEOUT_MS, checkOutputBytes: MAX_CHECK_OUTPUT, diffBytes: MAX_DIFF_BYTES },

    read: (exec) => goals.read(authority(exec).agent.session),

    create(exec, goal) {
      const known = authority(exec)
      assertPersons(known, 'create a goal')
      return goals.create(known.agent, goal)
    },

    async update(exec, update) {
      const known = authority(exec)
      const { agent } = known
      const { action } = update
      const ref = refOf(update)
      if (action === 'complete' || action === 'blocked') assertPersonsOrRounds(known, `mark the goal as ${action}`)
      else assertPersons(known, `${action} the goal`)
      const { reason, ...fields } = fieldsOf(update)
      const { firstTurn } = goals.ledger(agent.session)
      switch (action) {
        case 'edit':
          return goals.edit(agent, ref, fields)
        case 'pause':
          return goals.pause(agent, ref)
        case 'resume':
          return goals.resume(agent, ref)
        case 'complete': {
          const checks = await verify(exec, known, ref)
          const state = goals.complete(agent, ref)
          await wrapUp(exec, known, 'complete', checks, firstTurn)
          return state
        }
        case 'blocked': {
          if (!known.isPersons) assertStuck(known, ref)
          const state = goals.block(agent, ref, { code: 'model-reported', message: reason ?? '' })
          await wrapUp(exec, known, 'blocked', state.checked ?? [], firstTurn)
          return state
        }
      }
    },
  }
}
