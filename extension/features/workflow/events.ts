import type { Json, JsonObject } from '../../base/json.ts'
import type { WorkflowMeta } from './meta.ts'

/** Paths that one record names. */
export const MAX_NAMED_PATHS = 200

export type MemberOutcome = 'completed' | 'failed' | 'cancelled'
export type RunStopReason = 'completed' | 'error' | 'cancelled'

/** What a run was asked to do, whole: from it the run can be made again. */
export interface RunPlan {
  readonly runId: string
  readonly kind: 'workflow' | 'ralph'
  readonly meta: WorkflowMeta
  readonly script: string
  readonly args?: Json
  readonly callId?: string
  /** The run whose finished members count for this one too. */
  readonly resumedFrom?: string
}

declare module '../../core/log/event.ts' {
  interface EventMap {
    'tool-workflow/run-start': { readonly runId: string; readonly name: string }
    'tool-workflow/agent-start': { readonly runId: string; readonly seq: number; readonly label: string; readonly phase?: string; readonly childId: string; /** Its result is that of an earlier run; nobody was asked. */ readonly isReused?: true }
    'tool-workflow/agent-end': { readonly runId: string; readonly seq: number; readonly outcome: MemberOutcome }
    /** Files that a member changed, by their paths, the first `MAX_NAMED_PATHS` of them; absent of one that changed none. */
    'tool-workflow/changes': { readonly runId: string; readonly seq: number; readonly files: number; readonly paths: readonly string[] }
    'tool-workflow/run-end': { readonly runId: string; readonly stopReason: RunStopReason; readonly error?: string }
    'tool-workflow/plan': RunPlan
    'tool-workflow/phase': { readonly runId: string; readonly title: string }
    'tool-workflow/log': { readonly runId: string; readonly message: string }
    /** The result of a finished member, under what it was asked: see `journal.ts`. */
    'tool-workflow/journal': { readonly runId: string; readonly seq: number; readonly key: string; readonly result: string | JsonObject }
  }
}
