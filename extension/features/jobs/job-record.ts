import { utf8Length } from '../../base/text.ts'
import { thrownText } from '../../base/thrown-text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Agent } from '../../core/session/agent.ts'
import { ToolError } from '../../core/tools/definition.ts'
import type { LinePattern } from './line-pattern.ts'
import { OutputLines } from './output-lines.ts'
import { portsIn, withPorts } from './ports.ts'
import { ProblemLines } from './problem-lines.ts'
import { JobError, type Job, type JobEnd, type JobNews, type JobPort, type JobSpec, type JobStatus, type JobTranscript, type JobWork, type RunningProgram } from './service.ts'
import { TreeWatch } from './tree-watch.ts'

/** Of one job, in which ports, problems and what it waits for are looked for. */
const MAX_LINES_A_SECOND = 5_000

/** What a record tells the book of jobs. */
export interface JobRecordEvents {
  readonly onEnd: (record: JobRecord) => void
  readonly onChange: () => void
  readonly onOutput: (text: string) => void
  readonly onProblems: () => void
  readonly onProgram: (program: RunningProgram) => void
  readonly onWaits: (how: 'known' | 'likely') => void
  readonly onMatch: (line: string) => void
}

/** A pattern with the words it was made from. */
export interface WakePattern {
  readonly source: string
  readonly line: LinePattern
}

/** One job: its work, what is known of it, and who has been told of its end. */
export class JobRecord {
  readonly id: string
  readonly spec: JobSpec
  isReported = false
  isTornDown = false
  isStoppedByPerson = false
  isPinned = false
  /** Lines that its pattern has matched. */
  matches = 0
  #status: JobStatus = 'running'
  #end: JobEnd | undefined
  #finishedAt: number | undefined
  #waiters = 0
  #second = 0
  #linesRead = 0
  #pid: number | undefined
  #ports: readonly JobPort[] = []
  #waits: 'known' | 'likely' | undefined
  readonly #restartOf: string | undefined
  readonly #clock: Clock
  readonly #work: JobWork
  readonly #startedAt: number
  readonly #settled: Promise<void>
  readonly #lines = new OutputLines()
  readonly #problems = new ProblemLines()
  readonly #watch: TreeWatch
  readonly #events: JobRecordEvents
  #pattern: WakePattern | null

