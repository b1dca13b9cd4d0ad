import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../extension/capabilities/clock.ts'
import type { EventStore } from '../../extension/capabilities/event-store.ts'
import type { SearchIndexHost } from '../../extension/capabilities/search-index.ts'
import type { EventDraft, EventType } from '../../extension/core/log/event.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { Session, Sessions } from '../../extension/core/session/session.ts'
import { sessionsPlugin } from '../../extension/core/session/sessions.ts'
import { settingsPlugin } from '../../extension/core/settings/service.ts'
import { timeOutGuard } from '../../extension/core/tools/guards/time-out.ts'
import type { ToolResult } from '../../extension/core/tools/definition.ts'
import { featureEvents } from '../../extension/features/event-types.ts'
import { historyPlugin } from '../../extension/features/history/plugin.ts'
import type { History } from '../../extension/features/history/service.ts'
import { todoEventTypes } from '../../extension/features/todo/events.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { SqliteIndex } from '../../extension/platform/node/search-index/sqlite-index.ts'
import { historyTools } from '../../extension/tools/history/plugin.ts'
import { createFakeAgent } from './fake-agent.ts'
import { createFakeMachine } from './fake-machine.ts'
import { createMemoryBlobStore } from './memory-blob-store.ts'
import { createMemoryEventStore, type MemoryEventStore } from './memory-event-store.ts'
import { memorySettings, type MemorySettings } from './memory-settings.ts'
import { realClock } from './real-clock.ts'
import { createToolBench, outcomeOf, textOf, type ToolBench } from './tool-bench.ts'

export interface HistoryRig {
  readonly bench: ToolBench
  readonly sessions: Sessions
  readonly history: History
  readonly events: MemoryEventStore
  readonly settings: MemorySettings
  /** A folder of this rig, links followed. */
  readonly folder: string
  /** The clock of sessions and events, epoch ms. */
  at: number
  talk(id: string, drafts: readonly EventDraft[], options?: { readonly cwd?: string; readonly parent?: string; readonly isOpen?: boolean }): Promise<Session>
  agentOf(session: Session): Agent
  /** The text the model reads, or the code of the failure. */
  ask(caller: Session | null, tool: string, args: object, signal?: AbortSignal): Promise<string>
  run(caller: Session | null, tool: string, args: object, signal?: AbortSignal): Promise<ToolResult>
  dispose(): Promise<void>
}

/** The real sessions, index and tools on a kernel of their own, over a store in memory. Every search looks at the stored sessions anew. */
export async function createHistoryRig(options: { readonly events?: MemoryEventStore; readonly index?: SearchIndexHost; readonly wrapEvents?: (events: EventStore) => EventStore; readonly timeOutMs?: number } = {}): Promise<HistoryRig> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'bosun-history-')))
  const rig = { at: Date.UTC(2026, 0, 1) }
  let monotonic = 0
  const clock: Clock = {
    now: () => rig.at,
    monotonicMs: () => (monotonic += 10_000),
    schedule: (delayMs, fire) => realClock.schedule(delayMs === 30_000 ? (options.timeOutMs ?? delayMs) : 0, fire),
  }
  const events = options.events ?? createMemoryEventStore({ now: () => rig.at })
  const bench = createToolBench()
  const { kernel, ctx, logger } = bench
  const settings = memorySettings()
  const store = options.wrapEvents?.(events) ?? events
  await bench.mount(settingsPlugin({ source: settings, logger, dispatch: kernel.dispatch }))
  await bench.mount(sessionsPlugin({ events: store, blobs: createMemoryBlobStore(), clock, machine: createFakeMachine(), logger, dispatch: kernel.dispatch }))
  await bench.mount(featureEvents)
  await bench.mount({
    name: 'todo-events',
    inject: ['eventTypes'],
    apply(plugin) {
      for (const [type, rules] of Object.entries(todoEventTypes)) plugin.effect(plugin.eventTypes.register(type as EventType, rules))
    },
  })
  await bench.mount(timeOutGuard({ clock }))
  const index = options.index ?? { isKeptUp: false, open: () => SqliteIndex.open({ folder: join(folder, 'index') }) }
  await bench.mount(historyPlugin({ events: store, files: new NodeFileSystem({ folders: () => [] }), index, clock, logger }))
  await bench.mount(historyTools)
  const agents = new Map<string, Agent>()
  const agentOf = (session: Session): Agent => {
    const agent = agents.get(session.id) ?? { ...createFakeAgent({ id: session.id }), session }
    agents.set(session.id, agent)
    return agent
  }
  const run: HistoryRig['run'] = (caller, tool, args, signal) => bench.run(tool, args, { agent: caller === null ? null : agentOf(caller), ...(signal && { signal }) })
  return Object.assign(rig, {
    bench,
    sessions: ctx.sessions,
    history: ctx.history,
    events,
    settings,
    folder,
    agentOf,
    run,
    async talk(id: string, drafts: readonly EventDraft[], { cwd = '/project', parent, isOpen = false }: { readonly cwd?: string; readonly parent?: string; readonly isOpen?: boolean } = {}) {
      const session = await ctx.sessions.create({ id, cwd, ...(parent !== undefined && { parentSession: parent, origin: 'subagent' as const }) })
      for (const draft of drafts) session.append(draft)
      await session.flush()
      if (!isOpen) await session.close()
      return session
    },
    async ask(caller: Session | null, tool: string, args: object, signal?: AbortSignal) {
      const result = await run(caller, tool, args, signal)
      if (!result.isError) return textOf(result)
      return String((outcomeOf(result) as { readonly code: string | null }).code)
    },
    async dispose() {
      await kernel.dispose()
      await rm(folder, { recursive: true, force: true })
    },
  })
}
