import type { Localization } from '../capabilities/localization.ts'
import type { FullSchedule } from '../features/schedule/events.ts'
import type { ScheduleFailure } from '../features/schedule/service.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How often a reminder comes, in words; null for one that comes once. `ownZone`: the zone of the person, which needs no name. */
export function recurrenceWords(schedule: FullSchedule, ownZone: string, { t }: Localization): string | null {
  if (schedule.kind === 'every') return everyWords(schedule.everySeconds, { t })
  if (schedule.kind !== 'calendar') return null
  const { rule, timeZone } = schedule.calendar
  const words = ruleWords(rule, { t }) ?? rule
  return timeZone === ownZone ? words : t('{rule}, {zone}', { rule: words, zone: timeZone })
}

function everyWords(seconds: number, { t }: Pick<Localization, 't'>): string {
  if (seconds % 86_400 === 0) return seconds === 86_400 ? t('every 24 hours') : t('every {count} days', { count: seconds / 86_400 })
  if (seconds % 3_600 === 0) return seconds === 3_600 ? t('every hour') : t('every {count} hours', { count: seconds / 3_600 })
  return seconds % 60 === 0 ? t('every {count} minutes', { count: seconds / 60 }) : t('every {count} seconds', { count: seconds })
}

/** The rules that the panel itself makes; any other stands as it is. */
function ruleWords(rule: string, { t }: Pick<Localization, 't'>): string | null {
  const match = /^(\d{1,2}) (\d{1,2}) \* \* (\*|1-5|[0-6])$/.exec(rule)
  if (match === null) return null
  const time = `${(match[2] ?? '').padStart(2, '0')}:${(match[1] ?? '').padStart(2, '0')}`
  if (match[3] === '*') return t('every day at {time}', { time })
  if (match[3] === '1-5') return t('on weekdays at {time}', { time })
  const day = [t('on Sundays at {time}', { time }), t('on Mondays at {time}', { time }), t('on Tuesdays at {time}', { time }), t('on Wednesdays at {time}', { time }), t('on Thursdays at {time}', { time }), t('on Fridays at {time}', { time }), t('on Saturdays at {time}', { time })]
  return day[Number(match[3])] ?? null
}

/** How far away, in one coarse unit: `due`, `in 5 min`, `in 3 h`, `in 2 d`. */
export function untilWords(ms: number, { t }: Pick<Localization, 't'>): string {
  if (ms <= 0) return t('due')
  if (ms < HOUR) return t('in {count} min', { count: Math.ceil(ms / MINUTE) })
  return ms < 2 * DAY ? t('in {count} h', { count: Math.round(ms / HOUR) }) : t('in {count} d', { count: Math.round(ms / DAY) })
}

/** A moment that the person typed: `20m`, `2h`, `1d`, a time of day, which is the next one, or a date and time. By their own clock; null for anything else. */
export function typedTime(text: string, now: Date): number | null {
  const span = /^(?:in\s+)?(\d{1,6})\s*(m|min|h|d)$/i.exec(text.trim())
  if (span !== null) return now.getTime() + Number(span[1]) * { m: MINUTE, h: HOUR, d: DAY }[(span[2] ?? 'm').toLowerCase().charAt(0) as 'm' | 'h' | 'd']
  const moment = /^(?:(\d{4})-(\d\d)-(\d\d)[ T])?(\d{1,2}):(\d\d)$/.exec(text.trim())
  if (moment === null) return null
  const [, year, month, day, hour, minute] = moment
  if (Number(hour) > 23 || Number(minute) > 59) return null
  if (year === undefined) {
    const today = new Date(now.getFullYear(), now.getMonth(), now.getDate(), Number(hour), Number(minute))
    return today > now ? today.getTime() : new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, Number(hour), Number(minute)).getTime()
  }
  const date = new Date(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute))
  return date.getMonth() === Number(month) - 1 && date.getDate() === Number(day) ? date.getTime() : null
}

/** Minute and hour of a typed `HH:mm`, as the fields of cron; null for anything else. */
export function typedClock(text: string): string | null {
  const match = /^(\d{1,2}):(\d\d)$/.exec(text.trim())
  return match === null || Number(match[1]) > 23 || Number(match[2]) > 59 ? null : `${Number(match[2])} ${Number(match[1])}`
}

/** Why nothing was done, for the person. */
export function refusalWords({ code, message }: ScheduleFailure, { t }: Pick<Localization, 't'>): string {
  switch (code) {
    case 'invalid_prompt':
      return t('A reminder needs words, at most 4,000 characters.')
    case 'invalid_time_zone':
      return t('Bosun does not know this time zone. Use a name such as Europe/Berlin.')
    case 'not_future':
      return t('This time is over. Choose one that is still to come.')
    case 'time_out_of_range':
      return t('This time is too far away.')
    case 'frequency_too_high':
      return t('A reminder comes at most every five minutes.')
    case 'too_many_schedules':
      return t('This session has as many reminders as it can hold. Delete some first.')
    case 'schedule_not_found':
      return t('This reminder is gone.')
    case 'corrupt_schedule_log':
      return t('The reminders of this session cannot be read, so none is delivered. Go on in a fork of it, which begins without them.')
    case 'persistence_uncertain':
      return t('The log of this session cannot be written now, so it is not certain that this is kept.')
    default:
      return message
  }
}
