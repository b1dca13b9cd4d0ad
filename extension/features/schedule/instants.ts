/** The first and the last millisecond that can be written: years 0001 to 9999. */
const MIN_INSTANT = Date.parse('0001-01-01T00:00:00.000Z')
const MAX_INSTANT = Date.parse('9999-12-31T23:59:59.999Z')

/** Epoch milliseconds as `YYYY-MM-DDTHH:mm:ss.sssZ`, or null outside the years 0001 to 9999. */
export const instantFrom = (ms: number): string | null => (ms >= MIN_INSTANT && ms <= MAX_INSTANT ? new Date(ms).toISOString() : null)

/** Epoch milliseconds of a canonical instant, or null for anything else. */
export function millisecondsOf(instant: unknown): number | null {
  if (typeof instant !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(instant)) return null
  const ms = Date.parse(instant)
  return Number.isNaN(ms) || instantFrom(ms) !== instant ? null : ms
}

/** The same of an instant that the fold has checked. */
export const msOf = (instant: string): number => Date.parse(instant)

/** The first slot after `afterMs` of what comes every so many seconds, counted from any slot of it. Null behind the year 9999. */
export function nextSlot(slotMs: number, everySeconds: number, afterMs: number): string | null {
  const step = everySeconds * 1_000
  return instantFrom(slotMs + (Math.floor((afterMs - slotMs) / step) + 1) * step)
}

/** The last slot that is not behind `nowMs`. */
export const latestSlot = (slotMs: number, everySeconds: number, nowMs: number): number => slotMs + Math.floor((nowMs - slotMs) / (everySeconds * 1_000)) * everySeconds * 1_000
