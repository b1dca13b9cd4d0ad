import type { CatchUp, FullSchedule, ScheduleAction } from './events.ts'
import { loadCalendar, readRule, zoneProblem } from './calendar.ts'
import { isPositive, MIN_EVERY_SECONDS } from './fold.ts'
import { instantFrom } from './instants.ts'
import { canonicalZone, parseInstant, parseWallTime } from './parse-at.ts'
import type { ScheduleFailure, ScheduleFailureCode } from './service.ts'

/** UTF-16 units of what a reminder says. */
export const MAX_PROMPT_CHARS = 4_000
/** Active reminders of a session. */
export const MAX_SCHEDULES = 100

/** When a reminder comes, of the right shape; whether there is such a time is found out with the clock. */
export type Selector =
  | { readonly kind: 'after'; readonly seconds: number }
  | { readonly kind: 'every'; readonly seconds: number }
  | { readonly kind: 'at'; readonly at: string | { readonly date: string; readonly time: string; readonly time_zone: string } }
  | { readonly kind: 'calendar'; readonly rule: string; readonly timeZone: string }

export interface CreateRequest {
  readonly prompt: string
  readonly selector: Selector
  readonly action: ScheduleAction
  readonly catchUp: CatchUp
}

/** Arguments as the schema lets them through. */
export interface CreateArgs {
  readonly prompt: string
  readonly after_seconds?: number
  readonly every_seconds?: number
  readonly at?: string | { readonly date: string; readonly time: string; readonly time_zone: string }
  readonly calendar?: { readonly rule: string; readonly time_zone: string }
  readonly action?: ScheduleAction
  readonly catch_up?: CatchUp
}

const selectors = ['after_seconds', 'every_seconds', 'at', 'calendar'] as const
const known: ReadonlySet<string> = new Set(['prompt', 'action', 'catch_up', ...selectors])

export const failure = (code: ScheduleFailureCode, message: string, more: Pick<ScheduleFailure, 'operation' | 'id'> = {}): ScheduleFailure => ({ code, message, ...more })

/** What is wrong before anything is read or written, in this order: keys and selector, prompt, shape. Source: agent tools specification 5.2. */
export function readRequest(args: CreateArgs): CreateRequest | ScheduleFailure {
  const unknown = Object.keys(args).filter((key) => !known.has(key))
  if (unknown.length > 0) return failure('invalid_selector', `${unknown.join(', ')} is no argument of schedule_create. Leave it out.`)
  const given = selectors.filter((name) => args[name] !== undefined)
  const [name] = given
  if (name === undefined || given.length > 1) return failure('invalid_selector', `Give exactly one of ${selectors.join(', ')}; ${given.length === 0 ? 'none was given' : `${given.join(' and ')} were given`}.`)
  const prompt = args.prompt.trim()
  if (prompt === '') return failure('invalid_prompt', 'A reminder needs a prompt: say what it is about.')
  if (prompt.length > MAX_PROMPT_CHARS) return failure('invalid_prompt', `The prompt has ${prompt.length} characters, at most ${MAX_PROMPT_CHARS}. Put the rest into a file and name it.`)
  const selector = selectorFrom(args)
  return 'code' in selector ? selector : { prompt, selector, action: args.action ?? 'tell', catchUp: args.catch_up ?? 'once' }
}

function selectorFrom({ after_seconds, every_seconds, at, calendar }: CreateArgs): Selector | ScheduleFailure {
  if (after_seconds !== undefined) return isPositive(after_seconds) ? { kind: 'after', seconds: after_seconds } : failure('invalid_rule', 'after_seconds is a whole number of 1 or more.')
  if (every_seconds !== undefined) {
    if (!isPositive(every_seconds)) return failure('invalid_rule', `every_seconds is a whole number of ${MIN_EVERY_SECONDS} or more.`)
    return every_seconds >= MIN_EVERY_SECONDS ? { kind: 'every', seconds: every_seconds } : failure('frequency_too_high', `A reminder comes at most every ${MIN_EVERY_SECONDS} seconds. Give that or more.`)
  }
  if (calendar !== undefined) return { kind: 'calendar', rule: calendar.rule, timeZone: calendar.time_zone }
  // One of the four was given.
  return { kind: 'at', at: at ?? '' }
}

/** The reminder that a request makes at `nowMs`. */
export async function scheduleFrom({ prompt, selector, action, catchUp }: CreateRequest, id: string, nowMs: number): Promise<FullSchedule | ScheduleFailure> {
  const base = { id, prompt, action, catchUp }
  switch (selector.kind) {
    case 'after': {
      const scheduledAt = instantFrom(nowMs + selector.seconds * 1_000)
      return scheduledAt === null ? tooFar : { ...base, kind: 'after', scheduledAt, afterSeconds: selector.seconds }
    }
    case 'every': {
      const scheduledAt = instantFrom(nowMs + selector.seconds * 1_000)
      return scheduledAt === null ? tooFar : { ...base, kind: 'every', scheduledAt, everySeconds: selector.seconds }
    }
    case 'at': {
      const target = await targetOf(selector.at)
      if (typeof target !== 'number') return target
      const scheduledAt = instantFrom(target)
      if (scheduledAt === null) return tooFar
      return target <= nowMs ? failure('not_future', `${scheduledAt} is not in the future; it is ${new Date(nowMs).toISOString()} now.`) : { ...base, kind: 'at', scheduledAt }
    }
    case 'calendar': {
      const calendar = await readRule(selector, nowMs)
      if ('code' in calendar) return calendar
      const next = (await loadCalendar()).openCalendar(calendar).next(nowMs)
      const scheduledAt = next === null ? null : instantFrom(next)
      return scheduledAt === null ? failure('invalid_rule', `The rule ${calendar.rule} never comes again.`) : { ...base, kind: 'calendar', scheduledAt, calendar }
    }
  }
}

const tooFar = failure('time_out_of_range', 'The time lies outside of the years 0001 to 9999.')

async function targetOf(at: Extract<Selector, { kind: 'at' }>['at']): Promise<number | ScheduleFailure> {
  if (typeof at === 'string') {
    return parseInstant(at) ?? failure('invalid_rule', `${JSON.stringify(at)} is no time with an offset. Write YYYY-MM-DDTHH:mm:ss and then Z or an offset such as +02:00, or give date, time and time_zone.`)
  }
  const wall = parseWallTime(at.date, at.time)
  if (wall === null) return failure('invalid_rule', `${JSON.stringify(at.date)} and ${JSON.stringify(at.time)} are no date YYYY-MM-DD and time HH:mm:ss.`)
  const zone = canonicalZone(at.time_zone)
  if (zone === null) return failure('invalid_time_zone', zoneProblem(at.time_zone))
  return (await loadCalendar()).instantOfWall(wall, zone) ?? failure('invalid_rule', `In ${zone} the clock leaves ${at.date} ${at.time} out. Choose another time.`)
}
