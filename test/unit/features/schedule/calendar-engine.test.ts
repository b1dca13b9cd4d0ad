import { describe, expect, it } from 'vitest'
import { openCalendar } from '../../../../extension/features/schedule/calendar-engine.ts'

const times = (rule: string, timeZone: string, from: string, count: number) => {
  const calendar = openCalendar({ rule, timeZone, start: '2000-01-01T00:00:00' })
  const found: string[] = []
  for (let at = calendar.next(Date.parse(from)); at !== null && found.length < count; at = calendar.next(at)) found.push(new Date(at).toISOString())
  return found
}

describe('where the clock changes', () => {
  it('a time that is left out comes as much later as the clock jumped, and once', () =>
    expect(times('30 2 * * *', 'Europe/Berlin', '2024-03-30T12:00:00Z', 2)).toEqual(['2024-03-31T01:30:00.000Z', '2024-04-01T00:30:00.000Z']))
  it('two that then mean the same instant come once', () =>
    expect(times('30 2,3 * * *', 'Europe/Berlin', '2024-03-31T00:00:00Z', 2)).toEqual(['2024-03-31T01:30:00.000Z', '2024-04-01T00:30:00.000Z']))
  it('one that is moved behind another comes behind it', () =>
    expect(times('45 2,3 * * *', 'Australia/Lord_Howe', '2024-10-05T15:00:00Z', 2)).toEqual(['2024-10-05T15:45:00.000Z', '2024-10-05T16:45:00.000Z']))
  it('a time that comes twice comes at its first, also when it is asked between the two', () => {
    expect(times('30 2 * * *', 'Europe/Berlin', '2024-10-27T00:00:00Z', 2)).toEqual(['2024-10-27T00:30:00.000Z', '2024-10-28T01:30:00.000Z'])
    expect(times('30 2 * * *', 'Europe/Berlin', '2024-10-27T01:10:00Z', 1)).toEqual(['2024-10-28T01:30:00.000Z'])
  })
  it('a whole day that a zone left out is made up for', () =>
    // Samoa went from the 29th to the 31st of December 2011.
    expect(times('0 9 * * *', 'Pacific/Apia', '2011-12-29T12:00:00Z', 3)).toEqual(['2011-12-29T19:00:00.000Z', '2011-12-30T19:00:00.000Z', '2011-12-31T19:00:00.000Z']))
})

describe('a rule with an end', () => {
  const daily = (more: string, timeZone: string) => times(`FREQ=DAILY;${more}`, timeZone, '2026-12-02T12:00:00Z', 9)
  it('comes until an instant, wherever the zone is, and at it', () => {
    expect(daily('BYHOUR=17;UNTIL=20261203T170000Z', 'America/Los_Angeles')).toEqual(['2026-12-03T01:00:00.000Z'])
    expect(daily('BYHOUR=9;UNTIL=20261203T000000Z', 'Asia/Tokyo')).toEqual(['2026-12-03T00:00:00.000Z'])
  })
  it('comes until a time of its zone, and until the end of a day', () => {
    expect(daily('BYHOUR=9;UNTIL=20261203T090000', 'Asia/Tokyo')).toEqual(['2026-12-03T00:00:00.000Z'])
    expect(daily('BYHOUR=9;UNTIL=20261203T085959', 'Asia/Tokyo')).toEqual([])
    expect(daily('UNTIL=20261204;BYHOUR=23', 'Europe/Berlin')).toEqual(['2026-12-02T22:00:00.000Z', '2026-12-03T22:00:00.000Z', '2026-12-04T22:00:00.000Z'])
  })
  it('its last time is the last, however late it is asked for', () =>
    expect(new Date(openCalendar({ rule: 'FREQ=HOURLY;UNTIL=20300101T000000Z', timeZone: 'UTC', start: '2026-01-01T00:00:00' }).latest(Date.parse('2026-01-01T00:00:00Z'), Date.parse('2046-01-01T00:00:00Z'))).toISOString()).toBe('2030-01-01T00:00:00.000Z'))
  it('no end is a day that there is not', () => expect(() => daily('UNTIL=20261340', 'UTC')).toThrow('UNTIL'))
})

it('the last time is found without walking from the beginning', () => {
  const calendar = openCalendar({ rule: '*/5 * * * *', timeZone: 'America/New_York', start: '2000-01-01T00:00:00' })
  const startedAt = performance.now()
  expect(new Date(calendar.latest(Date.parse('2000-01-01T05:00:00Z'), Date.parse('2024-11-03T06:12:00Z'))).toISOString()).toBe('2024-11-03T05:55:00.000Z')
  expect(performance.now() - startedAt).toBeLessThan(20_000)
})
