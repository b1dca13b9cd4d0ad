import { HarnessError } from '../../base/harness-error.ts'
import type { Undo } from '../../base/undo.ts'
import type { RunningProcess } from '../../capabilities/process.ts'
import type { Agent } from '../../core/session/agent.ts'

export type JobStatus = 'running' | 'stopping' | 'completed' | 'killed' | 'failed'

/** What a job listens at. `url` is how its output named it; ports that only the system knows have none. */
export type JobPort = { readonly port: number; readonly url?: string }

/** One message of a compiler, linter or test that stood in the output of a job. */
export type JobProblem = {
  /** As printed; relative to the job's `cwd` unless absolute. */
  readonly path: string
  /** 1-based. */
  readonly line: number
  readonly column?: number
  readonly severity: 'error' | 'warning' | 'info'
  readonly message: string
  /** Such as `TS2322` or the name of a rule. */
  readonly code?: string
  /** Whose form it had: `tsc`, `eslint`, `gcc`, `output`. */
  readonly source: string
}

/** A background job as everybody may see it. `finishedAt` comes with a terminal status. Source: capability specification 12. */
export type Job = {
  readonly id: string
  /** What made it, such as `bash`; the first part of the id. */
  readonly kind: string
  readonly label: string
  readonly status: JobStatus
  /** Of a terminal status, such as `exit code: 1`. */
  readonly detail?: string
  /** Of a program that has ended; never both. */
  readonly exitCode?: number
  readonly signal?: string
  readonly startedAt: number
  readonly finishedAt?: number
  /** Where its program runs; absent for work that is no program. */
  readonly cwd?: string
  /** Once its program runs. */
  readonly pid?: number
  /** In the order they were seen; absent while there are none. */
  readonly ports?: readonly JobPort[]
  /** How many problems its output names now; absent while there are none. */
  readonly problems?: { readonly errors: number; readonly warnings: number }
  /** It takes text with `sendInput`. */
  readonly takesInput?: true
  /** Something of it waits for input: `known` when the system says so, else `likely`. */
  readonly waitsForInput?: 'known' | 'likely'
  /** The regular expression whose lines its owner is told of. */
  readonly wakesAt?: string
  /** Kept in the list after its end. */
  readonly isPinned?: true
  readonly canRestart?: true
  /** The job it was started again from. */
  readonly restartOf?: string
  /** The call whose running command became this job. */
  readonly movedFromCall?: string
  /** The file with all of its output, once that was more than memory holds. */
  readonly logPath?: string
}

/** What a job showed, both streams in the order they came, escape sequences included. */
export interface JobTranscript {
  readonly text: string
  /** Bytes of the middle that `text` leaves out. */
  readonly omittedBytes: number
}

/** How work ended. `output` is for work without `readOutput`: it is given again on every read. */
export interface JobEnd {
  readonly status: 'completed' | 'killed' | 'failed'
  readonly detail?: string
  readonly exitCode?: number
  readonly signal?: string
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
  /** For work that is a program. */
  readonly cwd?: string
  /** All that it showed, within the producer's own bounds; reading it consumes nothing. */
  transcript?(): JobTranscript
  logPath?(): string | undefined
  /** Of output, in memory. */
  heldBytes?(): number
  /** Text as it is; a line ends with a line feed, and U+0004 at the end says that no more comes. Absent: it takes none. */
  sendInput?(text: string): Promise<void>
}

/** Where a job's work tells what happens; calls after its end do nothing. */
export interface JobNews {
  /** Its program runs. */
  started(program: RunningProgram): void
  /** Decoded output of either stream, escape sequences included, as it comes. */
  output(text: string): void
}

/** What can be asked of a running program. */
export type RunningProgram = Pick<RunningProcess, 'pid' | 'inspect' | 'birth'>

export interface JobSpec {
  readonly kind: string
  readonly label: string
  /** Nobody else can see it; absent: everybody can. */
  readonly owner?: Agent
  /** Starts the work once ownership and limits are settled. A throw means there is no job. */
  readonly run: (id: string, news: JobNews) => JobWork
  /** The same work from its beginning; absent: it cannot be started again. */
  readonly restart?: JobSpec['run']
  /** UTF-8 bytes that the notice of its end may have. */
  readonly noticeLimitBytes?: number
  /** A regular expression; the owner is told of lines that match, at most a few times. Errors of `start`: `BAD_PATTERN`. */
  readonly wakeOn?: string
  readonly movedFromCall?: string
  /** Its owner knows already that it waits. */
  readonly waitsForInput?: 'known' | 'likely'
}

/** Whoever asks for a job: an agent, work without one, or the person, who may ask for every job. */
export type JobCaller = Agent | undefined | 'person'

