import * as z from 'zod'
import type { Projection } from '../../core/projections/projection.ts'
import { startOfSchedules, stepSchedules, type ScheduleEntry, type ScheduleState } from './fold.ts'

/** Reminders of a session, for panels and for who looks at sessions that are not open. */
export type SchedulesView = { readonly entries: readonly ScheduleEntry[]; readonly problem: string | null }

/** Kept beside the log, so that what is due is known without reading it. */
export const schedulesProjection: Projection<ScheduleState, SchedulesView> = {
  key: 'schedules',
  stateVersion: 1,
  schema: () => {
    const base = { id: z.string(), prompt: z.string(), scheduledAt: z.string(), action: z.enum(['tell', 'do']), catchUp: z.enum(['once', 'skip']) }
    const schedule = z.discriminatedUnion('kind', [
      z.strictObject({ ...base, kind: z.literal('after'), afterSeconds: z.int() }),
      z.strictObject({ ...base, kind: z.literal('at') }),
      z.strictObject({ ...base, kind: z.literal('every'), everySeconds: z.int() }),
      z.strictObject({ ...base, kind: z.literal('calendar'), calendar: z.strictObject({ rule: z.string(), timeZone: z.string(), start: z.string() }) }),
    ])
    const instead = z.strictObject({ at: z.string(), isRun: z.boolean() }).nullable()
    return z.strictObject({ entries: z.array(z.strictObject({ schedule, isPlain: z.boolean(), isPaused: z.boolean(), instead })), problem: z.string().nullable() })
  },
  parts: 'none',
  isKept: true,
  start: startOfSchedules,
  step: stepSchedules,
  view: ({ entries, problem }) => ({ entries, problem }),
}
