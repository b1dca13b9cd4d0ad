import type { Context, Plugin, ScopeKey } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/policy/permissions.ts'
import type { ToolEffect } from '../../core/policy/tool-effects.ts'
import type {} from '../../core/presets/preset.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type { Agent } from '../../core/session/agent.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/jobs/service.ts'
import type {} from '../../features/subagents/service.ts'
import type {} from '../../features/teams/service.ts'
import { createSubagentTool, type SubagentToolOptions } from '../agents/subagent.ts'
import { createTeamInterruptAgent, createWaitAgent } from './control.ts'
import { createTeamListAgents } from './list-agents.ts'
import { createFollowupTask, createTeamSendMessage } from './messages.ts'
import { createSpawnTeammate } from './spawn-teammate.ts'
import { createTaskCreate, createTaskGet, createTaskList, createTaskUpdate } from './task-tools.ts'

/** Names that have another meaning outside of a team. */
const shadowed = ['list_agents', 'send_message', 'interrupt_agent'] as const
const inATeam = { needs: 'A member of a team, for whom it stands in the place of the usual one.', presets: ['team'] } as const
const inTeams = { list_agents: createTeamListAgents, send_message: createTeamSendMessage, interrupt_agent: createTeamInterruptAgent } as const
const own = ['spawn_teammate', 'followup_task', 'wait_agent', 'team_task_create', 'team_task_get', 'team_task_list', 'team_task_update'] as const
/** In a team they give one answer, and nobody below may delegate. Source: agent tools specification 8. */
const oneShot: readonly SubagentToolOptions[] = [
  { provider: 'spawn', toolName: 'subagent', maxDepth: 1 },
  { provider: 'fork', toolName: 'subagent_fork', maxDepth: 1 },
]

/**
 * Registers the tools of teams. Those with names of their own are there for presets that name them; those that shadow others are in
 * the layer of each member alone, so no layer ever has both. Who a member starts has none of them.
 */
export const teamTools: Plugin = {
  name: 'tools-teams',
  inject: ['tools', 'teams', 'subagents', 'systemPrompt', 'permissions', 'agents'],
  apply(ctx) {
    const { teams, permissions, subagents } = ctx
    for (const make of [createSpawnTeammate, createFollowupTask, createWaitAgent, createTaskCreate, createTaskGet, createTaskList, createTaskUpdate]) ctx.tools.register(make(teams))

    for (const name of shadowed) ctx.tools.declareAbsent({ ...inATeam, effects: [name === 'interrupt_agent' ? 'script' : 'none'] }, () => inTeams[name](teams))
    for (const options of oneShot) {
      const provider = subagents.provider(options.provider)
      if (provider !== undefined) ctx.tools.declareAbsent({ ...inATeam, effects: ['none'] }, () => createSubagentTool(options, { subagents, jobs: () => ctx.get('jobs'), provider }))
    }

    const byScope = new WeakMap<ScopeKey, Agent>()
    const isAskedFor = (scope: ScopeKey | null) => {
      const agent = scope === null ? undefined : byScope.get(scope)
      return agent !== undefined && teams.isAskedFor(agent.session)
    }
    ctx.effect(permissions.declare('spawn_teammate', (args, scope) => confirmed(`Create the teammate ${nameIn(args['name'])}`, textIn(args['description']), isAskedFor(scope))))

    const outfits = new WeakMap<Agent, readonly (() => void)[]>()
    const outfit = (agent: Agent) => {
      for (const undo of outfits.get(agent) ?? []) undo()
      byScope.set(agent.scope, agent)
      const role = teams.roleOf(agent)
      outfits.set(agent, role === null ? [] : outfitOf(ctx, agent, role.kind === 'helper', isAskedFor))
    }
    ctx.on('agent/created', outfit)
    ctx.on('agent-preset/selected', (sessionId) => {
      const agent = ctx.agents.live(sessionId)
      if (agent !== undefined) outfit(agent)
    })
  },
}

function outfitOf(ctx: Context, agent: Agent, isHelper: boolean, isAskedFor: (scope: ScopeKey | null) => boolean): readonly (() => void)[] {
  const { teams, subagents, tools, permissions } = ctx
  const layer = ctx.scoped(agent.scope)
  // What the preset, the person's settings or a missing trust hides stays hidden.
  const isSeen = (name: string) => tools.get(name, agent.scope) !== undefined
  const undos: (() => void)[] = []
  for (const options of oneShot) {
    const provider = subagents.provider(options.provider)
    if (provider === undefined || !isSeen(options.toolName)) continue
    undos.push(layer.tools.register(createSubagentTool(options, { subagents, jobs: () => ctx.get('jobs'), provider })))
    undos.push(permissions.declare(options.toolName, () => ({ kind: 'none' }), agent.scope))
  }
  if (isHelper) {
    const deny = [...shadowed, ...own].filter(isSeen)
    if (deny.length > 0) undos.push(layer.tools.restrict({ deny }))
    return undos
  }
  for (const name of shadowed.filter(isSeen)) {
    undos.push(layer.tools.register(inTeams[name](teams)))
    const effect = (args: Parameters<Parameters<typeof permissions.declare>[1]>[0], scope: ScopeKey | null): ToolEffect =>
      name === 'interrupt_agent' ? confirmed(`Interrupt the teammate ${nameIn(args['target'])}`, 'Its current turn ends; its mail and tasks stay', isAskedFor(scope)) : { kind: 'none' }
    undos.push(permissions.declare(name, effect, agent.scope))
  }
  return undos
}

/** What the person confirms, unless they asked for a team in the session. */
const confirmed = (words: string, why: string, isAskedFor: boolean): ToolEffect => ({ kind: 'script', words, why: why === '' ? '' : `${why}.`, isKnown: isAskedFor, settled: 'You asked for a team in this session.' })

const textIn = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 200).replace(/\.\s*$/, '') : '')
const nameIn = (value: unknown): string => `\`${(typeof value === 'string' ? value.slice(0, 64) : '').replaceAll('`', "'")}\``
