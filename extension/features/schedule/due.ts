import { loadCalendar } from './calendar.ts'
import type { FullSchedule, ScheduleAdjustment, ScheduleChange } from './events.ts'
import { isRecurring, type ScheduleEntry, type ScheduleState } from './fold.ts'
import type { Occurrence } from './framing.ts'
import { instantFrom, latestSlot, msOf, nextSlot } from './instants.ts'
import type { ScheduleView } from './service.ts'

/** When an entry is to be delivered next, epoch milliseconds; null while it is paused. */
export function targetOf({ schedule, isPaused, instead }: ScheduleEntry): number | null {
  if (instead !== null && (instead.isRun || !isPaused)) return msOf(instead.at)
  return isPaused ? null : msOf(schedule.scheduledAt)
}

export const isDue = (entry: ScheduleEntry, nowMs: number): boolean => {
  const target = targetOf(entry)
  return target !== null && target <= nowMs
}

/** The earliest time behind `nowMs` at which something falls due, or null. */
export function nextTarget({ entries }: Pick<ScheduleState, 'entries'>, nowMs: number): number | null {
  const targets = entries.map(targetOf).filter((target) => target !== null && target > nowMs)
  return targets.length === 0 ? null : Math.min(...(targets as number[]))
}

/** What is delivered first: of a turn of its own what comes once and what is to be done, ordered by target, then creation; else all that recurs at once. */
export function firstDue(entries: readonly ScheduleEntry[], nowMs: number): readonly ScheduleEntry[] {
  const due = entries.filter((entry) => isDue(entry, nowMs))
  const order = (a: ScheduleEntry, b: ScheduleEntry) => (targetOf(a) ?? 0) - (targetOf(b) ?? 0)
  const once = due.filter(({ schedule }) => !isRecurring(schedule)).sort(order)[0]
  if (once !== undefined) return [once]
  const task = due.filter(({ schedule }) => schedule.action === 'do').sort(order)[0]
  return task === undefined ? due : [task]
}

/** The one time that is told of an entry that is due: of what recurs the latest slot, the older ones are dropped. */
export async function occurrenceOf(entry: ScheduleEntry, nowMs: number): Promise<Occurrence> {
  const { schedule, instead } = entry
  const slot = msOf(schedule.scheduledAt)
  return { id: schedule.id, prompt: schedule.prompt, at: instantOf(slot <= nowMs && isRecurring(schedule) ? await latestOf(schedule, nowMs) : instead === null ? slot : msOf(instead.at)) }
}

async function latestOf(schedule: FullSchedule, nowMs: number): Promise<number> {
  const slot = msOf(schedule.scheduledAt)
  if (schedule.kind === 'every') return latestSlot(slot, schedule.everySeconds, nowMs)
  return schedule.kind === 'calendar' ? (await loadCalendar()).openCalendar(schedule.calendar).latest(slot, nowMs) : slot
}

/** The first slot of what recurs behind `afterMs`, or null. */
export async function slotAfter(schedule: FullSchedule, afterMs: number): Promise<string | null> {
  if (schedule.kind === 'every') return nextSlot(msOf(schedule.scheduledAt), schedule.everySeconds, afterMs)
  if (schedule.kind !== 'calendar') return null
  const next = (await loadCalendar()).openCalendar(schedule.calendar).next(afterMs)
  return next === null ? null : instantFrom(next)
}

/** The event that says an entry was delivered, or left out, at `nowMs`. */
export type Ending = { readonly type: 'schedule/change'; readonly data: ScheduleChange } | { readonly type: 'schedule/adjust'; readonly data: ScheduleAdjustment }

export async function endingOf({ schedule, isPlain }: ScheduleEntry, operation: 'dispatch' | 'skip', nowMs: number): Promise<Ending> {
  const { id } = schedule
  const acceptedAt = instantOf(nowMs)
  if (!isPlain) return { type: 'schedule/adjust', data: { version: 1, operation, id, acceptedAt, next: await slotAfter(schedule, nowMs) } }
  return { type: 'schedule/change', data: schedule.kind === 'every' ? { version: 1, operation: 'dispatch', id, acceptedAt } : { version: 1, operation: 'dispatch', id } }
}

/** As the model sees it: of one that version 1 can say, exactly its record. */
export function viewOf(entry: ScheduleEntry, nowMs: number): ScheduleView {
  const { action, catchUp, ...record } = entry.schedule
  return {
    ...record,
    state: isDue(entry, nowMs) ? 'overdue' : 'scheduled',
    deliveryMode: 'session-local',
    ...(action === 'do' && { action }),
    ...(catchUp === 'skip' && { catchUp }),
    ...(entry.isPaused && { isPaused: true as const }),
    ...(entry.instead !== null && { snoozedUntil: entry.instead.at }),
  }
}

const instantOf = (ms: number): string => {
  const instant = instantFrom(ms)
  if (instant === null) throw new RangeError(`The clock shows ${ms} ms, which is outside of the years 0001 to 9999. Set it right.`)
  return instant
}
