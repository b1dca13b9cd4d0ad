import type { Json } from '../../extension/base/json.ts'
import { createCommandsPlugin } from '../../extension/core/commands/registry.ts'
import { createKernel } from '../../extension/core/kernel/kernel.ts'
import type { Context, Fiber, Kernel } from '../../extension/core/kernel/plugin.ts'
import type { EventDraft, SessionEvent } from '../../extension/core/log/event.ts'
import type { Message, UserMessage } from '../../extension/core/log/message.ts'
import { createAgentsPlugin } from '../../extension/core/loop/agents.ts'
import { durableTools } from '../../extension/core/loop/durable-tools.ts'
import type { Agents } from '../../extension/core/loop/points.ts'
import { createRetryPlugin } from '../../extension/core/loop/retry.ts'
import { modelsPlugin } from '../../extension/core/model/registry.ts'
import type { Preset } from '../../extension/core/presets/preset.ts'
import { createPresetsPlugin } from '../../extension/core/presets/service.ts'
import { createSystemPromptPlugin } from '../../extension/core/prompt/service.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { Session } from '../../extension/core/session/session.ts'
import { sessionsPlugin } from '../../extension/core/session/sessions.ts'
import { settingsPlugin } from '../../extension/core/settings/service.ts'
import type { BodyExecution, ToolDefinition } from '../../extension/core/tools/definition.ts'
import { createToolsPlugin } from '../../extension/core/tools/registry.ts'
import { createFakeMachine } from './fake-machine.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { createMemoryBlobStore } from './memory-blob-store.ts'
import { createMemoryEventStore, type MemoryEventStore } from './memory-event-store.ts'
import { memorySettings, type MemorySettings, type SettingValues } from './memory-settings.ts'
import { createRecordingLogger, type RecordingLogger } from './quiet-logger.ts'
import { createScriptedAdapter, type ScriptedAdapter, type ScriptedAnswer } from './scripted-adapter.ts'

export interface LoopRigOptions {
  readonly answers?: readonly ScriptedAnswer[]
  readonly adapter?: ScriptedAdapter
  readonly settings?: SettingValues
  /** An earlier rig's store: what a next start of the application finds. */
  readonly store?: MemoryEventStore
  /** An earlier rig's clock, which went on. */
  readonly clock?: ManualClock
  readonly tools?: readonly ToolDefinition[]
  readonly presets?: readonly Preset[]
  /** Before the agents are there. */
  readonly prepare?: (ctx: Context, kernel: Kernel) => void
}

export interface LoopRig {
  readonly kernel: Kernel
  readonly ctx: Context
  readonly agents: Agents
  readonly adapter: ScriptedAdapter
  readonly clock: ManualClock
  readonly store: MemoryEventStore
  readonly settings: MemorySettings
  readonly logger: RecordingLogger
  readonly loop: Fiber
  newAgent(preset?: string): Promise<Agent>
}

/** The real loop on the real kernel, log, pipeline and model registry. Only the model, the clock and the disk are fakes. */
export function createLoopRig(options: LoopRigOptions = {}): LoopRig {
  const { answers = [], settings: values = {}, tools = [], prepare } = options
  const logger = createRecordingLogger()
  const clock = options.clock ?? createManualClock()
  const store = options.store ?? createMemoryEventStore()
  const adapter = options.adapter ?? createScriptedAdapter(answers)
  const settings = memorySettings({ 'model.provider': 'scripted', 'model.name': 'm1', ...values })
  const kernel = createKernel({ logger })
  const { root, dispatch } = kernel
  const machine = createFakeMachine()
  root.plugin(settingsPlugin({ source: settings, logger, dispatch }))
  root.plugin(sessionsPlugin({ events: store, blobs: createMemoryBlobStore(), clock, logger, machine, dispatch }))
  root.plugin(createCommandsPlugin({ dispatch, machine, logger }))
  root.plugin(createToolsPlugin({ dispatch, randomId: machine.randomId }))
  root.plugin(modelsPlugin({ dispatch }))
  root.plugin(createSystemPromptPlugin({ dispatch }))
  root.plugin(createPresetsPlugin({ kernel, presets: options.presets ?? [testPreset] }))
  root.plugin(durableTools)
  root.plugin(createRetryPlugin({ clock, machine }))
  root.models.register(adapter)
  for (const tool of tools) root.tools.register(tool)
  prepare?.(root, kernel)
  const loop = root.plugin(createAgentsPlugin({ kernel, clock, logger, machine, blobs: createMemoryBlobStore() }))
  return {
    kernel,
    ctx: root,
    agents: root.agents,
    adapter,
    clock,
    store,
    settings,
    logger,
    loop,
    newAgent: (preset = 'all') => root.agents.create({ cwd: '/w', preset }),
  }
}

