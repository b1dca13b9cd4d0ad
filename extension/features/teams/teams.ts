import { Emitter } from '../../base/emitter.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Context } from '../../core/kernel/plugin.ts'
import type { Agent } from '../../core/session/agent.ts'
import type {} from '../subagents/service.ts'
import { isTeamAskedFor } from './asked-for.ts'
import { TeamError } from './error.ts'
import { teamLimits } from './limits.ts'
import { receivedProjection, type Received } from './received.ts'
import type { TeamRole, Teams } from './service.ts'
import { Team } from './team.ts'

export interface TeamsNeeds {
  readonly ctx: Context
  readonly clock: Clock
  readonly logger: Logger
  readonly newId: () => string
  readonly workspace: Pick<Workspace, 'isTrusted'>
  /** The host goes after one turn: nobody is woken. */
  readonly isOneTurn: boolean
}

export interface TeamBook extends Teams {
  onCreated(agent: Agent): void
  onSessionStart(agent: Agent): void
  /** A member became live or not, or went to work or to rest. */
  onStatus(agent: Agent): void
  onDisposing(agent: Agent): Promise<void>
  onPresetSelected(sessionId: string): void
  /** What was held may be delivered now. */
  resume(): void
  dispose(): Promise<void>
}

/** By this a preset says that it has teams. */
const MARK = 'spawn_teammate'

/** The teams of this window, one for each Lead. */
export function createTeams({ ctx, clock, logger, newId, workspace, isOneTurn }: TeamsNeeds): TeamBook {
  const { agents, presets, sessions } = ctx
  const teams = new Map<Agent, Team>()
  const changes = new Emitter<string>((error) => logger.error('A listener for teams failed.', { error: String(error) }))

  const hasTeams = (agent: Agent): boolean => presets.presetOf(agent.scope)?.tools.includes(MARK) === true

  function teamFor(lead: Agent): Team {
    const known = teams.get(lead)
    if (known !== undefined) return known
    const team = new Team({
      lead, agents, clock, logger, newId, receivedBy,
      subagents: () => ctx.subagents,
      mayWake: () => !isOneTurn && workspace.isTrusted(),
      onDidChange: () => changes.emit(lead.id),
    })
    teams.set(lead, team)
    return team
  }

  async function receivedBy(sessionId: string): Promise<Received> {
    const live = sessions.live(sessionId)
    const value = live === undefined ? await sessions.valueOf(sessionId, receivedProjection.key) : live.projections().values[receivedProjection.key]
    // Only this unit has this key.
    return (value as Received | undefined) ?? receivedProjection.start()
  }

  /** The agent no agent started, and the one below it that stands above `agent` or is it. */
  function lineage(agent: Agent): { readonly root: Agent; readonly below: Agent | null } {
    let below: Agent | null = null
    let root = agent
    for (; root.owner !== undefined; root = root.owner) below = root
    return { root, below }
  }

  function roleOf(agent: Agent): TeamRole | null {
    if (!hasTeams(agent)) return null
    const { root, below } = lineage(agent)
    if (below === null) return { kind: 'lead', teamId: agent.id, name: 'lead' }
    const member = below === agent ? teams.get(root)?.member(agent.id) : undefined
    return member === undefined || member.phase === 'failed' ? { kind: 'helper', teamId: root.id } : { kind: 'teammate', teamId: root.id, name: member.name }
  }

  function teamOf(agent: Agent): Team {
    const role = roleOf(agent)
    if (role === null || role.kind === 'helper') throw new TeamError('TEAM_NOT_MEMBER', 'You are no member of a team here. Answer whoever started you with your last message.')
    return teamFor(lineage(agent).root)
  }

  function teamAsLead(agent: Agent, what: string): Team {
    const team = teamOf(agent)
    if (team.lead !== agent) throw new TeamError('TEAM_LEAD_REQUIRED', `Only the Lead may ${what}. Ask it by a message to lead.`)
    return team
  }

  function checkTimeout(timeoutMs: number): void {
    if (Number.isSafeInteger(timeoutMs) && timeoutMs >= teamLimits.minWaitMs && timeoutMs <= teamLimits.maxWaitMs) return
    throw new TeamError('TEAM_INVALID_TIMEOUT', `timeout_ms is ${timeoutMs}, and must be a whole number of milliseconds from ${teamLimits.minWaitMs} to ${teamLimits.maxWaitMs}.`)
  }

  function told(work: Promise<unknown>, team: Team): void {
    work.catch((error: unknown) => logger.warn('A team could not go on where it stood.', { team: team.lead.id, error: String(error) }))
  }

  /** The team of a member that is live under its Lead. */
  function teamOfMember(agent: Agent): Team | undefined {
    const team = agent.owner === undefined ? teams.get(agent) : teams.get(agent.owner)
    return team !== undefined && (team.lead === agent || team.member(agent.id) !== undefined) ? team : undefined
  }

  return {
    limits: teamLimits,
    roleOf,
    spawn: async (agent, request) => teamAsLead(agent, 'create teammates').spawn(request),
    roster: (agent) => teamOf(agent).roster(),
    send: async (agent, request) => teamOf(agent).send(agent, request),
    interrupt: (agent, target) => teamAsLead(agent, 'interrupt a teammate').interrupt(target),
    async wait(agent, request) {
      checkTimeout(request.timeoutMs)
      return teamOf(agent).wait(agent, request)
    },
    createTask: async (agent, task) => teamOf(agent).createTask(task),
    task: (agent, id) => teamOf(agent).task(id),
    tasks: (agent, filter) => teamOf(agent).tasks(filter),
    updateTask: async (agent, change) => teamOf(agent).updateTask(agent, change),
    isAskedFor: isTeamAskedFor,
    overview(sessionId) {
      const lead = agents.live(sessionId)
      if (lead === undefined || lead.owner !== undefined || !hasTeams(lead)) return null
      return teamFor(lead).overview()
    },
    activeScopes(agent) {
      const { root, below } = lineage(agent)
      const team = teams.get(root)
      if (team === undefined || team.isEmpty) return null
      return { memberId: below !== null && team.member(below.id) !== undefined ? below.id : root.id, active: team.activeScopes() }
    },
    allActiveScopes: () => [...teams.values()].flatMap((team) => (team.isAtWork ? team.activeScopes().map((one) => ({ ...one, folder: team.lead.session.header.cwd ?? '' })) : [])),
    onDidChange: (listener) => changes.listen(listener),

    onCreated(agent) {
      if (agent.owner === undefined && hasTeams(agent)) teamFor(agent)
    },
    onSessionStart(agent) {
      const team = teamOfMember(agent)
      if (team === undefined) return
      told(team.lead === agent ? team.start() : team.deliver(agent.id), team)
      if (team.lead !== agent) team.changed()
    },
    onStatus(agent) {
      const team = teamOfMember(agent)
      if (team !== undefined && !team.isEmpty) team.changed()
    },
    async onDisposing(agent) {
      const team = teams.get(agent)
      await team?.dispose()
      teams.delete(agent)
    },
    onPresetSelected(sessionId) {
      const agent = agents.live(sessionId)
      if (agent === undefined || agent.owner !== undefined) return
      if (hasTeams(agent)) teamFor(agent)
      else teams.delete(agent)
    },
    resume() {
      for (const team of teams.values()) told(team.start(), team)
    },
    async dispose() {
      await Promise.all([...teams.values()].map((team) => team.dispose()))
      teams.clear()
    },
  }
}
