import { Emitter } from '../../base/emitter.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Agent } from '../../core/session/agent.ts'
import { JobRecord, type WakePattern } from './job-record.ts'
import { compileLinePattern } from './line-pattern.ts'
import { createRunningCommands } from './running-commands.ts'
import { JobError, type Job, type JobCaller, type Jobs, type JobSpec, type RunningProgram } from './service.ts'

export interface JobRuntime extends Omit<Jobs, 'maxConsecutiveWakes'> {
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
  /** Ended jobs of one owner that can still be read; pinned ones do not count. */
  readonly maxEnded?: number
  /** Output that the ended jobs of one owner may hold in memory, pinned ones included; the oldest not pinned goes first. */
  readonly maxEndedBytes?: number
  /** A job started: log it. */
  readonly onStart: (owner: Agent | undefined, job: Job) => void
  readonly onProgram: (owner: Agent | undefined, job: Job, program: RunningProgram) => void
  /** A job ended by itself or by a kill, not because its owner went. `isReported`: whoever cares knows already. */
  readonly onEnd: (owner: Agent | undefined, job: Job, facts: { readonly isReported: boolean; readonly isByPerson: boolean; readonly noticeLimitBytes?: number }) => void
  /** The person restarted it, which its owner has not seen. */
  readonly onRestart: (owner: Agent | undefined, before: Job, after: Job) => void
  /** It waits for input, and whoever started it does not know. */
  readonly onWaits: (owner: Agent | undefined, job: Job, how: 'known' | 'likely') => void
  /** A line matched the pattern of its job. `isLast`: no further one is told. */
  readonly onMatch: (owner: Agent | undefined, job: Job, line: string, isLast: boolean) => void
}

const MAX_LIVE = 10
const MAX_ENDED = 50
const MAX_ENDED_BYTES = 4 * 1024 * 1024
/** Of one owner. */
const MAX_PINNED = 10
/** Lines of one job that are told to its owner. */
export const MAX_MATCHES_TOLD = 5