/** Background jobs of this host, in memory; the log of the owner says which ones there were. */
export interface Jobs {
  /** Running and stopping jobs that one owner may have; the unowned count together. */
  readonly maxLive: number
  /** Turns that ends of jobs may start in a row while the person says nothing. */
  readonly maxConsecutiveWakes: number
  /** Errors: `JobError` `JOB_LIMIT`, `OWNER_NOT_LIVE`, `DISPOSING`, `BAD_PATTERN`, and what `run` throws; nothing was started then. */
  start(spec: JobSpec): Job
  /** What `caller` may see, its own and the unowned, in the order they were started. */
  list(caller: JobCaller): readonly Job[]
  /** Every job, for the person. */
  all(): readonly (Job & { readonly owner?: Agent })[]
  /**
   * New output and the state. With `waitMs`, resolves when the job ends or the time is up. Reading an end reports it, so no notice follows.
   * Errors: `JobError` `UNKNOWN_JOB`, `FOREIGN_JOB`; `ToolError` `ABORTED` when `signal` fires while waiting; the job goes on then.
   */
  output(caller: JobCaller, id: string, options: { readonly waitMs?: number; readonly signal: AbortSignal }): Promise<{ readonly text: string; readonly job: Job }>
  /** Ask a job to stop with all that it started; its output stays. A kill by the person is told to its owner. Errors: `UNKNOWN_JOB`, `FOREIGN_JOB`, `CANCEL_FAILED`. */
  kill(caller: JobCaller, id: string, reason?: string): { readonly outcome: 'cancellation-requested' | 'already-finished'; readonly job: Job }
  /** End it if it runs, and start the same work under a new id. Its owner is told when the person did it. Errors: as `kill` and `start`; `NOT_RESTARTABLE`. */
  restart(caller: JobCaller, id: string): Promise<Job>
  /** Type to it; a line ends with a line feed, and U+0004 at the end says that no more comes. Errors: `UNKNOWN_JOB`, `FOREIGN_JOB`, `NO_INPUT`. */
  sendInput(caller: JobCaller, id: string, text: string): Promise<void>
  /** Tell its owner of lines that match the regular expression from now on, in the place of any other; null: of none. Errors: `UNKNOWN_JOB`, `FOREIGN_JOB`, `BAD_PATTERN`. */
  wakeWhen(caller: JobCaller, id: string, pattern: string | null): Job
  /** Keep it in the list after its end, whatever else ends. Errors: `UNKNOWN_JOB`, `FOREIGN_JOB`, `PIN_LIMIT`. */
  pin(caller: JobCaller, id: string, isPinned: boolean): Job
  /** Take an ended job out of the list. Errors: `UNKNOWN_JOB`, `FOREIGN_JOB`, `STILL_RUNNING`. */
  forget(caller: JobCaller, id: string): void
  /** All that it showed, for the person; consumes nothing. Errors: `UNKNOWN_JOB`. */
  transcript(id: string): JobTranscript
  /** The problems its output names now. Errors: `UNKNOWN_JOB`. */
  problems(id: string): readonly JobProblem[]
  /** Jobs came, went or changed a fact. Not called for output alone. */
  onDidChange(listener: () => void): Undo
  /** Output as it comes, decoded, escape sequences included. */
  onDidOutput(listener: (news: { readonly id: string; readonly text: string }) => void): Undo
  /** The problems of a job are others now. */
  onDidChangeProblems(listener: (id: string) => void): Undo
  /** Commands that calls wait for right now. */
  readonly commands: RunningCommands
}

/** A command that a call waits for, as the person may see it. */
export type RunningCommand = {
  readonly sessionId: string
  readonly callId: string
  readonly label: string
  readonly cwd: string
  readonly startedAt: number
  readonly pid?: number
  readonly takesInput?: true
  readonly waitsForInput?: 'known' | 'likely'
  /** It can become a job. */
  readonly canMove?: true
}

/** The person's hand on commands that calls wait for. Every method gives false, or throws `UNKNOWN_COMMAND`, once the call has its result. */
export interface RunningCommands {
  list(sessionId?: string): readonly RunningCommand[]
  /** End this one command; its call returns what it wrote, and the turn goes on. */
  stop(sessionId: string, callId: string): boolean
  /** Let the command go on as a job; its call returns at once. Errors: `JobError` as `Jobs.start`, `UNKNOWN_COMMAND`, `NOT_MOVABLE`; the call waits on then. */
  moveToBackground(sessionId: string, callId: string): Job
  /** Errors: `UNKNOWN_COMMAND`, `NO_INPUT`. */
  sendInput(sessionId: string, callId: string, text: string): Promise<void>
  onDidChange(listener: () => void): Undo
  /** For tools: a call waits for this command until `end`. */
  track(command: TrackedCommand): CommandTracking
}

/** What a tool lets people do with its running command. */
export interface TrackedCommand {
  readonly sessionId: string
  readonly callId: string
  readonly label: string
  readonly cwd: string
  readonly stop: () => void
  /** Errors: as `Jobs.start`. Absent: it cannot become a job. */
  readonly moveToBackground?: () => Job
  readonly sendInput?: (text: string) => Promise<void>
  /** Called once, when something of it has waited for input for a while. */
  readonly onWaitsForInput?: (how: 'known' | 'likely') => void
}

export interface CommandTracking extends JobNews {
  end(): void
}

export type JobErrorCode =
  | 'JOB_LIMIT' | 'OWNER_NOT_LIVE' | 'DISPOSING' | 'UNKNOWN_JOB' | 'FOREIGN_JOB' | 'CANCEL_FAILED'
  | 'NOT_RESTARTABLE' | 'NO_INPUT' | 'PIN_LIMIT' | 'STILL_RUNNING' | 'UNKNOWN_COMMAND' | 'NOT_MOVABLE' | 'BAD_PATTERN'

export class JobError extends HarnessError<JobErrorCode> {}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    jobs: Jobs
  }
}
declare module '../../core/log/event.ts' {
  interface EventMap {
    /** `ignorable`. A job without `job/ended` did not outlive the host; the next resume says so. */
    'job/started': { readonly id: string; readonly kind: string; readonly label: string; readonly movedFromCall?: string; readonly restartOf?: string }
    /** `ignorable`. Its program runs. `birth` tells it from a later program with the same process id; absent where the system does not say. */
    'job/program': { readonly id: string; readonly pid: number; readonly startedAt: number; readonly birth?: string }
    /** `ignorable`. */
    'job/ended': { readonly id: string; readonly status: 'completed' | 'killed' | 'failed'; readonly detail?: string }
  }
}
