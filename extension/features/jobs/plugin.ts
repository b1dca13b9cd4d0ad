import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type { EventDraft } from '../../core/log/event.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type {} from '../../core/loop/points.ts'
import type { Agent } from '../../core/session/agent.ts'
import { createJobs } from './jobs.ts'
import { endNotice, orphanNotice } from './notices.ts'
import type { Job } from './service.ts'

export interface JobsPluginNeeds {
  readonly clock: Clock
  readonly logger: Logger
  readonly machine: Pick<Machine, 'randomId'>
  /** Turns that ended jobs may start without a word of the person in between; more wait quietly. */
  readonly maxConsecutiveWakes?: number
}

const MAX_CONSECUTIVE_WAKES = 3

/**
 * Offers `jobs`, writes them into the log of their owner, tells the owner when one ends unseen,
 * and after a resume names those that did not outlive the last host.
 */
export function jobsPlugin({ clock, logger, machine, maxConsecutiveWakes = MAX_CONSECUTIVE_WAKES }: JobsPluginNeeds): Plugin {
  return {
    name: 'jobs',
    apply(ctx) {
      const wakes = new WeakMap<Agent, number>()
      const jobs = createJobs({
        clock,
        logger,
        onStart: (owner, { id, kind, label }) => log(owner, { type: 'job/started', data: { id, kind, label }, ignorable: true }),
        onEnd(owner, job, { isReported, noticeLimitBytes }) {
          logEnd(owner, job)
          if (!isReported && owner !== undefined) deliver(owner, endNotice(machine.randomId(), job, noticeLimitBytes))
        },
      })
      ctx.provide('jobs', jobs)
      ctx.on('agent/inbox/inserted', ({ agent, message }) => {
        if (message.source.kind === 'user') wakes.delete(agent)
      })
      ctx.on('agent/session-start', (agent, source) => {
        if (source === 'resume') reportOrphans(agent)
      })
      ctx.on('agent/disposing', (agent) => jobs.disposeOwner(agent))
      return () => jobs.dispose()

      function deliver(owner: Agent, message: UserMessage): void {
        if (owner.isDisposed) return
        const count = wakes.get(owner) ?? 0
        try {
          if (owner.status === 'running' || count >= maxConsecutiveWakes) return owner.inject(message)
          wakes.set(owner, count + 1)
          owner.followup(message)
        } catch (error) {
          logger.warn('The end of a background job could not be told to its session.', { error: String(error) })
        }
      }

      function reportOrphans(agent: Agent): void {
        const open = new Map<string, { readonly id: string; readonly label: string }>()
        const ids: string[] = []
        for (const { type, data } of agent.session.events()) {
          if (type === 'job/started') {
            ids.push(data.id)
            open.set(data.id, data)
          } else if (type === 'job/ended') open.delete(data.id)
        }
        jobs.reserve(ids)
        if (open.size === 0) return
        for (const id of open.keys()) log(agent, { type: 'job/ended', data: { id, status: 'killed', detail: 'the window closed' }, ignorable: true })
        agent.inject(orphanNotice(machine.randomId(), [...open.values()]))
      }
    },
  }

  function logEnd(owner: Agent | undefined, { id, status, detail }: Job): void {
    if (status === 'running' || status === 'stopping') return
    log(owner, { type: 'job/ended', data: { id, status, ...(detail !== undefined && { detail }) }, ignorable: true })
  }

  /** A log that cannot take the event costs a notice after a resume, never the job. */
  function log(owner: Agent | undefined, event: EventDraft<'job/started' | 'job/ended'>): void {
    try {
      owner?.session.append(event)
    } catch (error) {
      logger.warn('A background job could not be written into its session’s log.', { error: String(error) })
    }
  }
}
