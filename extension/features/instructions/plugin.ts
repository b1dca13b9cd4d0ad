import { nameOf } from '../../base/folders.ts'
import { orAbort } from '../../base/or-abort.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import { isHarmless } from '../../core/policy/tool-effects.ts'
import type {} from '../../core/presets/preset.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import { settings } from '../../core/settings/specs.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../observation/service.ts'
import { AgentInstructions, type InstructionNeeds } from './agent-instructions.ts'
import type { InstructionReport } from './service.ts'

export interface InstructionsPluginNeeds extends Omit<InstructionNeeds, 'options'> {
  readonly workspace: Pick<Workspace, 'folders' | 'isTrusted' | 'onDidChangeTrust' | 'onDidChangeFolders' | 'onDidChangeFiles'>
  readonly logger: Logger
}

/**
 * Tells every model the standing instructions that the person keeps in files, after the prompt of a turn, once, and again what
 * changed. What was told is an event of the log; a replay reads no file.
 *
 * Offers `instructions`. A preset may do without.
 * Source: runtime specification 15.1.
 */
export function instructionsPlugin({ logger, workspace, ...world }: InstructionsPluginNeeds): Plugin {
  return {
    name: 'instructions',
    inject: ['settings', 'presets'],
    apply(ctx) {
      const options = () => ({
        files: ctx.settings.get(settings.instructionsFiles),
        alsoRead: ctx.settings.get(settings.instructionsAlsoRead),
        localFiles: ctx.settings.get(settings.instructionsLocalFiles),
        maxBytes: ctx.settings.get(settings.instructionsMaxBytes),
        rootMarkers: ctx.settings.get(settings.instructionsRootMarkers),
        sensitivePaths: ctx.settings.get(settings.permissionsSensitivePaths),
      })
      const needs: InstructionNeeds = { ...world, workspace, options }
      const sessions = new Map<Agent, AgentInstructions>()
      const of = (agent: Agent) => {
        const known = sessions.get(agent) ?? new AgentInstructions(agent.session, needs)
        sessions.set(agent, known)
        return known
      }
      const refreshAll = () => {
        for (const instructions of sessions.values()) instructions.refresh()
      }
      const names = () => new Set([...options().files, ...options().alsoRead, ...options().localFiles].map(nameOf))
      const doesWithout = (agent: Agent) => ctx.presets.presetOf(agent.scope)?.hasInstructions === false

      ctx.provide('instructions', {
        async report(asked): Promise<InstructionReport> {
          if ('cwd' in asked) return await new AgentInstructions(emptySession(asked.cwd), needs).report()
          const agent = ctx.get('agents')?.live(asked.session.id)
          if (agent === undefined) return await new AgentInstructions(asked.session, needs).report()
          const report = await of(agent).report()
          return doesWithout(agent) ? { ...report, rows: [], note: 'The preset of this conversation reads no instruction files.' } : report
        },
      })

      ctx.on('agent/pre-step', async ({ agent, step, signal }, next) => {
        const decision = await next()
        // A first step that nothing comes into may not take place; what is new waits for the next one.
        if (decision.kind !== 'enter' || (step === 1 && decision.messages.length === 0) || doesWithout(agent)) return decision
        const instructions = of(agent)
        if (step === 1) instructions.refresh()
        try {
          const message = await orAbort(instructions.next(signal), signal)
          return message === undefined ? decision : { ...decision, messages: [...decision.messages, message] }
        } catch (error) {
          signal.throwIfAborted()
          // The person's words go on without them; the next step tries again.
          logger.error('The instruction files could not be read.', { session: agent.id, error: String(error) })
          return decision
        }
      })
      ctx.on('fs/observed', ({ agent, target, version }) => {
        if (version === null) return
        if (agent !== undefined) sessions.get(agent)?.noteFile(target.path)
        if (names().has(nameOf(target.path))) refreshAll()
      })
      ctx.on('tools/result', ({ agent, name }) => {
        if (agent !== undefined && !isHarmless(name)) sessions.get(agent)?.noteEffect()
      })
      ctx.on('agent/disposed', (agent) => void sessions.delete(agent))
      ctx.effect(workspace.onDidChangeTrust(refreshAll))
      ctx.effect(workspace.onDidChangeFolders(refreshAll))

      let unwatch = watch()
      ctx.effect(() => unwatch())
      ctx.effect(
        ctx.settings.onDidChange((key) => {
          if (!key.startsWith('instructions.') && key !== settings.permissionsSensitivePaths.key) return
          unwatch()
          unwatch = watch()
          refreshAll()
        }),
      )

      function watch(): () => void {
        return workspace.onDidChangeFiles?.([...names()], refreshAll) ?? (() => {})
      }
    },
  }
}

/** A session in which nothing was said yet. */
const emptySession = (cwd: string): Pick<Session, 'header' | 'surface' | 'milestones'> => ({
  header: { version: 0, id: '', createdAt: 0, cwd },
  surface: () => ({ nodes: [], generation: 0 }),
  milestones: () => [],
})
