import { Cron } from 'croner'
import { RRuleTemporal } from 'rrule-temporal'
import { Temporal } from 'temporal-polyfill'
import type { CalendarRule } from './events.ts'
import { epochOf, parseWallTime, type WallTime } from './parse-at.ts'

/*
 * The only file that needs the libraries of zones and recurrence; `calendar.ts` loads it with the first rule.
 * Rules are asked in wall time, as if they stood at UTC, and each wall time is put into its zone here: what a change of the clock
 * does to it is decided in one place, the same for every kind of rule.
 */

/** Further than any zone ever jumped: Samoa left out a whole day in 2011. */
const AROUND_MS = 26 * 3_600_000
/** A rule is asked for so many times around a change of the clock; one that comes every five minutes has 24 in two hours, and 576 where a zone leaves out a day. */
const MAX_AROUND = 700
/** Periods that may stay empty before a rule counts as one that never comes: a hundred years and more, 24 by days; by hours it skips what no day allows. Each costs time on the thread of the window. */
const maxPeriods: Readonly<Record<string, number>> = { YEARLY: 120, MONTHLY: 1_400, WEEKLY: 5_300, DAILY: 8_800, HOURLY: 1_000 }

/** The wall times of a rule, in epoch milliseconds as if the wall stood at UTC. */
interface Walls {
  /** The first behind `wallMs`, or null. */
  next(wallMs: number): number | null
}

/** The instant of a wall time in a zone: where two are, the earlier; null where the clock leaves it out. */
export function instantOfWall(wall: WallTime, timeZone: string): number | null {
  const plain = Temporal.PlainDateTime.from(wall)
  const instant = plain.toZonedDateTime(timeZone, { disambiguation: 'earlier' })
  return instant.toPlainDateTime().equals(plain) ? instant.epochMilliseconds : null
}

/** The wall time of an instant in a zone, to the minute, `YYYY-MM-DDTHH:mm:00`. */
export const wallOf = (ms: number, timeZone: string): string => plainOf(ms, timeZone).round({ smallestUnit: 'minute', roundingMode: 'floor' }).toString({ smallestUnit: 'second' })

/** Reads rules and finds their times. Errors: `Error` in words for whoever wrote the rule. */
export function openCalendar({ rule, timeZone, start }: CalendarRule) {
  const { endless, isOver, latestMs } = endOf(rule)
  const walls = wallsOf(endless, start)

  /** The first time behind `afterMs`: where the clock leaves a wall time out, as much later as it jumped; where one comes twice, its first. */
  function next(afterMs: number): number | null {
    const found = nextOfEndless(afterMs)
    return found === null || isOver(found) ? null : found.at
  }

  function nextOfEndless(afterMs: number): Occurrence | null {
    const nowWall = wallMsOf(afterMs, timeZone)
    const first = walls.next(nowWall)
    const firstAt = first === null ? null : placed(first, timeZone)
    const single = first === null || firstAt === null ? null : { at: firstAt, wall: first }
    const jump = largestJump([afterMs - AROUND_MS, afterMs, (firstAt ?? afterMs) + AROUND_MS, ...(firstAt === null ? [] : [firstAt])], timeZone)
    if (jump === 0) return single
    // A jump of the clock moves a time by no more than itself, so no other can come before.
    let best: Occurrence | null = null
    let wall = walls.next(nowWall - jump)
    for (let count = 0; wall !== null && count < MAX_AROUND && (best === null || wall <= best.wall + jump); count += 1) {
      const at = placed(wall, timeZone)
      if (at > afterMs && (best === null || at < best.at)) best = { at, wall }
      wall = walls.next(wall)
    }
    return best
  }

  return {
    next,
    /** The last time that is not behind `asOfMs`, no earlier than `floorMs`, which is one. */
    latest(floorMs: number, asOfMs: number): number {
      const nowMs = Math.min(asOfMs, latestMs)
      // Looked for ever further back, so that a rule that comes often is not walked through from its beginning.
      for (let back = 600_000; nowMs - back > floorMs; back *= 4) {
        const found = next(nowMs - back)
        if (found !== null && found <= nowMs) return lastFrom(found, nowMs)
      }
      return lastFrom(floorMs, nowMs)
    },
    /** The shortest time between two of the first `count` wall times from its beginning, in ms; null when fewer than two come. */
    shortestPause(count: number): number | null {
      let shortest: number | null = null
      let before = walls.next(Date.parse(`${start}Z`) - 1)
      for (let index = 1; index < count && before !== null; index += 1) {
        const wall = walls.next(before)
        if (wall !== null) shortest = Math.min(shortest ?? Infinity, wall - before)
        before = wall
      }
      return shortest
    },
  }

  function lastFrom(from: number, nowMs: number): number {
    let last = from
    for (let found = next(last); found !== null && found <= nowMs; found = next(last)) last = found
    return last
  }
}

