import { messageOf } from '../../base/message-of.ts'
import type { CalendarRule } from './events.ts'
import { MIN_EVERY_SECONDS } from './fold.ts'
import { canonicalZone } from './parse-at.ts'
import { problemOfParts } from './rule-parts.ts'

/** Zones and recurrence, loaded with the first rule or wall time that needs them. */
export const loadCalendar = () => import('./calendar-engine.ts')

/** Characters of a rule. */
export const MAX_RULE_CHARS = 300
/** How many of its times are looked at to know how often it comes. */
const LOOKED_AT = 60

/** What keeps a rule from being taken. */
export interface RuleProblem {
  readonly code: 'invalid_rule' | 'invalid_time_zone' | 'frequency_too_high'
  readonly message: string
}

/** A rule as it was given, checked: its zone canonical, counting from the minute of `nowMs`. */
export async function readRule({ rule, timeZone }: { readonly rule: string; readonly timeZone: string }, nowMs: number): Promise<CalendarRule | RuleProblem> {
  const zone = canonicalZone(timeZone)
  if (zone === null) return { code: 'invalid_time_zone', message: zoneProblem(timeZone) }
  const text = rule.trim().replace(/^RRULE:/i, '')
  const plain = /^FREQ=/i.test(text) ? text.toUpperCase() : text.replaceAll(/\s+/g, ' ')
  if (plain === '' || plain.length > MAX_RULE_CHARS || /[\n\r]/.test(text)) return invalid(`A calendar rule is one line of 1 to ${MAX_RULE_CHARS} characters.`)
  if (/\b(?:DTSTART|EXDATE|RDATE|TZID)\b/.test(plain)) return invalid('A rule counts from now, in its time_zone; leave DTSTART, EXDATE, RDATE and TZID out.')
  // A cron rule of minutes, and these, come too often whatever else they say, and cost the most to be asked.
  if (/^FREQ=(?:SECONDLY|MINUTELY)\b/.test(plain)) return tooOften
  const problem = plain.startsWith('FREQ=') ? problemOfParts(plain) : plain.split(' ').length === 5 ? null : 'there are not five cron fields'
  if (problem !== null) return unreadable(problem)
  const engine = await loadCalendar()
  const start = engine.wallOf(nowMs, zone)
  const calendar: CalendarRule = { rule: plain, timeZone: zone, start }
  try {
    const pause = engine.openCalendar(calendar).shortestPause(LOOKED_AT)
    return pause !== null && pause < MIN_EVERY_SECONDS * 1_000 ? tooOften : calendar
  } catch (error) {
    return unreadable(messageOf(error))
  }
}

export const zoneProblem = (zone: string): string => `${JSON.stringify(zone)} is no time zone. Give UTC or an IANA name such as Europe/Berlin, no abbreviation and no offset.`

const invalid = (message: string): RuleProblem => ({ code: 'invalid_rule', message })
const unreadable = (why: string): RuleProblem => invalid(`The calendar rule cannot be read (${why}). Give five cron fields such as "0 9 * * 1-5", or a recurrence rule such as "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9".`)
const tooOften: RuleProblem = { code: 'frequency_too_high', message: `A reminder comes at most every ${MIN_EVERY_SECONDS} seconds. Choose a rule that comes less often.` }
