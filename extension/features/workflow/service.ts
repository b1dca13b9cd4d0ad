import type { Json } from '../../base/json.ts'
import type { Undo } from '../../base/undo.ts'
import type { Emit } from '../../core/kernel/plugin.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { MemberOutcome, RunStopReason } from './events.ts'
import type { WorkflowMeta } from './meta.ts'

export interface WorkflowRequest {
  readonly kind: 'workflow' | 'ralph'
  readonly agent: Agent
  readonly script: string
  /** Checked here. */
  readonly meta: Json
  readonly args?: Json | undefined
  /** Take the finished members of this run. Absent: those of the newest run of the same script and arguments, when that did not come to its end. */
  readonly resumeRunId?: string | undefined
  /** False never takes over anything. Default: true. */
  readonly mayResume?: boolean
  readonly callId?: string
  /** Durable records are for calls of the model, not for those that a program makes. */
  readonly isRecorded: boolean
  /** In the place of the settings' cap. */
  readonly maxTotalAgents?: number
  readonly signal: AbortSignal
}

export interface WorkflowOutcome {
  readonly runId: string
  /** Children that were really started: those whose result was taken over do not count. */
  readonly agentsStarted: number
  readonly result: Json
}

/** Runs scripts that start agents. Source: agent tools specification 7. */
export interface Workflows {
  /** What one run may take, and how much of its result a model reads, in UTF-16 units. */
  readonly limits: { readonly scriptChars: number; readonly textChars: number; readonly resultChars: number; readonly totalAgents: number; readonly itemsPerCall: number }
  /** What a model reads of a finished run. */
  textOf(name: string, outcome: Pick<WorkflowOutcome, 'agentsStarted' | 'result'>): string
  /**
   * Resolves with the end of the script, when every child is released.
   * Errors: `WorkflowError` `META_INVALID`, `SCRIPT_PARSE`, `NO_AGENT`, `NOT_TRUSTED`, `UNKNOWN_RUN`, `RUN_UNDER_WAY` before a run exists; then
   * `WORKFLOW_FAILED` or `WORKFLOW_CANCELLED`, whose cause is what ended it.
   */
  run(request: WorkflowRequest): Promise<WorkflowOutcome>
  /**
   * Begin a run that nobody waits for; the agent is told how it ended. `signal` counts until it has begun.
   * Errors: as `run`, before it begins.
   */
  start(request: WorkflowRequest): Promise<{ readonly runId: string }>
  /** For a person: run it again, asking only for members that are not finished; the model hears of the end. Errors: as `run`, before it begins. */
  resume(agent: Agent, runId: string): { readonly runId: string }
  /** False when it does not run. */
  cancel(runId: string, reason: string): boolean
  /** Runs of this process that are under way. */
  isRunning(runId: string): boolean
  /** The script of a run, from the log. */
  scriptOf(agent: Agent, runId: string): string | undefined
  /** The result of a finished member as text, from the log; undefined when there is none. */
  resultOf(agent: Agent, runId: string, seq: number): string | undefined
  /** It ran in this session before, so the person has read it. */
  isKnown(agent: Agent, script: string): boolean
  onDidChange(listener: () => void): Undo
}

interface News {
  readonly id: string
  readonly agent: Agent
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    workflows: Workflows
  }
  interface ExtensionPoints {
    'workflow/start': Emit<[news: News & { readonly meta: WorkflowMeta }]>
    'workflow/phase': Emit<[news: News & { readonly title: string }]>
    'workflow/log': Emit<[news: News & { readonly message: string }]>
    'workflow/agent-start': Emit<[news: News & { readonly seq: number; readonly label: string; readonly phase?: string; readonly childId: string }]>
    'workflow/agent-end': Emit<[news: News & { readonly seq: number; readonly label: string; readonly phase?: string; readonly childId: string; readonly outcome: MemberOutcome }]>
    'workflow/end': Emit<[news: News & { readonly stopReason: RunStopReason; readonly error?: string; readonly agentsStarted: number }]>
  }
}
