import { Emitter } from '../../base/emitter.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Context, Dispatcher } from '../../core/kernel/plugin.ts'
import type { SessionEvent } from '../../core/log/event.ts'
import type { Agent } from '../../core/session/agent.ts'
import { createCatalogue } from './catalogue.ts'
import { createChildBook } from './child-book.ts'
import { createChildEnds } from './child-ends.ts'
import { lineFrom } from './child-line.ts'
import { createChildStarts } from './child-starts.ts'
import type { GovernorBook } from './governor.ts'
import { createLetters } from './letters.ts'
import { subagentLimits } from './limits.ts'
import type { SubagentProvider, Subagents } from './service.ts'

export interface RuntimeParts {
  /** Global; children get their own through `scoped`. */
  readonly ctx: Context
  readonly dispatch: Dispatcher
  readonly clock: Clock
  readonly logger: Logger
  readonly newId: () => string
  readonly governor: GovernorBook
}

export interface SubagentRuntime extends Subagents {
  /** A step of an agent begins: a child waits here for its place. */
  beforeStep(agent: Agent, signal: AbortSignal): Promise<void>
  onStatus(agent: Agent, status: 'idle' | 'running'): void
  onEvent(sessionId: string, event: SessionEvent): void
  onDisposed(agent: Agent): void
  /** An agent goes: its children go before it. */
  endChildrenOf(agent: Agent): Promise<void>
  /** Whether anything of an agent is known here, at the cost of one look. */
  has(agentId: string): boolean
  dispose(): Promise<void>
}

/** Runs children of agents, as sessions of their own. Source: agent tools specification 6. */
export function createSubagents(parts: RuntimeParts): SubagentRuntime {
  const { ctx, clock, logger, governor } = parts
  const providers = new Map<string, SubagentProvider>()
  const providerChanges = new Emitter<void>((error) => logger.error('A listener of the providers of subagents failed.', { error: String(error) }))
  let isDraining = false
  const book = createChildBook({ clock, logger })
  const ends = createChildEnds({ ...parts, book })
  const starts = createChildStarts({ ...parts, book, ends, providers, isDraining: () => isDraining })
  const letters = createLetters({ ...parts, book, ends, starts, isDraining: () => isDraining })
  const { changes, children, starting, liveOf, factsOf, tellSoon } = book
  const { consider, settle } = ends
  const stopGovernor = governor.onDidChange(() => changes.emit())

  const catalogue = createCatalogue({
    sessions: ctx.sessions,
    projections: () => ctx.get('projections'),
    agents: () => ctx.agents,
    known: (id) => {
      const child = children.get(id)
      return child && factsOf(child)
    },
    all: () => [...children.values()].map(factsOf),
  })

  return {
    governor,
    limits: subagentLimits,
    registerProvider(provider) {
      if (providers.has(provider.name)) throw new Error(`A provider of agents named ${provider.name} is registered already.`)
      providers.set(provider.name, provider)
      providerChanges.emit()
      return () => {
        if (providers.get(provider.name) !== provider) return
        providers.delete(provider.name)
        providerChanges.emit()
      }
    },
    provider: (name) => providers.get(name),
    onDidChangeProviders: (listener) => providerChanges.listen(listener),
    start: starts.start,
    startContinuable: starts.startContinuable,
    send: letters.send,
    interrupt: letters.interrupt,
    report: letters.report,
    promote: letters.promote,
    catalogue: catalogue.entries,
    children: catalogue.children,
    hasAtWork: (parent) => liveOf(parent).length > 0 || starting.has(parent),
    known: () => [...children.values()].map(factsOf),
    facts(childId) {
      const child = children.get(childId)
      return child && factsOf(child)
    },
    onDidChange: (listener) => changes.listen(listener),

    has: (agentId) => children.has(agentId),
    async beforeStep(agent, signal) {
      const child = children.get(agent.id)
      if (child?.agent !== agent || governor.hasPlace(agent)) return
      child.isQueued = true
      changes.emit()
      try {
        await governor.ensure(agent, { signal, provider: ctx.agents.configurationOf(agent.id).provider })
      } finally {
        child.isQueued = false
        changes.emit()
      }
    },
    onStatus(agent, status) {
      const child = children.get(agent.id)
      if (child?.agent !== agent) return
      if (status === 'idle') {
        governor.rest(agent)
        consider(child)
      }
      changes.emit()
    },
    onEvent(sessionId, event) {
      const child = children.get(sessionId)
      if (child?.agent === undefined || child.end !== undefined) return
      const line = lineFrom(ctx.tools, child, event)
      if (line === undefined || line === child.lastLine) return
      child.lastLine = line
      if (event.type === 'assistant/chunk') tellSoon()
      else changes.emit()
    },
    onDisposed(agent) {
      const child = children.get(agent.id)
      if (child?.agent === agent) void settle(child)
    },
    async endChildrenOf(agent) {
      const live = liveOf(agent)
      // From the top: nobody goes on working for one that is stopped already.
      for (const child of live) child.agent?.cancel({ kind: 'parent' }, { keepInbox: true })
      await Promise.all(live.filter((child) => child.agent !== undefined).map((child) => settle(child)))
      // Whoever was on the way was told of it there, and has taken itself back; one that had just arrived goes too.
      await Promise.all([starts.ended([agent]), letters.whenResumed(agent)])
      await Promise.all(liveOf(agent).filter((child) => child.agent !== undefined).map((child) => settle(child)))
    },
    async dispose() {
      isDraining = true
      const live = () => [...children.values()].filter(({ end, agent }) => end === undefined && agent !== undefined)
      for (const child of live()) child.agent?.cancel({ kind: 'parent' }, { keepInbox: true })
      await Promise.all([starts.ended(), letters.whenResumed(), ...live().map((child) => settle(child))])
      await Promise.all(live().map((child) => settle(child)))
      book.dispose()
      stopGovernor()
      governor.dispose()
    },
  }
}
