import * as z from 'zod'
import type { SessionEvent } from '../../core/log/event.ts'
import type { Projection } from '../../core/projections/projection.ts'
import type { MemberOutcome, RunStopReason } from './events.ts'

/** A run as cards and its page show it. */
export type RunFacts = {
  readonly runId: string
  readonly name: string
  readonly kind: 'workflow' | 'ralph'
  readonly description: string
  readonly callId?: string
  readonly resumedFrom?: string
  readonly startedAt: number
  readonly endedAt?: number
  /** Absent while it runs, and of a run that a closing window cut off. */
  readonly stopReason?: RunStopReason
  readonly error?: string
  /** Titles that its meta announces, in order. */
  readonly plannedPhases: readonly string[]
  readonly members: readonly MemberFacts[]
  /** The newest lines. */
  readonly log: readonly { readonly at: number; readonly text: string; readonly isPhase?: true }[]
}

export type MemberFacts = {
  readonly seq: number
  readonly label: string
  readonly phase?: string
  readonly childId: string
  readonly startedAt: number
  readonly endedAt?: number
  readonly outcome?: MemberOutcome
  readonly isReused?: true
  /** Its result can be read. */
  readonly hasResult?: true
  /** Files that it changed; absent: none. */
  readonly files?: number
}

/** Runs and lines of each that are held; older ones stay in the log. */
const MAX_RUNS = 50
const MAX_LINES = 200

/** Every run of a session, newest last. */
export const workflowsProjection: Projection<readonly RunFacts[], readonly RunFacts[]> = {
  key: 'workflows',
  stateVersion: 2,
  schema: () =>
    z.array(
      z.strictObject({
        runId: z.string(),
        name: z.string(),
        kind: z.enum(['workflow', 'ralph']),
        description: z.string(),
        callId: z.string().exactOptional(),
        resumedFrom: z.string().exactOptional(),
        startedAt: z.number(),
        endedAt: z.number().exactOptional(),
        stopReason: z.enum(['completed', 'error', 'cancelled']).exactOptional(),
        error: z.string().exactOptional(),
        plannedPhases: z.array(z.string()),
        members: z.array(
          z.strictObject({
            seq: z.number(),
            label: z.string(),
            phase: z.string().exactOptional(),
            childId: z.string(),
            startedAt: z.number(),
            endedAt: z.number().exactOptional(),
            outcome: z.enum(['completed', 'failed', 'cancelled']).exactOptional(),
            isReused: z.literal(true).exactOptional(),
            hasResult: z.literal(true).exactOptional(),
            files: z.number().exactOptional(),
          }),
        ),
        log: z.array(z.strictObject({ at: z.number(), text: z.string(), isPhase: z.literal(true).exactOptional() })),
      }),
    ),
  start: () => [],
  step: stepRuns,
  view: (state) => state,
}

function stepRuns(runs: readonly RunFacts[], event: SessionEvent): readonly RunFacts[] {
  switch (event.type) {
    case 'tool-workflow/run-start': {
      const run: RunFacts = { runId: event.data.runId, name: event.data.name, kind: 'workflow', description: '', startedAt: event.time, plannedPhases: [], members: [], log: [] }
      return [...runs, run].slice(-MAX_RUNS)
    }
    case 'tool-workflow/plan': {
      const { kind, meta, callId, resumedFrom } = event.data
      return changed(runs, event.data.runId, () => ({
        kind,
        description: meta.description,
        plannedPhases: meta.phases?.map(({ title }) => title) ?? [],
        ...(callId !== undefined && { callId }),
        ...(resumedFrom !== undefined && { resumedFrom }),
      }))
    }
    case 'tool-workflow/phase':
    case 'tool-workflow/log': {
      const line = event.type === 'tool-workflow/phase' ? { at: event.time, text: event.data.title, isPhase: true as const } : { at: event.time, text: event.data.message }
      return changed(runs, event.data.runId, ({ log }) => ({ log: [...log, line].slice(-MAX_LINES) }))
    }
    case 'tool-workflow/agent-start': {
      const { runId, seq, label, phase, childId, isReused } = event.data
      // What was taken over was changed then.
      const files = isReused ? runs.flatMap(({ members }) => members).findLast((one) => one.childId === childId)?.files : undefined
      const member: MemberFacts = { seq, label, ...(phase !== undefined && { phase }), childId, startedAt: event.time, ...(isReused && { isReused: true, hasResult: true }), ...(files !== undefined && { files }) }
      return changed(runs, runId, ({ members }) => ({ members: [...members, member] }))
    }
    case 'tool-workflow/journal':
      return changedMember(runs, event.data, () => ({ hasResult: true }))
    case 'tool-workflow/changes':
      return changedMember(runs, event.data, () => ({ files: event.data.files }))
    case 'tool-workflow/agent-end':
      return changedMember(runs, event.data, () => ({ outcome: event.data.outcome, endedAt: event.time }))
    case 'tool-workflow/run-end': {
      const { runId, stopReason, error } = event.data
      return changed(runs, runId, () => ({ stopReason, endedAt: event.time, ...(error !== undefined && { error }) }))
    }
    default:
      return runs
  }
}

/** The newest runs are the ones that change, so they are looked at first. */
function changed(runs: readonly RunFacts[], runId: string, change: (run: RunFacts) => Partial<RunFacts>): readonly RunFacts[] {
  const at = runs.findLastIndex((run) => run.runId === runId)
  const run = runs[at]
  return run === undefined ? runs : runs.with(at, { ...run, ...change(run) })
}

const changedMember = (runs: readonly RunFacts[], { runId, seq }: { readonly runId: string; readonly seq: number }, change: () => Partial<MemberFacts>): readonly RunFacts[] =>
  changed(runs, runId, ({ members }) => {
    const at = members.findLastIndex((member) => member.seq === seq)
    const member = members[at]
    return member === undefined ? {} : { members: members.with(at, { ...member, ...change() }) }
  })
