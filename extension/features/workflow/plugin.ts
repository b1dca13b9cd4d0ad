import type { Clock } from '../../capabilities/clock.ts'
import type { CodeRuntime } from '../../capabilities/code-runtime.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Dispatcher, Plugin, ScopeKey } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/cost/ledger.ts'
import type {} from '../../core/policy/permissions.ts'
import type { Agent } from '../../core/session/agent.ts'
import type {} from '../checkpoints/service.ts'
import type {} from '../subagents/service.ts'
import { scriptEffect, type KnownCosts } from './preview.ts'
import { workflowsProjection, type RunFacts } from './projection.ts'
import { createWorkflows } from './workflows.ts'

export interface WorkflowNeeds {
  readonly codeRuntime: CodeRuntime
  readonly dispatch: Dispatcher
  readonly machine: Pick<Machine, 'randomId' | 'sha256'>
  readonly clock: Clock
  readonly logger: Logger
  readonly workspace: Pick<Workspace, 'isTrusted'>
  readonly settings: {
    readonly concurrency: () => number
    readonly maxTotalAgents: () => number
    readonly maxItemsPerCall: () => number
    readonly syncTimeoutMs: () => number
  }
}

/** How long children and script may take to end after a cancel. */
const DISPOSE_GRACE_MS = 5_000

/** Offers `workflows`, and says what a call of `workflow` is: a script that the person reads before its first run. */
export function workflowPlugin({ settings, ...needs }: WorkflowNeeds): Plugin {
  return {
    name: 'workflows',
    inject: ['projections', 'permissions', 'agents', 'subagents'],
    apply(ctx) {
      ctx.effect(ctx.projections.register(workflowsProjection))
      const { subagents, permissions } = ctx
      const workflows = createWorkflows({
        ...needs,
        subagents: () => subagents,
        changes: () => ctx.get('agentChanges'),
        limits: () => ({
          // The governor of all agents holds back what is more than may be at work.
          concurrency: settings.concurrency() === 0 ? Math.min(16, Math.max(1, subagents.governor.limits.maxConcurrent)) : settings.concurrency(),
          maxTotalAgents: settings.maxTotalAgents(),
          maxItemsPerCall: settings.maxItemsPerCall(),
          syncTimeoutMs: settings.syncTimeoutMs(),
          disposeGraceMs: DISPOSE_GRACE_MS,
        }),
      })
      ctx.provide('workflows', workflows)
      const byScope = new WeakMap<ScopeKey, Agent>()
      ctx.on('agent/created', (agent) => void byScope.set(agent.scope, agent))
      ctx.on('agent/disposing', (agent) => workflows.endRunsOf(agent))
      ctx.effect(permissions.declare('workflow', (args, scope) => {
        const agent = scope === null ? undefined : byScope.get(scope)
        return scriptEffect(args, { isKnown: (script) => agent !== undefined && workflows.isKnown(agent, script), costs: () => costsSoFar(agent), maxAgents: settings.maxTotalAgents() })
      }))
      /** Of agents that were really asked, as far as this process knows their price. */
      function costsSoFar(agent: Agent | undefined): KnownCosts {
        const runs = (agent?.session.projections().values[workflowsProjection.key] ?? []) as readonly RunFacts[]
        const amounts = runs.flatMap(({ members }) => members.flatMap(({ childId, isReused }) => (isReused ? [] : [ctx.get('costs')?.ownCost(childId)?.total.amount ?? 0]))).filter((amount) => amount > 0)
        return { agents: amounts.length, total: amounts.reduce((sum, amount) => sum + amount, 0) }
      }
      ctx.effect(permissions.declare('ralph', () => ({ kind: 'script', words: 'Let fresh agents work in rounds', why: '', isKnown: true })))
      return () => workflows.dispose()
    },
  }
}
