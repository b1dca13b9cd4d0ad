import { Emitter } from '../../base/emitter.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type { Agent } from '../../core/session/agent.ts'
import { MAX_RULE_CHARS } from './calendar.ts'
import type { FullSchedule } from './events.ts'
import { isPositive, MIN_EVERY_SECONDS } from './fold.ts'
import { schedulesProjection } from './projection.ts'
import { failure, MAX_PROMPT_CHARS, MAX_SCHEDULES, readRequest } from './request.ts'
import { adjustments, ScheduleRuntime } from './runtime.ts'
import type { ScheduleFailure, ScheduleView } from './service.ts'

export interface SchedulesNeeds {
  readonly clock: Clock
  readonly logger: Logger
  readonly machine: Pick<Machine, 'randomId'>
  readonly workspace: Pick<Workspace, 'isTrusted' | 'onDidChangeTrust'>
  /** The host goes after one turn, which is the person's: what is due waits for one that stays. */
  readonly isOneTurn?: boolean
}

/** Offers `schedules`: a runtime for each root agent made from now on. Children hold no reminders, and sessions that are not open do nothing. */
export function schedulesPlugin({ clock, logger, machine, workspace, isOneTurn = false }: SchedulesNeeds): Plugin {
  return {
    name: 'schedules',
    inject: ['projections'],
    apply(ctx) {
      ctx.effect(ctx.projections.register(schedulesProjection))
      const runtimes = new Map<Agent, ScheduleRuntime>()
      const onError = (error: unknown) => logger.error('A listener for reminders failed.', { error: String(error) })
      const changes = new Emitter<Agent>(onError)
      const deliveries = new Emitter<{ readonly agent: Agent; readonly delivered: readonly FullSchedule[] }>(onError)

      ctx.on('agent/created', (agent) => {
        if (agent.owner !== undefined) return
        runtimes.set(
          agent,
          new ScheduleRuntime({
            agent,
            clock,
            logger,
            newId: () => machine.randomId(),
            mayDeliver: () => !isOneTurn && workspace.isTrusted(),
            onDidChange: () => changes.emit(agent),
            onDidDeliver: (delivered) => deliveries.emit({ agent, delivered }),
          }),
        )
      })
      ctx.on('agent/session-start', (agent) => runtimes.get(agent)?.look())
      ctx.on('agent/status', (agent, status) => {
        if (status === 'idle') runtimes.get(agent)?.look()
      })
      ctx.on('session/access', () => look())
      ctx.effect(workspace.onDidChangeTrust(look))
      ctx.on('agent/disposing', async (agent) => {
        const runtime = runtimes.get(agent)
        runtimes.delete(agent)
        await runtime?.dispose()
      })

      ctx.provide('schedules', {
        limits: { promptChars: MAX_PROMPT_CHARS, ruleChars: MAX_RULE_CHARS, active: MAX_SCHEDULES },
        read: readRequest,
        create: async (agent, request, signal) => (await runtimeOf(agent)?.create(request, signal)) ?? nobody,
        list: async (agent, signal) => (await runtimeOf(agent)?.list(signal)) ?? nobody,
        remove: async (agent, id, signal) => {
          if (id === '' || id.trim() !== id) return failure('invalid_selector', 'Give the id of a reminder as schedule_list shows it, without blanks around it.')
          return (await runtimeOf(agent)?.remove(id, signal)) ?? nobody
        },
        pause: (agent, id) => adjusted(agent, id, adjustments.pause()),
        resume: (agent, id) => adjusted(agent, id, adjustments.resume()),
        snooze: (agent, id, untilMs) => adjusted(agent, id, adjustments.snooze(untilMs)),
        runNow: (agent, id) => adjusted(agent, id, adjustments.run()),
        edit: async (agent, id, change) => {
          const { when } = change
          if (when !== undefined && 'everySeconds' in when && !(isPositive(when.everySeconds) && when.everySeconds >= MIN_EVERY_SECONDS)) return failure('frequency_too_high', `A reminder comes at most every ${MIN_EVERY_SECONDS} seconds.`)
          return await adjusted(agent, id, adjustments.edit(change))
        },
        again: async (agent, { prompt, action }, untilMs) => {
          const seconds = Math.ceil((untilMs - clock.now()) / 1_000)
          if (!isPositive(seconds)) return failure('not_future', 'A reminder is put off to a time that is still to come.')
          return (await runtimeOf(agent)?.create({ prompt, action, catchUp: 'once', selector: { kind: 'after', seconds } }, new AbortController().signal)) ?? nobody
        },
        state(agent) {
          const runtime = runtimes.get(agent)
          return runtime === undefined ? null : { entries: runtime.state.entries, delivery: runtime.delivery, problem: runtime.state.problem }
        },
        look,
        onDidChange: (listener) => changes.listen(listener),
        onDidDeliver: (listener) => deliveries.listen(listener),
      })
      return async () => {
        await Promise.all([...runtimes.values()].map((runtime) => runtime.dispose()))
        runtimes.clear()
      }

      function runtimeOf(agent: Agent | undefined): ScheduleRuntime | undefined {
        return agent === undefined ? undefined : runtimes.get(agent)
      }
      async function adjusted(agent: Agent, id: string, make: Parameters<ScheduleRuntime['adjust']>[1]): Promise<ScheduleView | ScheduleFailure> {
        return (await runtimes.get(agent)?.adjust(id, make)) ?? nobody
      }
      function look(): void {
        for (const runtime of runtimes.values()) runtime.look()
      }
    },
  }
}

const nobody: ScheduleFailure = failure('internal_error', 'Only the session of a person holds reminders, and this call comes from none.')