/** One time of a rule: the instant, and the wall time that it stands for, as if the wall stood at UTC. */
interface Occurrence {
  readonly at: number
  readonly wall: number
}

/**
 * A rule without its `UNTIL`, whether an occurrence lies behind that, and an instant behind which none does not. The library would hold an instant against the wall, and walk
 * through all times from the first.
 *
 * Source: RFC 5545, 3.3.10: with `Z` an instant, else a time of the wall; a day is meant with all its hours.
 */
function endOf(rule: string): { readonly endless: string; readonly isOver: (found: Occurrence) => boolean; readonly latestMs: number } {
  const until = rule.startsWith('FREQ=') ? /;UNTIL=([^;]*)/.exec(rule) : null
  if (until === null) return { endless: rule, isOver: () => false, latestMs: Infinity }
  const [, year, month, day, hour = '23', minute = '59', second = '59', isInstant] = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/.exec(until[1] ?? '') ?? []
  const wall = parseWallTime(`${year}-${month}-${day}`, `${hour}:${minute}:${second}`)
  if (wall === null) throw new Error(`UNTIL=${until[1]} is no day and time that there is`)
  const endMs = epochOf(wall)
  const endless = rule.replace(until[0], '')
  return isInstant === undefined ? { endless, isOver: (found) => found.wall > endMs, latestMs: endMs + AROUND_MS } : { endless, isOver: ({ at }) => at > endMs, latestMs: endMs }
}

function wallsOf(rule: string, start: string): Walls {
  return rule.startsWith('FREQ=') ? recurrence(rule, start) : cronFields(rule)
}

function cronFields(rule: string): Walls {
  const cron = new Cron(rule, { timezone: 'UTC', mode: '5-part' })
  return { next: (wallMs) => cron.nextRun(new Date(wallMs))?.getTime() ?? null }
}

function recurrence(rule: string, start: string): Walls {
  const withMinute = /\bBYHOUR=/.test(rule) && !/\bBYMINUTE=/.test(rule) ? `${rule};BYMINUTE=0` : rule
  const recurring = new RRuleTemporal({ rruleString: `DTSTART;TZID=UTC:${start.replaceAll(/[-:]/g, '')}\nRRULE:${withMinute}`, temporal: Temporal, strict: true, maxIterations: maxPeriods[/^FREQ=(\w+)/.exec(rule)?.[1] ?? ''] ?? 8_800 })
  return { next: (wallMs) => recurring.next(new Date(wallMs), false)?.epochMilliseconds ?? null }
}

const plainOf = (ms: number, timeZone: string) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDateTime()

function wallMsOf(ms: number, timeZone: string): number {
  const { year, month, day, hour, minute, second, millisecond } = plainOf(ms, timeZone)
  return epochOf({ year, month, day, hour, minute, second, millisecond })
}

/** A reminder is never left out: RFC 5545, 3.3.5, reads a wall time that is not there with the offset before the jump. */
const placed = (wallMs: number, timeZone: string): number =>
  Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO('UTC').toPlainDateTime().toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds

/** By how much the clock of the zone differs between any two of these instants. */
function largestJump(instants: readonly number[], timeZone: string): number {
  const offsets = instants.map((ms) => wallMsOf(ms, timeZone) - ms)
  return Math.max(...offsets) - Math.min(...offsets)
}
