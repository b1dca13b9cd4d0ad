/** A wall time of no zone. */
export interface WallTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly millisecond: number
}

const DATE = String.raw`(\d{4})-(\d\d)-(\d\d)`
const TIME = String.raw`(\d\d):(\d\d):(\d\d)(?:\.(\d{1,3}))?`
const wholeInstant = new RegExp(`^${DATE}T${TIME}(?:Z|([+-])(\\d\\d):(\\d\\d))$`)
const wholeDate = new RegExp(`^${DATE}$`)
const wholeTime = new RegExp(`^${TIME}$`)

/** Epoch milliseconds of `YYYY-MM-DDTHH:mm:ss[.fff]` with `Z` or an offset; null for anything else. Source: agent tools specification 5.2. */
export function parseInstant(text: string): number | null {
  const match = wholeInstant.exec(text)
  if (match === null) return null
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHours, offsetMinutes] = match
  const wall = wallFrom([year, month, day], [hour, minute, second, fraction])
  if (wall === null) return null
  const ms = epochOf(wall)
  if (sign === undefined) return ms
  const [hours, minutes] = [Number(offsetHours), Number(offsetMinutes)]
  if (hours > 23 || minutes > 59 || (sign === '-' && hours === 0 && minutes === 0)) return null
  return ms - (sign === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** `YYYY-MM-DD` and `HH:mm:ss[.fff]` of a day that there is; null for anything else. */
export function parseWallTime(date: string, time: string): WallTime | null {
  const day = wholeDate.exec(date)
  const clock = wholeTime.exec(time)
  return day === null || clock === null ? null : wallFrom(day.slice(1), clock.slice(1))
}

/** `UTC`, or a name of the form `Area/Location`; abbreviations and offsets are refused, whatever the system makes of them. Canonical, or null. */
export function canonicalZone(name: string): string | null {
  if (name === 'UTC') return name
  if (!/^[A-Za-z_]+(?:\/[A-Za-z0-9_+-]+)+$/.test(name)) return null
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    // The only thing it throws for is a zone that nobody knows.
    return null
  }
}

/** As if the wall stood at UTC. */
export function epochOf({ year, month, day, hour, minute, second, millisecond }: WallTime): number {
  const date = new Date(0)
  // `Date.UTC` takes the years 0 to 99 for those of the last century.
  date.setUTCFullYear(year, month - 1, day)
  return date.setUTCHours(hour, minute, second, millisecond)
}

function wallFrom(date: readonly (string | undefined)[], time: readonly (string | undefined)[]): WallTime | null {
  const [year = 0, month = 0, day = 0] = date.map(Number)
  const [hour = 0, minute = 0, second = 0] = time.slice(0, 3).map(Number)
  if (year === 0 || hour > 23 || minute > 59 || second > 59) return null
  const wall = { year, month, day, hour, minute, second, millisecond: Number((time[3] ?? '').padEnd(3, '0')) }
  const check = new Date(epochOf(wall))
  return check.getUTCFullYear() === year && check.getUTCMonth() === month - 1 && check.getUTCDate() === day ? wall : null
}
