import type { Machine } from '../../capabilities/machine.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/policy/permissions.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/jobs/service.ts'
import type { SubagentProvider } from '../../features/subagents/service.ts'
import { createInterruptAgent } from './interrupt-agent.ts'
import { createListAgents } from './list-agents.ts'
import { createReport } from './report.ts'
import { createSendMessage } from './send-message.ts'
import { createSubagentTool, type SubagentToolOptions } from './subagent.ts'

export interface AgentToolsOptions {
  readonly machine: Pick<Machine, 'randomId'>
  /** What `subagent_fork` starts in the background. */
  readonly forkMode: () => 'one-shot' | 'continuable'
}

/** Registers `list_agents`, `send_message`, `interrupt_agent`, `report` for children, and the tools that start agents in this process. */
export const agentTools = ({ machine, forkMode }: AgentToolsOptions): Plugin => ({
  name: 'tools-agents',
  inject: ['tools', 'subagents'],
  apply(ctx) {
    const newId = () => machine.randomId()
    for (const tool of [createListAgents(ctx.subagents), createSendMessage(ctx.subagents, newId), createInterruptAgent(ctx.subagents)]) ctx.tools.register(tool)
    ctx.plugin(subagentTool({ provider: 'spawn', toolName: 'subagent', backgroundMode: 'continuable' }))
    ctx.plugin(subagentTool({ provider: 'fork', toolName: 'subagent_fork', backgroundMode: forkMode() }))
    for (const [provider, toolName, needsWords] of foreign) ctx.plugin(subagentTool({ provider, toolName, maxDepth: 'provider-managed' }, needsWords))
    ctx.plugin(reportTool(newId))
  },
})

/** Coding agents that the person has installed; each is there while it is found and on. */
const foreign = [
  ['codex', 'subagent_codex', 'Codex on this machine, and the setting bosun.subagents.codex.enabled.'],
  ['claude-code', 'subagent_claude_code', 'Claude Code on this machine, and the setting bosun.subagents.claudeCode.enabled.'],
] as const

/** One tool that starts agents; it is there while its provider is. `needs` says of one that runs elsewhere what it takes. */
export const subagentTool = (options: SubagentToolOptions, needs?: string): Plugin => ({
  name: `tools-${options.toolName}`,
  inject: ['tools', 'subagents', 'systemPrompt'],
  apply(ctx) {
    const { toolName, backgroundMode } = options
    let held: { readonly provider: object | undefined; readonly undos: readonly (() => void)[] } | null = null
    const update = () => {
      const provider = ctx.subagents.provider(options.provider)
      if (held !== null && held.provider === provider) return
      for (const undo of held?.undos ?? []) undo()
      held = { provider, undos: [] }
      if (provider === undefined) {
        if (needs !== undefined) held = { provider, undos: [ctx.tools.declareAbsent({ needs }, () => createSubagentTool(options, { subagents: ctx.subagents, jobs: () => ctx.get('jobs'), provider: elsewhere(options.provider) }))] }
        return
      }
      const tool = createSubagentTool(options, { subagents: ctx.subagents, jobs: () => ctx.get('jobs'), provider })
      const undos = [ctx.tools.register(tool)]
      if (backgroundMode === 'continuable') undos.push(ctx.systemPrompt.section({ name: `tool:${toolName}`, order: 116.5, tools: [toolName], text: sideBySide(toolName) }))
      held = { provider, undos }
    }
    update()
    ctx.effect(ctx.subagents.onDidChangeProviders(update))
  },
})

/** A provider that would run agents as programs of their own, which cannot do what ours can. */
const elsewhere = (name: string): SubagentProvider => ({
  name,
  supports: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false, continuable: false },
  inheritsParentContext: false,
  isLocal: false,
})

const sideBySide = (toolName: string) =>
  `Start tasks that do not depend on each other with ${toolName} in one message and go on with your own work; you are told when one rests. Wait in the foreground only when your very next action needs the answer.`

/** `report` is a child's own, whatever its filter of tools says, from the next time it is made live. Source: agent tools specification 6.7. */
const reportTool = (newId: () => string): Plugin => ({
  name: 'tools-report',
  inject: ['tools', 'subagents', 'systemPrompt'],
  apply(ctx) {
    ctx.tools.declareAbsent({ needs: 'An agent that another one started and goes on talking to: each such agent has it for itself.', presets: [], effects: ['none'] }, () => createReport(ctx.subagents, newId))
    ctx.on('agent/created', (agent) => {
      const facts = ctx.subagents.facts(agent.id)
      // A teammate has the mail of its team.
      if (facts?.mode !== 'continuable' || facts.purpose.kind === 'team' || agent.owner === undefined) return
      const own = ctx.scoped(agent.scope)
      own.tools.register(createReport(ctx.subagents, newId))
      own.systemPrompt.section({ name: 'tool:report', order: 117, text: reportWords })
      const permissions = ctx.get('permissions')
      if (permissions) own.effect(permissions.declare('report', () => ({ kind: 'none' }), agent.scope))
    })
  },
})

const reportWords = 'Another agent started you. Call report when it should know something before you are done; your last message reaches it by itself.'
