import type { Clock } from '../../capabilities/clock.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { ProblemFeed } from '../../capabilities/problem-feed.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type {} from '../../core/cost/plugin.ts'
import type { Dispatcher, Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/projections/projection.ts'
import { settings as specs } from '../../core/settings/specs.ts'
import type {} from '../../core/settings/settings.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../checkpoints/service.ts'
import type {} from '../subagents/service.ts'
import { createGoalCalls } from './calls.ts'
import { knownErrors } from './checks.ts'
import { goalCommand } from './command.ts'
import { createGoalDriver } from './driver.ts'
import type {} from './events.ts'
import { createGoals } from './goals.ts'
import { goalLedgerProjection } from './ledger.ts'
import { goalProjection } from './projection.ts'

export interface GoalsPluginNeeds {
  readonly clock: Clock
  readonly files: Pick<FileSystem, 'resolve' | 'readText'>
  readonly logger: Logger
  readonly machine: Pick<Machine, 'randomId'>
  readonly workspace: Pick<Workspace, 'isTrusted' | 'onDidChangeTrust'>
  readonly dispatch: Dispatcher
  /** Absent where no editor is. */
  readonly problemFeed: ProblemFeed | undefined
  /** This program ends with the person's turn, so no round begins. */
  readonly isOneTurn: boolean
}

/** Offers `goals` and `goalCalls`, and keeps agents going towards theirs. Source: agent tools specification 1. */
export function goalsPlugin({ clock, files, logger, machine, workspace, dispatch, problemFeed, isOneTurn }: GoalsPluginNeeds): Plugin {
  return {
    name: 'goals',
    inject: ['agents', 'costs', 'projections', 'settings', 'tools'],
    apply(ctx) {
      ctx.effect(ctx.projections.register(goalLedgerProjection))
      ctx.effect(ctx.projections.register(goalProjection))
      const newId = () => machine.randomId()
      /** At rest itself while agents that it started are at work: what they say at their end comes before the next round. */
      const waitsForAgents = (sessionId: string): boolean => {
        const agent = ctx.agents.live(sessionId)
        return agent?.status === 'idle' && ctx.get('subagents')?.hasAtWork(agent) === true
      }
      const goals = createGoals({
        agents: ctx.agents,
        costs: ctx.costs,
        clock,
        machine,
        logger,
        dispatch,
        defaultMaxRounds: () => ctx.settings.get(specs.goalsDefaultMaxRounds),
        knowsErrors: problemFeed !== undefined,
        knownErrors: () => knownErrors(problemFeed),
        heldBy: (session) => (isOneTurn ? 'one-turn' : !workspace.isTrusted() ? 'untrusted' : waitsForAgents(session.id) ? 'agents' : null),
      })
      ctx.provide('goals', goals)
      ctx.provide(
        'goalCalls',
        createGoalCalls({
          agents: ctx.agents,
          goals,
          newId,
          tools: ctx.tools,
          clock,
          feed: problemFeed,
          files,
          reviews: () => ctx.get('reviews'),
          blockedAfterRounds: () => ctx.settings.get(specs.goalsBlockedAfterRounds),
        }),
      )
      const driver = createGoalDriver({ agents: ctx.agents, goals, newId, logger })
      ctx.effect(goals.onDidChange((agent) => driver.changed(agent)))
      ctx.effect(workspace.onDidChangeTrust(() => goals.noteHolds()))
      // Whoever listens behind it has the last word, and what they let in is judged again.
      ctx.on('agent/pre-step', (place, next) => driver.preStep(place, next), { prepend: true })
      ctx.on('agent/status', (agent, status) => {
        driver.status(agent, status)
        goals.noteHolds(agent)
      })
      ctx.plugin({ name: 'goals-agents', inject: ['subagents'], apply: (inner) => void inner.effect(inner.subagents.onDidChange(() => goals.noteHolds())) })
      ctx.on('session/event', ({ id }, event) => {
        if (event.type !== 'cost/estimated') return
        for (let owner = ctx.agents.live(id)?.owner; owner !== undefined; owner = owner.owner) driver.spent(owner)
      })
      ctx.on('agent/inbox/inserted', ({ agent, message }) => driver.inserted(agent, message))
      ctx.on('agent/error', ({ agent }) => driver.failed(agent))
      ctx.on('agent/session-start', (agent) => {
        goals.disarm(agent)
        driver.dropLeft(agent)
      })
      ctx.on('agent/disposing', (agent) => goals.disarm(agent))
      ctx.on('agent/disposed', (agent) => driver.forget(agent))
      ctx.on('session/access', (session) => {
        const agent = ctx.agents.live(session.id)
        if (agent !== undefined) goals.disarm(agent)
      })
      ctx.plugin(goalCommand({ goals }))
      return () => driver.close()
    },
  }
}
