import type { Localization } from '../capabilities/localization.ts'
import type { Job, RunningCommand } from '../features/jobs/service.ts'
import type { TerminalResultView } from '../protocol/cards.ts'
import type { CommandView } from '../protocol/view-state.ts'
import type { ShownPort } from './job-ports.ts'
import { ageOf } from './time-words.ts'

export const isLive = ({ status }: Pick<Job, 'status'>): boolean => status === 'running' || status === 'stopping'

/** How a job ended: `exit 1`, `killed`, `ended by SIGSEGV`. */
export function endOf({ status, exitCode, signal, detail }: Pick<Job, 'status' | 'exitCode' | 'signal' | 'detail'>, { t }: Localization): string {
  if (exitCode !== undefined) return t('exit {code}', { code: exitCode })
  // The signal that every kill begins with says nothing more.
  if (status === 'killed' && (signal === 'SIGTERM' || (signal === undefined && detail === undefined))) return t('killed')
  if (signal !== undefined) return t('ended by {signal}', { signal })
  if (status === 'killed') return t('killed, {detail}', { detail: detail ?? '' })
  return detail ?? (status === 'failed' ? t('failed') : t('ended'))
}

/** Whether an end is bad news. A kill is what somebody wanted. */
export const isBadEnd = ({ status, exitCode }: Pick<Job, 'status' | 'exitCode'>): boolean => status === 'failed' || (status === 'completed' && (exitCode ?? 0) !== 0)

/** The last line of a job's output. */
export function endWords(job: Job, l10n: Localization): string {
  const time = ageOf((job.finishedAt ?? job.startedAt) - job.startedAt, l10n)
  return l10n.t('The job has ended: {end}, after {time}.', { end: endOf(job, l10n), time })
}

/** The last line of the output of a command that a call waited for. */
export function callEndWords({ exitCode, signal, timedOut, aborted }: Pick<TerminalResultView, 'exitCode' | 'signal' | 'timedOut' | 'aborted'>, durationMs: number, l10n: Localization): string {
  const { t } = l10n
  const time = ageOf(durationMs, l10n)
  if (timedOut === true) return t('The command was ended: its time was up after {time}.', { time })
  if (aborted === true) return t('The command was stopped, after {time}.', { time })
  return t('The command has ended: {end}, after {time}.', { end: endOf({ status: 'completed', ...(exitCode !== undefined && { exitCode }), ...(signal !== undefined && { signal }) }, l10n), time })
}

type JobWithPorts = Omit<Job, 'ports'> & { readonly ports: readonly ShownPort[] }

/** What the cards of a session know of its commands: those that calls wait for, and those in the background. */
export function commandsView({ running, jobs }: { readonly running: readonly RunningCommand[]; readonly jobs: readonly JobWithPorts[] }, l10n: Localization): readonly CommandView[] {
  return [
    ...running.map(
      ({ callId, takesInput, waitsForInput, canMove }): CommandView => ({
        callId,
        jobId: null,
        state: 'running',
        takesInput: takesInput === true,
        waitsForInput: waitsForInput !== undefined,
        canMove: canMove === true,
        canRestart: false,
        ports: [],
      }),
    ),
    ...jobs.map(
      (job): CommandView => ({
        callId: job.movedFromCall ?? null,
        jobId: job.id,
        state: job.status === 'running' ? 'running' : job.status === 'stopping' ? 'stopping' : 'ended',
        ...(!isLive(job) && { end: { words: endOf(job, l10n), isBad: isBadEnd(job) }, durationMs: (job.finishedAt ?? job.startedAt) - job.startedAt }),
        startedAt: job.startedAt,
        takesInput: isLive(job) && job.takesInput === true,
        waitsForInput: isLive(job) && job.waitsForInput !== undefined,
        canMove: false,
        canRestart: !isLive(job) && job.canRestart === true,
        ports: job.ports,
      }),
    ),
  ]
}
