import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { CodeRuntime } from '../../capabilities/code-runtime.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Fiber, Kernel, Plugin, ScopeKey } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/policy/approval.ts'
import type {} from '../../core/policy/permissions.ts'
import type { ApprovalAnswer } from '../../core/policy/approval.ts'
import type {} from '../../core/presets/preset.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type { Agent } from '../../core/session/agent.ts'
import { settings as specs } from '../../core/settings/specs.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../code-mode/service.ts'
import type {} from '../skills/service.ts'
import { createDynamicPlugins } from './book.ts'
import { pluginsCommand } from './command.ts'
import { createInspectors, type InspectNeeds } from './inspectors.ts'
import { bundledSkills } from './skills.ts'

export interface DynamicPluginsNeeds {
  readonly kernel: Pick<Kernel, 'dispatch' | 'services'>
  readonly codeRuntime: CodeRuntime
  readonly clock: Clock
  readonly machine: Pick<Machine, 'randomId'>
  readonly files: Pick<FileSystem, 'resolve' | 'readText' | 'writeText'>
  readonly blobs: Pick<BlobStore, 'spillFolder'>
  readonly logger: Logger
  readonly workspace: Pick<Workspace, 'isTrusted' | 'onDidChangeTrust'>
  /** Every extension point, for whoever inspects. */
  readonly points: InspectNeeds['points']
}

/** Offers `dynamicPlugins`: plugins that a model writes for its session, once the person turned them on, in folders that they trust. */
export function dynamicPluginsPlugin({ kernel, workspace, points, ...needs }: DynamicPluginsNeeds): Plugin {
  return {
    name: 'dynamic-plugins',
    inject: ['settings', 'tools', 'permissions', 'sessions'],
    apply(ctx) {
      const { settings, tools } = ctx
      const problem = (): string | undefined => {
        if (!settings.get(specs.dynamicPluginsEnabled)) return 'Plugins that a model writes are off. The setting bosun.dynamicPlugins.enabled turns them on.'
        return workspace.isTrusted() ? undefined : 'This folder is not trusted, so no plugins of a model run in it. They do once it is trusted in the editor.'
      }
      const book = createDynamicPlugins({
        ...needs,
        dispatch: kernel.dispatch,
        tools,
        codeMode: () => {
          const codeMode = ctx.get('codeMode')
          if (codeMode === undefined) throw new Error('Calls inside of a call are not there yet. Try again.')
          return codeMode
        },
        inspectors: createInspectors({ tools, presets: () => ctx.get('presets'), settings, services: () => kernel.services(), points }),
        mount: (agent, plugin) => ctx.scoped(agent.scope).plugin(plugin),
        ancestors: (sessionId) => ctx.sessions.ancestors(sessionId),
        problem,
      })
      ctx.provide('dynamicPlugins', book)

      const byScope = new WeakMap<ScopeKey, Agent>()
      ctx.on('agent/created', (agent) => void byScope.set(agent.scope, agent))
      ctx.on('agent/session-start', (agent, source) => {
        if (source === 'resume' && book.isEnabled) book.resume(agent)
      })
      ctx.on('agent/disposing', (agent) => book.endAllOf(agent, 'The session was closed.'))
      const agentAt = (scope: ScopeKey | null) => (scope === null ? undefined : byScope.get(scope))
      ctx.effect(ctx.permissions.declare('cordis_define', (_args, scope) => book.defineEffect(agentAt(scope))))
      ctx.effect(ctx.permissions.declare('cordis_run', (args, scope) => book.runEffect(agentAt(scope), args)))
      ctx.on(
        'approval/request',
        async (request, next) => {
          const asked = book.beginApproval(request)
          if (asked === undefined) return await next()
          let answer: ApprovalAnswer = { outcome: 'unavailable' }
          try {
            answer = await next()
            return answer
          } finally {
            // The stop that comes with a closing window is no answer.
            if (!request.agent.isDisposed) asked.settle(request.signal.aborted ? 'cancelled' : answer.outcome === 'allowed-once' ? 'allowed' : answer.outcome, answer.outcome === 'allowed-once' && answer.rule !== undefined)
          }
        },
        { prepend: true },
      )
      ctx.plugin(pluginsCommand(() => needs.machine.randomId()))

      let skills: Fiber | undefined
      const follow = () => {
        if (book.isEnabled) skills ??= ctx.plugin(bundledSkills)
        else {
          skills?.dispose().catch((error: unknown) => needs.logger.error('The skills for writing plugins could not be taken back.', { error: String(error) }))
          skills = undefined
          void book.turnOff(problem() ?? 'Plugins were turned off.')
        }
        book.problemChanged()
      }
      follow()
      ctx.effect(settings.onDidChange((key) => key === specs.dynamicPluginsEnabled.key && follow()))
      ctx.effect(workspace.onDidChangeTrust(follow))
      return () => book.endAll('Bosun is shutting down.')
    },
  }
}
