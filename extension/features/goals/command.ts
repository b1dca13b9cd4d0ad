import { isHarnessError } from '../../base/harness-error.ts'
import type { CommandCall } from '../../core/commands/command.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type { Goals, GoalState } from './service.ts'

/** What was typed after `/goal`. Source: agent tools specification 1.7. */
export type GoalOrder =
  | { readonly kind: 'show' | 'clear' | 'pause' | 'resume' }
  | { readonly kind: 'create' | 'edit'; readonly objective: string }
  | { readonly kind: 'bad'; readonly problem: string }

/** The control words stand alone; anything else is an objective. */
export function goalOrder(args: string): GoalOrder {
  const typed = args.trim()
  const word = typed.toLowerCase()
  if (typed === '') return { kind: 'show' }
  if (word === 'clear' || word === 'pause' || word === 'resume') return { kind: word }
  if (word === 'edit') return { kind: 'bad', problem: 'Say the new objective after /goal edit.' }
  const [, objective] = /^edit\s+([\s\S]+)$/i.exec(typed) ?? []
  return objective === undefined ? { kind: 'create', objective: typed } : { kind: 'edit', objective }
}

/** `/goal`: see, set and steer what Bosun works towards by itself. */
export function goalCommand({ goals }: { readonly goals: Goals }): Plugin {
  return {
    name: 'goal-command',
    inject: ['commands'],
    apply(ctx) {
      ctx.commands.register({
        name: 'goal',
        description: 'Set a goal that Bosun works towards by itself, round after round.',
        input: { hint: 'what to reach, or edit …, pause, resume, clear', allowsImages: true },
        run(call) {
          const { args, images } = call
          const order = goalOrder(args)
          if (order.kind === 'bad') throw new Error(order.problem)
          if (images.length > 0 && order.kind !== 'create' && order.kind !== 'edit') throw new Error('Images go with a new or changed objective. Send them in a message, or say what to reach.')
          try {
            return { text: carriedOut(goals, call, order) }
          } catch (error) {
            if (isHarnessError(error)) throw new Error(`That is not possible as the goal stands: ${error.message}`, { cause: error })
            throw error
          }
        },
      })
    },
  }
}

function carriedOut(goals: Goals, { agent, images, send }: CommandCall, order: Exclude<GoalOrder, { kind: 'bad' }>): string {
  const state = goals.read(agent.session)
  switch (order.kind) {
    case 'show':
      return state === null ? 'There is no goal. Say what to reach after /goal.' : goalWords(state)
    case 'clear':
      if (state === null) return 'There is no goal.'
      goals.clear(agent, state.goal)
      return 'The goal is cleared.'
    case 'pause':
    case 'resume':
      return goalWords(goals[order.kind](agent, refOf(state)))
    case 'edit':
    case 'create': {
      const isNew = order.kind === 'create' || state?.goal.phase === 'complete'
      if (order.kind === 'edit' && state === null) refOf(state)
      if (isNew && state !== null && state.goal.phase !== 'complete') throw new Error(`There is an unfinished goal: ${state.goal.objective} Edit it with /goal edit, or clear it with /goal clear first.`)
      const next = isNew ? goals.create(agent, { objective: order.objective }) : goals.edit(agent, refOf(state), { objective: order.objective })
      // Before the next round: the driver lets whatever a person sends go first.
      if (images.length > 0) send(images, 'next-turn')
      return goalWords(next)
    }
  }
}

function refOf(state: GoalState | null): GoalState['goal'] {
  if (state === null) throw new Error('There is no goal. Say what to reach after /goal.')
  return state.goal
}

/** The goal in a few lines, for whoever reads the talk. */
function goalWords({ goal, activation, maxTokens, maxCost, maxMinutes, used, checks, heldBy }: GoalState): string {
  const standing = goal.phase !== 'active' ? goal.phase : activation === 'disarmed' ? 'active, waiting for you to resume it' : heldBy === 'untrusted' ? 'active, waiting for this folder to be trusted' : heldBy === 'agents' ? 'active, waiting for the agents at work' : 'active'
  const budgets = [
    ...(maxTokens === undefined ? [] : [`${count(used.tokens)} of ${count(maxTokens)} tokens`]),
    ...(maxCost === undefined ? [] : [`$${used.amount.toFixed(2)} of $${maxCost.toFixed(2)}`]),
    ...(maxMinutes === undefined ? [] : [`${count(Math.floor(used.minutes))} of ${count(maxMinutes)} minutes`]),
  ]
  return [
    `Goal (${standing}, round ${goal.roundsStarted} of ${goal.maxGoalRounds}): ${goal.objective}`,
    ...(goal.blockedReason === undefined ? [] : [`Blocked (${goal.blockedReason.code}): ${goal.blockedReason.message}`]),
    ...(budgets.length === 0 ? [] : [`Used: ${budgets.join(', ')}`]),
    ...(checks.length === 0 ? [] : [`Checks before it counts as complete: ${checks.join('; ')}`]),
  ].join('\n')
}

const count = (value: number): string => value.toLocaleString('en-US')
