import { Emitter } from '../../base/emitter.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Agent } from '../../core/session/agent.ts'
import { ToolError } from '../../core/tools/definition.ts'
import { JobError, type Job, type JobEnd, type Jobs, type JobSpec, type JobStatus, type JobWork } from './service.ts'

export interface JobRuntime extends Jobs {
  /** The ids of a session that is back are taken; new ones go on after them. */
  reserve(ids: readonly string[]): void
  /** End the jobs of an agent that goes, and wait for them. */
  disposeOwner(owner: Agent): Promise<void>
  /** End all jobs and wait for them; no new one starts. */
  dispose(): Promise<void>
}

export interface JobRuntimeNeeds {
  readonly clock: Clock
  readonly logger: Logger
  /** Running and stopping jobs that one owner may have; the unowned count together. */
  readonly maxLive?: number
  /** Ended jobs of one owner that can still be read. */
  readonly maxEnded?: number
  /** A job started: log it. */
  readonly onStart: (owner: Agent | undefined, job: Job) => void
  /** A job ended by itself or by a kill, not because its owner went. `isReported`: whoever cares knows already. */
  readonly onEnd: (owner: Agent | undefined, job: Job, facts: { readonly isReported: boolean; readonly noticeLimitBytes?: number }) => void
}

const MAX_LIVE = 10
const MAX_ENDED = 50

/** The book of background jobs: who owns which, what may be read once, and that nothing is left behind. */
export function createJobs({ clock, logger, maxLive = MAX_LIVE, maxEnded = MAX_ENDED, onStart, onEnd }: JobRuntimeNeeds): JobRuntime {
  const records = new Map<string, JobRecord>()
  const counters = new Map<string, number>()
  const changes = new Emitter<void>((error) => logger.error('A listener of the jobs failed.', { error: String(error) }))
  let isDisposing = false

  const ownedBy = (owner: Agent | undefined) => [...records.values()].filter((record) => record.owner === owner)
  const find = (caller: Agent | undefined, id: string) => {
    const record = records.get(id)
    if (record === undefined) throw new JobError('UNKNOWN_JOB', `There is no job ${id}. List the jobs there are with job_list.`)
    if (record.owner !== undefined && record.owner !== caller) throw new JobError('FOREIGN_JOB', `Job ${id} belongs to another session.`)
    return record
  }
  const nextId = (kind: string) => {
    const count = (counters.get(kind) ?? 0) + 1
    counters.set(kind, count)
    return `${kind}-${count}`
  }
  const forgetOldest = (owner: Agent | undefined) => {
    const ended = ownedBy(owner).filter(({ isLive }) => !isLive)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - maxEnded))) records.delete(id)
  }
  const teardown = async (torn: readonly JobRecord[]) => {
    await Promise.all(torn.map((record) => record.tearDown()))
    for (const { id } of torn) records.delete(id)
    if (torn.length > 0) changes.emit()
  }

  return {
    start(spec) {
      if (isDisposing) throw new JobError('DISPOSING', 'Background jobs are being stopped; none can be started.')
      if (spec.owner?.isDisposed === true) throw new JobError('OWNER_NOT_LIVE', 'The session that wants a background job is not live any more.')
      const live = ownedBy(spec.owner).filter(({ isLive }) => isLive).length
      if (live >= maxLive)
        throw new JobError('JOB_LIMIT', `${live} background jobs are running, and no more are allowed. Wait for one with job_output, or stop one with job_kill.`)
      const id = nextId(spec.kind)
      const record = new JobRecord(id, spec, spec.run(id), clock.now(), (ended) => {
        ended.finish(clock.now())
        if (!ended.isTornDown) {
          onEnd(ended.owner, ended.job, { isReported: ended.isReported, ...(spec.noticeLimitBytes !== undefined && { noticeLimitBytes: spec.noticeLimitBytes }) })
          forgetOldest(ended.owner)
        }
        changes.emit()
      })
      records.set(id, record)
      onStart(spec.owner, record.job)
      changes.emit()
      return record.job
    },

    list: (caller) => [...records.values()].filter(({ owner }) => owner === undefined || owner === caller).map(({ job }) => job),
    all: () => [...records.values()].map(({ job, owner }) => ({ ...job, ...(owner && { owner }) })),

    async output(caller, id, { waitMs, signal }) {
      const record = find(caller, id)
      if (waitMs !== undefined && record.isLive) await record.wait(clock, waitMs, signal)
      return { text: record.read(), job: record.job }
    },

    kill(caller, id, reason) {
      const record = find(caller, id)
      if (!record.isLive) return { outcome: 'already-finished', job: record.job }
      record.requestStop(reason)
      changes.emit()
      return { outcome: 'cancellation-requested', job: record.job }
    },

    onDidChange: (listener) => changes.listen(listener),

    reserve(ids) {
      for (const id of ids) {
        const [, kind = '', number = ''] = /^(.+)-(\d+)$/.exec(id) ?? []
        if (kind !== '') counters.set(kind, Math.max(counters.get(kind) ?? 0, Number(number)))
      }
    },

    disposeOwner: (owner) => teardown(ownedBy(owner)),
    dispose() {
      isDisposing = true
      return teardown([...records.values()])
    },
  }
}

class JobRecord {
  readonly id: string
  readonly owner: Agent | undefined
  isReported = false
  isTornDown = false
  #status: JobStatus = 'running'
  #end: JobEnd | undefined
  #finishedAt: number | undefined
  #waiters = 0
  readonly #spec: JobSpec
  readonly #work: JobWork
  readonly #startedAt: number
  readonly #settled: Promise<void>

  constructor(id: string, spec: JobSpec, work: JobWork, startedAt: number, onEnd: (record: JobRecord) => void) {
    this.id = id
    this.owner = spec.owner
    this.#spec = spec
    this.#work = work
    this.#startedAt = startedAt
    this.#settled = work.done
      .catch((error: unknown): JobEnd => ({ status: 'failed', detail: error instanceof Error ? error.message : String(error) }))
      .then((end) => {
        this.#end = end
        // Whoever waits gets the end as its answer.
        if (this.#waiters > 0) this.isReported = true
        onEnd(this)
      })
  }

  get isLive(): boolean {
    return this.#status === 'running' || this.#status === 'stopping'
  }

  get job(): Job {
    const { kind, label } = this.#spec
    const detail = this.isLive ? undefined : this.#end?.detail
    return {
      id: this.id,
      kind,
      label,
      status: this.#status,
      ...(detail !== undefined && { detail }),
      startedAt: this.#startedAt,
      ...(this.#finishedAt !== undefined && { finishedAt: this.#finishedAt }),
    }
  }

  finish(finishedAt: number): void {
    if (!this.isLive) return
    this.#status = this.#end?.status ?? 'failed'
    this.#finishedAt = finishedAt
  }

  read(): string {
    if (!this.isLive) this.isReported = true
    if (this.#work.readOutput) return this.#work.readOutput()
    return this.isLive ? '' : (this.#end?.output ?? '')
  }

  requestStop(reason?: string): void {
    if (this.#status === 'running') {
      try {
        this.#work.cancel(reason)
      } catch (error) {
        throw new JobError('CANCEL_FAILED', `Job ${this.id} could not be stopped: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
      }
      this.#status = 'stopping'
    }
    this.isReported = true
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
    }
  }
}
