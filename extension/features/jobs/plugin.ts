import { stripAnsi } from '../../base/strip-ansi.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { ProcessRunner } from '../../capabilities/process.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type { EventDraft } from '../../core/log/event.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type {} from '../../core/loop/points.ts'
import type { Agent } from '../../core/session/agent.ts'
import { createJobs } from './jobs.ts'
import { endNotice, matchNotice, orphanNotice, restartNotice, waitsNotice, type Orphan } from './notices.ts'
import type { Job, RunningProgram } from './service.ts'

export interface JobsPluginNeeds {
  readonly clock: Clock
  readonly logger: Logger
  readonly machine: Pick<Machine, 'randomId'>
  /** Asked what has become of the programs of an earlier host. */
  readonly processes: Pick<ProcessRunner, 'endLeftover'>
  /** Turns that jobs may start without a word of the person in between, read each time; more wait quietly. */
  readonly maxConsecutiveWakes?: () => number
}

const MAX_CONSECUTIVE_WAKES = 3

/**
 * Offers `jobs`, writes them into the log of their owner, tells the owner when one ends unseen,
 * and after a resume names those that did not outlive the last host.
 */
export function jobsPlugin({ clock, logger, machine, processes, maxConsecutiveWakes = () => MAX_CONSECUTIVE_WAKES }: JobsPluginNeeds): Plugin {
  return {
    name: 'jobs',
    apply(ctx) {
      const wakes = new WeakMap<Agent, number>()
      /** What a resumed session is about to hear of its orphans, while the system is still asked. */
      const reports = new WeakMap<Agent, Promise<UserMessage>>()
      const jobs = createJobs({
        clock,
        logger,
        onStart: (owner, { id, kind, label, movedFromCall, restartOf }) =>
          log(owner, {
            type: 'job/started',
            data: { id, kind, label, ...(movedFromCall !== undefined && { movedFromCall }), ...(restartOf !== undefined && { restartOf }) },
            ignorable: true,
          }),
        onProgram: (owner, job, program) => void logProgram(owner, job, program),
        onEnd(owner, job, { isReported, isByPerson, noticeLimitBytes }) {
          logEnd(owner, job)
          if (isReported || owner === undefined) return
          const message = endNotice(machine.randomId(), job, { isByPerson, ...(noticeLimitBytes !== undefined && { limitBytes: noticeLimitBytes }) })
          // Who ended it is there and can speak; the model need not be woken for it.
          deliver(owner, message, { wakes: !isByPerson })
        },
        onRestart: (owner, before, after) => owner && deliver(owner, restartNotice(machine.randomId(), before, after), { wakes: false }),
        onWaits: (owner, job, how) => owner && deliver(owner, waitsNotice(machine.randomId(), job, how, stripAnsi(jobs.transcript(job.id).text)), { wakes: true }),
        onMatch: (owner, job, line, isLast) => owner && deliver(owner, matchNotice(machine.randomId(), job, line, isLast), { wakes: true }),
      })
      ctx.provide('jobs', { ...jobs, maxConsecutiveWakes: maxConsecutiveWakes() })
      ctx.on('agent/inbox/inserted', ({ agent, message }) => {
        if (message.source.kind === 'user') wakes.delete(agent)
      })
      ctx.on('agent/session-start', (agent, source) => {
        if (source === 'resume') reportOrphans(agent)
      })
      // The first step of a resumed session waits for it, so that the model hears of it with the person's words and not after.
      ctx.on('agent/pre-step', async ({ agent }, next) => {
        const report = reports.get(agent)
        if (report === undefined) return next()
        reports.delete(agent)
        const notice = await report
        const decision = await next()
        if (decision.kind === 'enter') return { ...decision, messages: [notice, ...decision.messages] }
        deliver(agent, notice, { wakes: false })
        return decision
      })
      ctx.on('agent/disposing', (agent) => jobs.disposeOwner(agent))
      return () => jobs.dispose()

      function deliver(owner: Agent, message: UserMessage, { wakes: mayWake }: { readonly wakes: boolean }): void {
        if (owner.isDisposed) return
        const count = wakes.get(owner) ?? 0
        try {
          if (!mayWake || owner.status === 'running' || count >= maxConsecutiveWakes()) return owner.inject(message)
          wakes.set(owner, count + 1)
          owner.followup(message)
        } catch (error) {
          logger.warn('What became of a background job could not be told to its session.', { error: String(error) })
        }
      }

      /** The ids are taken at once; what has become of the programs takes a look at the system. */
      function reportOrphans(agent: Agent): void {
        const open = new Map<string, Omit<Orphan, 'fate'> & { readonly birth?: string }>()
        const ids: string[] = []
        for (const { type, data } of agent.session.events()) {
          if (type === 'job/started') {
            ids.push(data.id)
            open.set(data.id, { id: data.id, label: data.label })
          } else if (type === 'job/program') {
            const { id, pid, startedAt, birth } = data
            const job = open.get(id)
            if (job !== undefined) open.set(id, { ...job, pid, startedAt, ...(birth !== undefined && { birth }) })
          } else if (type === 'job/ended') open.delete(data.id)
        }
        jobs.reserve(ids)
        if (open.size === 0) return
        for (const id of open.keys()) log(agent, { type: 'job/ended', data: { id, status: 'killed', detail: 'the window closed' }, ignorable: true })
        const jobsLeft = [...open.values()]
        if (jobsLeft.every(({ pid }) => pid === undefined)) {
          return deliver(agent, orphanNotice(machine.randomId(), jobsLeft.map((job) => ({ ...job, fate: 'gone' }))), { wakes: false })
        }
        const report = Promise.all(jobsLeft.map(orphanOf)).then((orphans) => orphanNotice(machine.randomId(), orphans))
        reports.set(agent, report)
        void report.then((notice) => {
          // A step that began meanwhile has taken it.
          if (reports.delete(agent)) deliver(agent, notice, { wakes: false })
        })
      }
    },
  }

  async function orphanOf({ birth, ...job }: Omit<Orphan, 'fate'> & { readonly birth?: string }): Promise<Orphan> {
    return { ...job, fate: job.pid === undefined ? 'gone' : await fateOf(job.pid, birth) }
  }

  async function fateOf(pid: number, birth: string | undefined): Promise<Orphan['fate']> {
    try {
      return await processes.endLeftover({ pid, ...(birth !== undefined && { birth }) })
    } catch (error) {
      logger.warn('Whether the program of a background job outlived the window could not be found out.', { pid, error: String(error) })
      return 'gone'
    }
  }

  async function logProgram(owner: Agent | undefined, { id, startedAt }: Job, program: RunningProgram): Promise<void> {
    const birth = await program.birth().catch(() => null)
    log(owner, { type: 'job/program', data: { id, pid: program.pid, startedAt, ...(birth !== null && { birth }) }, ignorable: true })
  }

  function logEnd(owner: Agent | undefined, { id, status, detail }: Job): void {
    if (status === 'running' || status === 'stopping') return
    log(owner, { type: 'job/ended', data: { id, status, ...(detail !== undefined && { detail }) }, ignorable: true })
  }

  /** A log that cannot take the event costs a notice after a resume, never the job. */
  function log(owner: Agent | undefined, event: EventDraft<'job/started' | 'job/program' | 'job/ended'>): void {
    try {
      owner?.session.append(event)
    } catch (error) {
      logger.warn('A background job could not be written into its session’s log.', { error: String(error) })
    }
  }
}