/** The book of background jobs: who owns which, what may be read once, and that nothing is left behind. */
export function createJobs(needs: JobRuntimeNeeds): JobRuntime {
  const { clock, logger, maxLive = MAX_LIVE, maxEnded = MAX_ENDED, maxEndedBytes = MAX_ENDED_BYTES } = needs
  const records = new Map<string, JobRecord>()
  const counters = new Map<string, number>()
  const onError = (error: unknown) => logger.error('A listener of the jobs failed.', { error: String(error) })
  const changes = new Emitter<void>(onError)
  const outputs = new Emitter<{ readonly id: string; readonly text: string }>(onError)
  const problemChanges = new Emitter<string>(onError)
  const commands = createRunningCommands({ clock, onError })
  let isDisposing = false

  const ownedBy = (owner: Agent | undefined) => [...records.values()].filter((record) => record.owner === owner)
  const findAny = (id: string) => {
    const record = records.get(id)
    if (record === undefined) throw new JobError('UNKNOWN_JOB', `There is no job ${id}. List the jobs there are with job_list.`)
    return record
  }
  const find = (caller: JobCaller, id: string) => {
    const record = findAny(id)
    if (caller !== 'person' && record.owner !== undefined && record.owner !== caller) throw new JobError('FOREIGN_JOB', `Job ${id} belongs to another session.`)
    return record
  }
  const nextId = (kind: string) => {
    const count = (counters.get(kind) ?? 0) + 1
    counters.set(kind, count)
    return `${kind}-${count}`
  }
  const forgetOldest = (owner: Agent | undefined) => {
    const ended = ownedBy(owner).filter(({ isLive }) => !isLive)
    const loose = ended.filter(({ isPinned }) => !isPinned)
    let bytes = ended.reduce((sum, { heldBytes }) => sum + heldBytes, 0)
    let count = loose.length
    for (const record of loose) {
      if (count <= maxEnded && bytes <= maxEndedBytes) return
      count -= 1
      bytes -= record.heldBytes
      records.delete(record.id)
    }
  }
  const teardown = async (torn: readonly JobRecord[]) => {
    await Promise.all(torn.map((record) => record.tearDown()))
    for (const { id } of torn) records.delete(id)
    if (torn.length > 0) changes.emit()
  }

  function start(spec: JobSpec, run: JobSpec['run'] = spec.run, restartOf?: string): JobRecord {
    const { owner, noticeLimitBytes } = spec
    if (isDisposing) throw new JobError('DISPOSING', 'Background jobs are being stopped; none can be started.')
    if (owner?.isDisposed === true) throw new JobError('OWNER_NOT_LIVE', 'The session that wants a background job is not live any more.')
    const pattern = spec.wakeOn === undefined ? null : wakePattern(spec.wakeOn)
    const live = ownedBy(owner).filter(({ isLive }) => isLive).length
    if (live >= maxLive)
      throw new JobError('JOB_LIMIT', `${live} background jobs are running, and no more are allowed. Wait for one with job_output, or stop one with job_kill.`)
    const id = nextId(spec.kind)
    const record = new JobRecord(
      { id, spec, clock, pattern, run, ...(restartOf !== undefined && { restartOf }) },
      {
        onEnd(ended) {
          ended.finish(clock.now())
          if (!ended.isTornDown) {
            needs.onEnd(owner, ended.job, { isReported: ended.isReported, isByPerson: ended.isStoppedByPerson, ...(noticeLimitBytes !== undefined && { noticeLimitBytes }) })
            forgetOldest(owner)
          }
          changes.emit()
        },
        onChange: () => changes.emit(),
        onOutput: (text) => outputs.emit({ id, text }),
        onProblems: () => problemChanges.emit(id),
        onProgram: (program) => records.has(id) && needs.onProgram(owner, findAny(id).job, program),
        onWaits: (how) => records.has(id) && needs.onWaits(owner, findAny(id).job, how),
        onMatch(line) {
          const matched = records.get(id)
          if (matched === undefined) return
          matched.matches += 1
          if (matched.matches <= MAX_MATCHES_TOLD) needs.onMatch(owner, matched.job, line, matched.matches === MAX_MATCHES_TOLD)
        },
      },
    )
    records.set(id, record)
    needs.onStart(owner, record.job)
    changes.emit()
    return record
  }

  return {
    maxLive,
    commands,
    start: (spec) => start(spec).job,

    list: (caller) => [...records.values()].filter(({ owner }) => caller === 'person' || owner === undefined || owner === caller).map(({ job }) => job),
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
      // What the person ends, its owner hears of.
      if (caller === 'person') record.isStoppedByPerson = true
      else record.isReported = true
      changes.emit()
      return { outcome: 'cancellation-requested', job: record.job }
    },

    async restart(caller, id) {
      const record = find(caller, id)
      const { spec } = record
      if (spec.restart === undefined) throw new JobError('NOT_RESTARTABLE', `Job ${id} cannot be started again: its work has no beginning of its own.`)
      if (record.isLive) {
        record.requestStop('it is started again')
        record.isReported = true
        changes.emit()
        await record.ended()
      }
      const { movedFromCall: _, waitsForInput: __, ...again } = spec
      const after = start({ ...again, run: spec.restart }, spec.restart, id)
      if (caller === 'person') needs.onRestart(spec.owner, record.job, after.job)
      return after.job
    },

    async sendInput(caller, id, text) {
      await find(caller, id).sendInput(text)
    },

    wakeWhen(caller, id, pattern) {
      const record = find(caller, id)
      record.wakeWhen(pattern === null ? null : wakePattern(pattern))
      changes.emit()
      return record.job
    },

    pin(caller, id, isPinned) {
      const record = find(caller, id)
      if (isPinned && !record.isPinned && ownedBy(record.owner).filter((one) => one.isPinned).length >= MAX_PINNED) {
        throw new JobError('PIN_LIMIT', `${MAX_PINNED} jobs are pinned, and no more are allowed. Unpin one first.`)
      }
      record.isPinned = isPinned
      changes.emit()
      return record.job
    },

    forget(caller, id) {
      if (find(caller, id).isLive) throw new JobError('STILL_RUNNING', `Job ${id} is still running. Stop it first.`)
      records.delete(id)
      changes.emit()
    },

    transcript: (id) => findAny(id).transcript(),
    problems: (id) => findAny(id).problems,

    onDidChange: (listener) => changes.listen(listener),
    onDidOutput: (listener) => outputs.listen(listener),
    onDidChangeProblems: (listener) => problemChanges.listen(listener),

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

const wakePattern = (source: string): WakePattern => ({ source, line: compileLinePattern(source) })
