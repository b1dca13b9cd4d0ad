import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { FullSchedule } from '../../../extension/features/schedule/events.ts'
import { recurrenceWords, typedClock, typedTime, untilWords } from '../../../extension/host/reminder-words.ts'

const l10n = { t: fillIn }
const base = { id: 'schedule-1', prompt: 'x', scheduledAt: '2026-01-01T00:00:00.000Z', action: 'tell', catchUp: 'once' } as const
const calendar = (rule: string, timeZone = 'UTC'): FullSchedule => ({ ...base, kind: 'calendar', calendar: { rule, timeZone, start: '2026-01-01T00:00:00' } })

describe('how often', () => {
  it.each<[FullSchedule, string | null]>([
    [{ ...base, kind: 'at' }, null],
    [{ ...base, kind: 'after', afterSeconds: 5 }, null],
    [{ ...base, kind: 'every', everySeconds: 300 }, 'every 5 minutes'],
    [{ ...base, kind: 'every', everySeconds: 301 }, 'every 301 seconds'],
    [{ ...base, kind: 'every', everySeconds: 3_600 }, 'every hour'],
    [{ ...base, kind: 'every', everySeconds: 7_200 }, 'every 2 hours'],
    [{ ...base, kind: 'every', everySeconds: 86_400 }, 'every 24 hours'],
    [{ ...base, kind: 'every', everySeconds: 172_800 }, 'every 2 days'],
    [calendar('0 9 * * *'), 'every day at 09:00'],
    [calendar('30 17 * * 1-5'), 'on weekdays at 17:30'],
    [calendar('5 7 * * 1'), 'on Mondays at 07:05'],
    [calendar('0 9 1 * *'), '0 9 1 * *'],
    [calendar('0 9 * * *', 'Europe/Berlin'), 'every day at 09:00, Europe/Berlin'],
  ])('%j', (schedule, words) => expect(recurrenceWords(schedule, 'UTC', l10n)).toBe(words))
})

describe('how far away', () => {
  it.each([[-5, 'due'], [0, 'due'], [1, 'in 1 min'], [59 * 60_000, 'in 59 min'], [90 * 60_000, 'in 2 h'], [3 * 86_400_000, 'in 3 d']])('%i', (ms, words) => expect(untilWords(ms, l10n)).toBe(words))
})

describe('a time that is typed', () => {
  const now = new Date(2026, 5, 15, 14, 0)
  const at = (text: string) => {
    const ms = typedTime(text, now)
    return ms === null ? null : new Date(ms).toString().slice(0, 21)
  }
  it.each([
    ['20m', 'Mon Jun 15 2026 14:20'], ['in 2 h', 'Mon Jun 15 2026 16:00'], ['1D', 'Tue Jun 16 2026 14:00'], ['14:30', 'Mon Jun 15 2026 14:30'], ['9:05', 'Tue Jun 16 2026 09:05'], ['14:00', 'Tue Jun 16 2026 14:00'],
    ['2026-12-31 23:59', 'Thu Dec 31 2026 23:59'], ['2026-12-31T07:00', 'Thu Dec 31 2026 07:00'],
  ])('%s', (text, expected) => expect(at(text)).toBe(expected))
  it.each(['', 'soon', '24:00', '9:60', '20', '20 weeks', '2026-02-30 09:00', '31.12. 09:00'])('%j is none', (text) => expect(at(text)).toBeNull())
  it('of the day alone is fields of cron', () => expect([typedClock('09:05'), typedClock('7:30'), typedClock('24:00'), typedClock('9')]).toEqual(['5 9', '30 7', null, null]))
})
