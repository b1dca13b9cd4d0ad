import type { Logger } from '../../capabilities/logger.ts'
import type { Dispatcher } from '../../core/kernel/plugin.ts'
import type { EventDraft, EventType } from '../../core/log/event.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { AgentRequest } from './agent-request.ts'
import { MAX_NAMED_PATHS, type MemberOutcome, type RunPlan, type RunStopReason } from './events.ts'
import type { KeptResult } from './journal.ts'
import type {} from './service.ts'

/** Tells what happens in one run: to listeners at once, to the log durably where the run is recorded. */
export interface RunRecord {
  begin(): Promise<void>
  phase(title: string): void
  log(message: string): void
  started(seq: number, request: AgentRequest, childId: string): void
  /** Resolves once the result is on the disk: only then may the script go on with it. */
  finished(seq: number, key: string, kept: KeptResult): Promise<void>
  /** Before its end. */
  changed(seq: number, paths: readonly string[]): void
  ended(seq: number, outcome: MemberOutcome): void
  reused(seq: number, request: AgentRequest, kept: KeptResult): void
  end(stopReason: RunStopReason, agentsStarted: number, error?: string): Promise<void>
}

/** The first append that fails ends the recording of this run, and nothing else of it. */
export function createRecord({ agent, plan, isRecorded, dispatch, logger }: { readonly agent: Agent; readonly plan: RunPlan; readonly isRecorded: boolean; readonly dispatch: Dispatcher; readonly logger: Logger }): RunRecord {
  const { runId, meta } = plan
  const { session, scope } = agent
  const news = { id: runId, agent }
  const members = new Map<number, { readonly request: AgentRequest; readonly childId: string }>()
  let writes = isRecorded

  function append<T extends EventType>(draft: EventDraft<T>): void {
    if (!writes) return
    try {
      session.append(draft)
    } catch (error) {
      stop(error)
    }
  }
  async function flush(): Promise<void> {
    if (!writes) return
    try {
      await session.flush()
    } catch (error) {
      stop(error)
    }
  }
  function stop(error: unknown): void {
    writes = false
    logger.warn('A workflow is not recorded any further.', { runId, error: String(error) })
  }
  const facts = (seq: number, { label, phase }: AgentRequest, childId: string) => ({ seq, label, ...(phase !== undefined && { phase }), childId })

  return {
    async begin() {
      append({ type: 'tool-workflow/run-start', data: { runId, name: meta.name }, ignorable: true })
      append({ type: 'tool-workflow/plan', data: plan, ignorable: true })
      await flush()
      dispatch.emit('workflow/start', scope, [{ ...news, meta }])
    },
    phase(title) {
      append({ type: 'tool-workflow/phase', data: { runId, title }, ignorable: true })
      dispatch.emit('workflow/phase', scope, [{ ...news, title }])
    },
    log(message) {
      append({ type: 'tool-workflow/log', data: { runId, message }, ignorable: true })
      dispatch.emit('workflow/log', scope, [{ ...news, message }])
    },
    started(seq, request, childId) {
      members.set(seq, { request, childId })
      append({ type: 'tool-workflow/agent-start', data: { runId, ...facts(seq, request, childId) }, ignorable: true })
      dispatch.emit('workflow/agent-start', scope, [{ ...news, ...facts(seq, request, childId) }])
    },
    async finished(seq, key, { result }) {
      append({ type: 'tool-workflow/journal', data: { runId, seq, key, result }, ignorable: true })
      await flush()
    },
    changed(seq, paths) {
      if (paths.length > 0) append({ type: 'tool-workflow/changes', data: { runId, seq, files: paths.length, paths: paths.slice(0, MAX_NAMED_PATHS) }, ignorable: true })
    },
    ended(seq, outcome) {
      const member = members.get(seq)
      if (member === undefined) return
      members.delete(seq)
      append({ type: 'tool-workflow/agent-end', data: { runId, seq, outcome }, ignorable: true })
      dispatch.emit('workflow/agent-end', scope, [{ ...news, ...facts(seq, member.request, member.childId), outcome }])
    },
    reused(seq, request, { childId }) {
      append({ type: 'tool-workflow/agent-start', data: { runId, ...facts(seq, request, childId), isReused: true }, ignorable: true })
      append({ type: 'tool-workflow/agent-end', data: { runId, seq, outcome: 'completed' }, ignorable: true })
    },
    async end(stopReason, agentsStarted, error) {
      // Every agent that was told of has one end.
      for (const seq of [...members.keys()]) this.ended(seq, 'cancelled')
      append({ type: 'tool-workflow/run-end', data: { runId, stopReason, ...(error !== undefined && { error }) }, ignorable: true })
      await flush()
      dispatch.emit('workflow/end', scope, [{ ...news, stopReason, ...(error !== undefined && { error }), agentsStarted }])
    },
  }
}
