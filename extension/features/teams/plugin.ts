import type { Clock } from '../../capabilities/clock.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { ShellSyntax } from '../../capabilities/shell-syntax.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/policy/permissions.ts'
import type {} from '../../core/presets/preset.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import { settings } from '../../core/settings/specs.ts'
import type { PreExecuteAnswer, PreExecuteDecision } from '../../core/tools/definition.ts'
import type {} from '../subagents/service.ts'
import { policyText } from './policy-text.ts'
import { receivedProjection } from './received.ts'
import { createScopeGuard } from './scope-guard.ts'
import { createTeams } from './teams.ts'

export interface TeamsPluginNeeds {
  readonly clock: Clock
  readonly logger: Logger
  readonly machine: Pick<Machine, 'randomId' | 'platform' | 'homeFolder'>
  readonly files: Pick<FileSystem, 'resolve'>
  readonly shellSyntax: ShellSyntax
  readonly workspace: Pick<Workspace, 'isTrusted' | 'onDidChangeTrust'>
  readonly isOneTurn?: boolean
}

const decided = async (judging: Promise<PreExecuteDecision | null>, next: () => Promise<PreExecuteAnswer>): Promise<PreExecuteAnswer> => (await judging) ?? next()

/** Offers `teams` to sessions of presets that have them, tells members what they are, and holds them to the scopes of their tasks. */
export function teamsPlugin({ clock, logger, machine, files, shellSyntax, workspace, isOneTurn = false }: TeamsPluginNeeds): Plugin {
  return {
    name: 'teams',
    inject: ['agents', 'sessions', 'projections', 'presets', 'subagents', 'systemPrompt', 'permissions', 'settings', 'tools'],
    apply(ctx) {
      ctx.effect(ctx.projections.register(receivedProjection))
      const teams = createTeams({ ctx, clock, logger, newId: () => machine.randomId(), workspace, isOneTurn })
      ctx.provide('teams', teams)
      ctx.systemPrompt.section({ name: 'team:policy', order: 60, text: ({ agent }) => policyText(teams.roleOf(agent)) })

      const { permissions } = ctx
      const judge = createScopeGuard({ teams, permissions, files, shellSyntax, machine, logger, isEnforced: () => ctx.settings.get(settings.teamsWriteScopes) === 'deny' })
      ctx.on('tools/pre-execute', (exec, next) => {
        const judging = judge(exec)
        return judging === null ? next() : decided(judging, next)
      })

      ctx.on('agent/created', (agent) => teams.onCreated(agent))
      ctx.on('agent/session-start', (agent) => teams.onSessionStart(agent))
      ctx.on('agent/status', (agent) => teams.onStatus(agent))
      ctx.on('agent/disposed', (agent) => teams.onStatus(agent))
      ctx.on('agent/disposing', (agent) => teams.onDisposing(agent))
      ctx.on('agent-preset/selected', (sessionId) => teams.onPresetSelected(sessionId))
      ctx.effect(workspace.onDidChangeTrust(() => teams.resume()))
      return () => teams.dispose()
    },
  }
}