  constructor(
    options: { readonly id: string; readonly spec: JobSpec; readonly clock: Clock; readonly pattern: WakePattern | null; readonly run: JobSpec['run']; readonly restartOf?: string },
    events: JobRecordEvents,
  ) {
    const { id, spec, clock, pattern, run, restartOf } = options
    this.id = id
    this.spec = spec
    this.#restartOf = restartOf
    this.#pattern = pattern
    this.#events = events
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#waits = spec.waitsForInput
    // News may come before the work is at hand, so nothing here asks the work at once.
    let takesInput = false
    this.#watch = new TreeWatch({
      clock,
      get takesInput() {
        return takesInput
      },
      ...(spec.waitsForInput && { waits: spec.waitsForInput }),
      lastLine: () => this.#lines.unfinished,
      onWaits: (how) => this.#noteWaits(how),
      onFacts: ({ ports }) => this.#notePorts((ports ?? []).map((port) => ({ port }))),
    })
    this.#work = run(id, this.#news())
    takesInput = this.#work.sendInput !== undefined
    this.#settled = this.#work.done
      .catch((error: unknown): JobEnd => ({ status: 'failed', detail: thrownText(error) ?? 'it failed with a value that has no text' }))
      .then((end) => {
        this.#end = end
        this.#watch.end()
        // Whoever waits gets the end as its answer.
        if (this.#waiters > 0) this.isReported = true
        events.onEnd(this)
      })
  }

  get owner(): Agent | undefined {
    return this.spec.owner
  }

  get isLive(): boolean {
    return this.#status === 'running' || this.#status === 'stopping'
  }

  get job(): Job {
    const { kind, label, restart, movedFromCall } = this.spec
    const { cwd } = this.#work
    const detail = this.isLive ? undefined : this.#end?.detail
    const logPath = this.#work.logPath?.()
    const problems = this.#problems.problems
    return {
      id: this.id,
      kind,
      label,
      status: this.#status,
      ...(detail !== undefined && { detail }),
      ...(!this.isLive && this.#end?.exitCode !== undefined && { exitCode: this.#end.exitCode }),
      ...(!this.isLive && this.#end?.signal !== undefined && { signal: this.#end.signal }),
      startedAt: this.#startedAt,
      ...(this.#finishedAt !== undefined && { finishedAt: this.#finishedAt }),
      ...(cwd !== undefined && { cwd }),
      ...(this.#pid !== undefined && { pid: this.#pid }),
      ...(this.#ports.length > 0 && { ports: this.#ports }),
      ...(problems.length > 0 && {
        problems: { errors: problems.filter(({ severity }) => severity === 'error').length, warnings: problems.filter(({ severity }) => severity === 'warning').length },
      }),
      ...(this.#work.sendInput && this.isLive && { takesInput: true }),
      ...(this.#waits && { waitsForInput: this.#waits }),
      ...(this.#pattern && this.isLive && { wakesAt: this.#pattern.source }),
      ...(this.isPinned && { isPinned: true }),
      ...(restart && { canRestart: true }),
      ...(this.#restartOf !== undefined && { restartOf: this.#restartOf }),
      ...(movedFromCall !== undefined && { movedFromCall }),
      ...(logPath !== undefined && { logPath }),
    }
  }

  get problems(): ProblemLines['problems'] {
    return this.#problems.problems
  }

  transcript(): JobTranscript {
    return this.#work.transcript?.() ?? { text: this.#end?.output ?? '', omittedBytes: 0 }
  }

  get heldBytes(): number {
    return this.#work.heldBytes?.() ?? utf8Length(this.#end?.output ?? '')
  }

  finish(finishedAt: number): void {
    if (!this.isLive) return
    this.#status = this.#end?.status ?? 'failed'
    // A clock that was set back meanwhile ends nothing before it began.
    this.#finishedAt = Math.max(finishedAt, this.#startedAt)
  }

  read(): string {
    if (!this.isLive) this.isReported = true
    if (this.#work.readOutput) return this.#work.readOutput()
    return this.isLive ? '' : (this.#end?.output ?? '')
  }

  wakeWhen(pattern: WakePattern | null): void {
    this.#pattern = pattern
    this.matches = 0
  }

  requestStop(reason?: string): void {
    if (this.#status === 'running') {
      try {
        this.#work.cancel(reason)
      } catch (error) {
        throw new JobError('CANCEL_FAILED', `Job ${this.id} could not be stopped: ${thrownText(error) ?? 'it did not say why'}`, { cause: error })
      }
      this.#status = 'stopping'
    }
  }

  async sendInput(text: string): Promise<void> {
    if (!this.isLive || this.#work.sendInput === undefined) {
      throw new JobError('NO_INPUT', this.isLive ? `Job ${this.id} takes no input. Start the command with interactive to type to it.` : `Job ${this.id} has ended, so nothing can be typed to it.`)
    }
    await this.#work.sendInput(text)
    this.#watch.noteActivity()
  }

  async wait(clock: Clock, waitMs: number, signal: AbortSignal): Promise<void> {
    const { promise: deadline, resolve, reject } = Promise.withResolvers<void>()
    const stop = clock.schedule(waitMs, resolve)
    const onAbort = () => reject(new ToolError('ABORTED', `Waiting for job ${this.id} was stopped; the job goes on.`))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort)
    this.#waiters += 1
    try {
      await Promise.race([this.#settled, deadline])
    } finally {
      this.#waiters -= 1
      stop()
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Resolves when it has ended. */
  async ended(): Promise<void> {
    await this.#settled
  }

  /** For an owner that goes: nobody is told, and the record ends even if its work cannot be stopped. */
  async tearDown(): Promise<void> {
    if (!this.isLive) return
    this.isTornDown = true
    try {
      if (this.#status === 'running') this.#work.cancel('its session ended')
      this.#status = 'stopping'
      await this.#settled
    } catch {
      // Only `cancel` throws here. The work is out of reach, so the record says failed rather than hang the disposal.
      this.#status = 'failed'
      this.#watch.end()
    }
  }

  #news(): JobNews {
    return {
      // A command that becomes a job runs already: its record has to be in the book first.
      started: (program) =>
        queueMicrotask(() => {
          if (!this.isLive || this.#end !== undefined) return
          this.#pid = program.pid
          this.#watch.started(program)
          this.#events.onProgram(program)
          this.#events.onChange()
        }),
      output: (text) => {
        if (!this.isLive) return
        this.#watch.noteActivity()
        this.#events.onOutput(text)
        this.#readLines(this.#lines.push(text, this.#linesLeft()))
      },
    }
  }

  /** How many lines may be looked at now: a flood must not keep the host busy. */
  #linesLeft(): number {
    const second = Math.floor(this.#clock.monotonicMs() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#linesRead = 0
    }
    return MAX_LINES_A_SECOND - this.#linesRead
  }

  #readLines(lines: readonly string[]): void {
    this.#linesRead += lines.length
    let hasNewProblems = false
    const found: JobPort[] = []
    for (const line of lines) {
      if (this.#problems.push(line)) hasNewProblems = true
      found.push(...portsIn(line))
      if (this.#pattern?.line.matches(line) === true) this.#events.onMatch(line)
    }
    this.#notePorts(found)
    if (!hasNewProblems) return
    this.#events.onProblems()
    this.#events.onChange()
  }

  #notePorts(found: readonly JobPort[]): void {
    const ports = withPorts(this.#ports, found)
    if (ports === this.#ports) return
    this.#ports = ports
    this.#events.onChange()
  }

  #noteWaits(how: 'known' | 'likely' | undefined): void {
    if (this.#waits === how) return
    this.#waits = how
    this.#events.onChange()
    if (how !== undefined) this.#events.onWaits(how)
  }
}
