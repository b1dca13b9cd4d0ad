import type { Kernel, Plugin } from '../../extension/core/kernel/plugin.ts'
import type { Preset } from '../../extension/core/presets/preset.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { ModelRequest } from '../../extension/core/model/contract.ts'
import type { ToolDefinition } from '../../extension/core/tools/definition.ts'
import { featureEvents } from '../../extension/features/event-types.ts'
import { jobsPlugin } from '../../extension/features/jobs/plugin.ts'
import { subagentsPlugin } from '../../extension/features/subagents/plugin.ts'
import type { ChildRequest, Subagents } from '../../extension/features/subagents/service.ts'
import { createFakeMachine } from './fake-machine.ts'
import { createLoopRig, prompt, settled, textOf, type LoopRig } from './loop-rig.ts'
import type { MemoryEventStore } from './memory-event-store.ts'
import type { SettingValues } from './memory-settings.ts'
import { createScriptedAdapter, type ScriptedAdapter, type ScriptedAnswer } from './scripted-adapter.ts'

/** Answers by the name that the newest task of a request is addressed to: `@name` anywhere in it. `root` is asked where nobody is named. Each answer serves once, the last one for ever. */
export type Minds = Readonly<Record<string, readonly ScriptedAnswer[]>>

export interface SubagentRig extends LoopRig {
  readonly subagents: Subagents
  readonly root: Agent
  /** What was asked for `@name`, in order. */
  asked(name: string): readonly ModelRequest[]
  /** A one-shot request of the root for `@name`. */
  request(name: string, more?: Partial<ChildRequest>): ChildRequest
  /** Say something to the root and wait until nothing is at work any more. */
  say(text: string): Promise<void>
  /** Until no agent is at work. */
  quiet(): Promise<void>
}

/** The real runtime of subagents on the real loop, pipeline, jobs and policy; several agents at once, each with a mind of its own. */
export async function createSubagentRig(options: {
  readonly minds?: Minds
  readonly settings?: SettingValues
  readonly store?: MemoryEventStore
  readonly tools?: readonly ToolDefinition[]
  /** After the subagents are there, before the root is. */
  readonly plugins?: readonly (Plugin | ((kernel: Kernel) => Plugin))[]
  /** The session of the root, in a store that has it. */
  readonly resume?: string
} = {}): Promise<SubagentRig> {
  const { minds = {}, tools = [] } = options
  const requests = new Map<string, ModelRequest[]>()
  const adapter = createMindAdapter(minds, requests)
  const rig = createLoopRig({
    adapter,
    tools,
    presets: [everything],
    ...(options.store && { store: options.store }),
    settings: { 'agent.defaultPreset': 'all', ...options.settings },
    prepare: (ctx) => void ctx.plugin(featureEvents),
  })
  const { ctx, kernel, clock, logger } = rig
  const machine = createFakeMachine({ randomId: ids('id') })
  await ctx.plugin(jobsPlugin({ clock, logger, machine, processes: { endLeftover: () => Promise.resolve('gone') } })).ready
  await ctx.plugin(subagentsPlugin({ dispatch: kernel.dispatch, clock, logger, machine: { randomId: ids('child') } })).ready
  for (const plugin of options.plugins ?? []) await ctx.plugin(typeof plugin === 'function' ? plugin(kernel) : plugin).ready
  const root = options.resume === undefined ? await rig.newAgent() : await rig.agents.resume(options.resume)
  const quiet = async () => {
    do {
      await settled()
      await Promise.all(rig.agents.list().map((agent) => agent.whenIdle()))
      await settled()
    } while (rig.agents.list().some(({ status }) => status === 'running'))
  }
  return {
    ...rig,
    subagents: ctx.subagents,
    root,
    asked: (name) => requests.get(name) ?? [],
    request: (name, more = {}) => ({ parent: root, provider: 'spawn', label: `work of ${name}`, prompt: `@${name} work`, purpose: { kind: 'subagent' }, signal: new AbortController().signal, ...more }),
    async say(text) {
      root.followup(prompt(text))
      await quiet()
    },
    quiet,
  }
}

const ids = (prefix: string) => {
  let count = 0
  return () => `${prefix}-${++count}`
}

function createMindAdapter(minds: Minds, requests: Map<string, ModelRequest[]>): ScriptedAdapter {
  const base = createScriptedAdapter()
  const served = new Map<string, number>()
  return {
    ...base,
    stream(request) {
      const name = request.messages.toReversed().flatMap((message) => (message.role === 'user' ? [/@(\w+)/.exec(textOf(message))?.[1] ?? ''] : [])).find((one) => one in minds) ?? ('root' in minds ? 'root' : undefined)
      if (name === undefined) throw new Error(`Nobody has a mind for ${JSON.stringify(request.messages.at(-1))}`)
      requests.set(name, [...(requests.get(name) ?? []), request])
      const count = served.get(name) ?? 0
      served.set(name, count + 1)
      const answers = minds[name] ?? []
      return createScriptedAdapter([answers[Math.min(count, answers.length - 1)] ?? []]).stream(request)
    },
  }
}

const everything: Preset = {
  id: 'all',
  name: 'All',
  description: 'For tests.',
  order: 0,
  presentation: 'native',
  tools: ['look', 'act', 'slow', 'bash', 'subagent', 'subagent_fork', 'list_agents', 'send_message', 'interrupt_agent', 'job_list', 'job_output', 'job_kill', 'ask_user_question', 'flat', 'front', 'odd', 'extra'],
  hasRuntimeContext: true,
}