/** Shows every tool that a test registers under one of these names. */
export const testPreset: Preset = {
  id: 'all',
  name: 'All',
  description: 'For tests.',
  order: 0,
  presentation: 'native',
  tools: ['look', 'act', 'slow', 'end', 'fail', 'ask'],
  hasRuntimeContext: true,
}

export const prompt = (text: string, id = `prompt ${text}`): UserMessage => ({
  id,
  role: 'user',
  content: [{ type: 'text', text }],
  source: { kind: 'user' },
})

/** A tool that gives back its arguments as text, or does what `execute` says. */
export function fakeTool(
  name: string,
  execute: (args: Json, exec: BodyExecution) => unknown = (args) => JSON.stringify(args),
  more: Partial<ToolDefinition> = {},
): ToolDefinition {
  return {
    name,
    description: `Does ${name}.`,
    parameters: { type: 'object', properties: {} },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: textFrom(value) }] },
    execute,
    ...more,
  }
}

const textFrom = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value))

/** One line an event, for whole-log comparisons: chunks are left out. */
export function linesOf(session: Session): readonly string[] {
  return session.events().flatMap((event) => (event.type === 'assistant/chunk' ? [] : [lineOf(event)]))
}

export function lineOf(event: SessionEvent): string {
  switch (event.type) {
    case 'turn/start':
      return `turn ${event.data.turn}`
    case 'turn/end':
      return `end ${event.data.reason.kind}`
    case 'step/start':
      return `step ${event.data.step}`
    case 'step/end':
      return 'step end'
    case 'user/message':
      return `user ${textOf(event.data)}`
    case 'assistant/message':
      return `assistant${event.data.interrupted ? ' (cut)' : ''} ${textOf(event.data.message)}`
    case 'tool/call':
      return `call ${event.data.callId} ${event.data.name}`
    case 'tool/result':
      return `result ${event.data.message.source.callId} ${event.data.error?.code ?? (event.data.message.content[0].isError ? 'error' : 'ok')}`
    case 'request/header':
      return `header ${event.data.reason}`
    case 'request/context':
      return `context ${event.data.provider}/${event.data.model}`
    case 'agent/inbox/spliced': {
      const { target, start, removedCount = 0, inserted, outcome } = event.data
      return `inbox ${target} ${start} -${removedCount} +${inserted.map((message) => textOf(message)).join(',')}${outcome ? ` ${outcome}` : ''}`
    }
    case 'llm/retry':
      return `retry ${event.data.retry} in ${event.data.delayMs} for ${event.data.failure.code}`
    case 'llm/retry-started':
      return `retry ${event.data.retry} started`
    case 'turn/paused':
      return `paused at ${event.data.limit}`
    default:
      return event.type
  }
}

/** A message as words: text as it is, calls as `name(id)`. */
export function textOf({ content }: Message): string {
  return content
    .map((block) => {
      if (block.type === 'text' || block.type === 'reasoning') return block.text
      if (block.type === 'tool-call') return `${block.name}(${block.id})`
      if (block.type === 'tool-result') return block.content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('')
      return '[image]'
    })
    .join(' ')
}

/** The log breaks once, at the first event whose line begins so. */
export function failOnce(session: Session, line: string): void {
  const append = session.append.bind(session) as (draft: EventDraft) => SessionEvent
  let isBroken = true
  session.append = ((draft: EventDraft) => {
    if (isBroken && lineOf({ ...draft, seq: 0, time: 0 }).startsWith(line)) {
      isBroken = false
      throw new Error('defect')
    }
    return append(draft)
  }) as Session['append']
}

/** Let everything that is ready run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  return { opened, open }
}
