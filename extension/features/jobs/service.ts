import { HarnessError } from '../../base/harness-error.ts'
import type { Undo } from '../../base/undo.ts'
import type { Agent } from '../../core/session/agent.ts'

export type JobStatus = 'running' | 'stopping' | 'completed' | 'killed' | 'failed'

/** A background job as everybody may see it. `finishedAt` comes with a terminal status. Source: capability specification 12. */
export type Job = {
  readonly id: string
  /** What made it, such as `bash`; the first part of the id. */
  readonly kind: string
  readonly label: string
  readonly status: JobStatus
  /** Of a terminal status, such as `exit code: 1`. */
  readonly detail?: string
  readonly startedAt: number
  readonly finishedAt?: number
}

/** How work ended. `output` is for work without `readOutput`: it is given again on every read. */
export interface JobEnd {
  readonly status: 'completed' | 'killed' | 'failed'
  readonly detail?: string
  readonly output?: string
}

/** The work behind a job. Its life is its own: the call that started it may be cancelled without ending it. */
export interface JobWork {
  /** Ask it to stop; returns at once. A throw is reported to whoever asked and the job goes on. */
  cancel(reason?: string): void
  /** Settles when every resource is free again. Never rejects. */
  readonly done: Promise<JobEnd>
  /** What came since the last read, within the producer's own bounds. */
  readOutput?(): string
}

export interface JobSpec {
  readonly kind: string
  readonly label: string
  /** Nobody else can see it; absent: everybody can. */
  readonly owner?: Agent
  /** Starts the work once ownership and limits are settled. A throw means there is no job. */
  readonly run: (id: string) => JobWork
  /** UTF-8 bytes that the notice of its end may have. */
  readonly noticeLimitBytes?: number
}

/** Background jobs of this host, in memory; the log of the owner says which ones there were. */
export interface Jobs {
  /** Errors: `JobError` `JOB_LIMIT`, `OWNER_NOT_LIVE`, `DISPOSING`, and what `run` throws; nothing was started then. */
  start(spec: JobSpec): Job
  /** What `caller` may see, its own and the unowned, in the order they were started. */
  list(caller: Agent | undefined): readonly Job[]
  /** Every job, for the person. */
  all(): readonly (Job & { readonly owner?: Agent })[]
  /**
   * New output and the state. With `waitMs`, resolves when the job ends or the time is up. Reading an end reports it, so no notice follows.
   * Errors: `JobError` `UNKNOWN_JOB`, `FOREIGN_JOB`; `ToolError` `ABORTED` when `signal` fires while waiting; the job goes on then.
   */
  output(caller: Agent | undefined, id: string, options: { readonly waitMs?: number; readonly signal: AbortSignal }): Promise<{ readonly text: string; readonly job: Job }>
  /** Ask a job to stop; its output stays. Errors: `UNKNOWN_JOB`, `FOREIGN_JOB`, `CANCEL_FAILED`. */
  kill(caller: Agent | undefined, id: string, reason?: string): { readonly outcome: 'cancellation-requested' | 'already-finished'; readonly job: Job }
  onDidChange(listener: () => void): Undo
}

export type JobErrorCode = 'JOB_LIMIT' | 'OWNER_NOT_LIVE' | 'DISPOSING' | 'UNKNOWN_JOB' | 'FOREIGN_JOB' | 'CANCEL_FAILED'

export class JobError extends HarnessError<JobErrorCode> {}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    jobs: Jobs
  }
}
declare module '../../core/log/event.ts' {
  interface EventMap {
    /** `ignorable`. A job without `job/ended` did not outlive the host; the next resume says so. */
    'job/started': { readonly id: string; readonly kind: string; readonly label: string }
    /** `ignorable`. */
    'job/ended': { readonly id: string; readonly status: 'completed' | 'killed' | 'failed'; readonly detail?: string }
  }
}
