import type { Json } from '../../extension/base/json.ts'
import type { EventDraft } from '../../extension/core/log/event.ts'
import type { ApprovalAnswer, ApprovalRequest, Approvals } from '../../extension/core/policy/approval.ts'
import type { Preset } from '../../extension/core/presets/preset.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { BodyExecution, ToolResult } from '../../extension/core/tools/definition.ts'
import { featureEvents } from '../../extension/features/event-types.ts'
import { schedulesPlugin } from '../../extension/features/schedule/plugin.ts'
import type { Schedules } from '../../extension/features/schedule/service.ts'
import { scheduleTools } from '../../extension/tools/schedule/plugin.ts'
import { createFakeMachine } from './fake-machine.ts'
import { createLoopRig, settled, type LoopRig, type LoopRigOptions } from './loop-rig.ts'
import { createScriptedAdapter, sayText, type ScriptedAnswer } from './scripted-adapter.ts'

export interface ScheduleRig extends LoopRig {
  readonly schedules: Schedules
  readonly agent: Agent
  /** What the person is asked, and what they say next; none left means no. */
  readonly asked: Omit<ApprovalRequest, 'id'>[]
  readonly says: ApprovalAnswer[]
  trust(isTrusted: boolean): void
  /** Run a tool as the model does and give its value, or `error CODE`. */
  call(name: string, args: unknown, options?: { readonly agent?: Agent | null; readonly signal?: AbortSignal }): Promise<Json>
  run(name: string, args: unknown, options?: { readonly agent?: Agent | null; readonly signal?: AbortSignal }): Promise<ToolResult>
  /** The body of a tool alone, without the flush that the pipeline makes before it. Errors: what the body throws. */
  body(name: string, args: Json, signal?: AbortSignal): Promise<Json>
  /** Move the clock on and let everything happen that follows. */
  pass(ms: number): Promise<void>
  /** Everything that reached the model as a user's message, oldest first. */
  told(): readonly string[]
  /** The bare events of reminders in the log. */
  scheduleEvents(): readonly Json[]
  /** Close the window, go on with the same disk and clock, and open the session. `while`: how long it is closed. */
  restart(closedMs?: number): Promise<ScheduleRig>
}

const preset: Preset = { id: 'all', name: 'All', description: 'For tests.', order: 0, presentation: 'native', tools: ['schedule_create', 'schedule_list', 'schedule_delete'], hasRuntimeContext: false }

/** Reminders on the real loop, log and pipeline. `events` are in the log before the agent is made. */
export async function createScheduleRig(options: Pick<LoopRigOptions, 'store' | 'clock'> & { readonly answers?: readonly ScriptedAnswer[]; readonly events?: readonly EventDraft[]; readonly sessionId?: string; readonly isTrusted?: boolean; readonly isOneTurn?: boolean } = {}): Promise<ScheduleRig> {
  const asked: Omit<ApprovalRequest, 'id'>[] = []
  const says: ApprovalAnswer[] = []
  const trustListeners = new Set<() => void>()
  let isTrusted = options.isTrusted ?? true
  const answers = [...(options.answers ?? []), ...Array.from({ length: 200 }, () => sayText('Yes.'))]
  const rig = createLoopRig({
    adapter: createScriptedAdapter(answers),
    presets: [preset],
    ...(options.store && { store: options.store }),
    ...(options.clock && { clock: options.clock }),
    prepare(ctx) {
      ctx.provide('approvals', {
        async request(request: Omit<ApprovalRequest, 'id'>) {
          asked.push(request)
          return says.shift() ?? { outcome: 'rejected' as const }
        },
      } as unknown as Approvals)
      ctx.plugin(featureEvents)
    },
  })
  const { root } = rig.kernel
  root.plugin(
    schedulesPlugin({
      clock: rig.clock,
      logger: rig.logger,
      machine: createFakeMachine(),
      isOneTurn: options.isOneTurn === true,
      workspace: {
        isTrusted: () => isTrusted,
        onDidChangeTrust(listener) {
          trustListeners.add(listener)
          return () => void trustListeners.delete(listener)
        },
      },
    }),
  )
  root.plugin(scheduleTools)
  if (options.events !== undefined) {
    const session = await root.sessions.create({ cwd: '/project', agentPreset: 'all', id: 'seeded' })
    for (const event of options.events) session.append(event)
    await session.flush()
    await session.close()
  }
  const sessionId = options.sessionId ?? (options.events === undefined ? null : 'seeded')
  const agent = sessionId === null ? await root.agents.create({ cwd: '/project', preset: 'all' }) : await root.agents.resume(sessionId)
  let calls = 0
  const run: ScheduleRig['run'] = (name, args, given = {}) =>
    root.tools.execute({ callId: `call-${++calls}`, name, arguments: args, ...(given.agent !== null && { agent: given.agent ?? agent }), signal: given.signal ?? new AbortController().signal })
  const idle = async () => {
    for (let quiet = 0; quiet < 4; quiet += 1) {
      await settled()
      if (agent.status === 'running') {
        await agent.whenIdle()
        quiet = 0
      }
    }
  }
  await idle()
  return {
    ...rig,
    schedules: root.schedules,
    agent,
    asked,
    says,
    trust(next) {
      isTrusted = next
      for (const listener of trustListeners) listener()
    },
    run,
    async call(name, args, given) {
      const result = await run(name, args, given)
      return result.isError ? `error ${result.error.info?.code ?? result.error.message}` : result.value
    },
    async body(name, args, signal = new AbortController().signal) {
      const tool = root.tools.get(name)
      if (tool === undefined) throw new Error(`There is no tool ${name}.`)
      // What the bodies of these tools look at.
      const exec = { callId: 'body', name, arguments: args, agent, signal } as BodyExecution
      return (await tool.execute(args, exec)) as Json
    },
    async pass(ms) {
      rig.clock.advance(ms)
      await idle()
    },
    told: () => agent.session.messages().flatMap((message) => (message.role === 'user' ? [message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')] : [])),
    scheduleEvents: () => agent.session.events().flatMap(({ type, data }) => (type === 'schedule/change' || type === 'schedule/adjust' ? [{ type, ...data }] : [])),
    async restart(closedMs = 0) {
      await idle()
      await rig.kernel.dispose()
      rig.clock.advance(closedMs)
      return await createScheduleRig({ ...options, store: rig.store, clock: rig.clock, sessionId: agent.id, isTrusted })
    },
  }
}
