import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalZone, parseInstant, parseWallTime } from '../../../../extension/features/schedule/parse-at.ts'

const pad = (value: number, length = 2) => String(value).padStart(length, '0')
const part = (max: number, min = 0) => fc.integer({ min, max })

describe('a time with an offset', () => {
  it.each([
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
    ['2024-02-29T12:00:00.5Z', '2024-02-29T12:00:00.500Z'],
    ['2024-02-29T12:00:00.05+00:00', '2024-02-29T12:00:00.050Z'],
    ['2024-02-29T12:00:00.123-23:59', '2024-03-01T11:59:00.123Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s', (text, expected) => expect(new Date(parseInstant(text) ?? NaN).toISOString()).toBe(expected))

  it.each([
    '', '2024-02-29', '2024-02-29T12:00:00', '2024-02-29 12:00:00Z', '2024-02-29T12:00Z', '2024-02-29T24:00:00Z', '2024-02-29T12:60:00Z', '2024-02-29T12:00:60Z', '2024-02-29T12:00:00.Z', '2024-02-29T12:00:00.1234Z',
    '2024-02-29T12:00:00-00:00', '2024-02-29T12:00:00+24:00', '2024-02-29T12:00:00+01:60', '2024-02-29T12:00:00+0100', '2024-02-29T12:00:00+01', '2024-02-29T12:00:00z', '2024-02-29t12:00:00Z',
    '2023-02-29T12:00:00Z', '2024-02-30T12:00:00Z', '2024-13-01T12:00:00Z', '2024-00-01T12:00:00Z', '2024-01-00T12:00:00Z', '0000-01-01T12:00:00Z', '+002024-01-01T12:00:00Z', '-0001-01-01T12:00:00Z',
    ' 2024-02-29T12:00:00Z', '2024-02-29T12:00:00Z\n', '2024-02-29T12:00:00Z[UTC]', '２024-02-29T12:00:00Z',
  ])('%j is none', (text) => expect(parseInstant(text)).toBeNull())

  it('reads back every instant it can be written as, under every offset', () => {
    fc.assert(
      fc.property(part(Date.parse('9998-12-31T00:00:00Z'), Date.parse('0002-01-01T00:00:00Z')), part(23 * 60 + 59), fc.boolean(), (ms, offset, isBehind) => {
        const sign = isBehind && offset > 0 ? -1 : 1
        const shown = new Date(ms + sign * offset * 60_000).toISOString().slice(0, -1)
        return parseInstant(`${shown}${sign < 0 ? '-' : '+'}${pad(Math.floor(offset / 60))}:${pad(offset % 60)}`) === ms && parseInstant(new Date(ms).toISOString()) === ms
      }),
    )
  })
  it('takes exactly the days that a calendar has', () => {
    fc.assert(
      fc.property(part(9_999), part(13), part(32), (year, month, day) => {
        const text = `${pad(year, 4)}-${pad(month)}-${pad(day)}T00:00:00Z`
        const ms = Date.parse(text)
        const isDay = year > 0 && !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 10))
        return (parseInstant(text) !== null) === isDay
      }),
    )
  })
  it('never takes, or throws at, any other text', () => {
    fc.assert(fc.property(fc.string(), (text) => parseInstant(text) === null || /^\d{4}-\d\d-\d\dT/.test(text)))
  })
})

describe('a wall time', () => {
  it('is its parts', () => expect(parseWallTime('2024-02-29', '23:59:58.07')).toEqual({ year: 2024, month: 2, day: 29, hour: 23, minute: 59, second: 58, millisecond: 70 }))
  it.each([['2024-2-29', '12:00:00'], ['2024-02-29', '12:00'], ['2024-02-29', '24:00:00'], ['2024-02-29', '12:00:00Z'], ['2024-02-29', '12:00:00.1234'], ['2023-02-29', '12:00:00'], ['0000-02-29', '12:00:00'], ['2024-02-29 ', '12:00:00']])(
    '%j %j is none', (date, time) => expect(parseWallTime(date, time)).toBeNull(),
  )
  it('takes every time of a day and no other', () => {
    fc.assert(fc.property(part(30), part(70), part(70), (hour, minute, second) => (parseWallTime('2024-02-29', `${pad(hour)}:${pad(minute)}:${pad(second)}`) !== null) === (hour < 24 && minute < 60 && second < 60)))
  })
})

describe('a zone', () => {
  it.each([['UTC', 'UTC'], ['Europe/Berlin', 'Europe/Berlin'], ['US/Eastern', 'America/New_York'], ['europe/berlin', 'Europe/Berlin'], ['America/Argentina/Ushuaia', 'America/Argentina/Ushuaia']])('%s is %s', (name, expected) => expect(canonicalZone(name)).toBe(expected))
  it.each(['', 'GMT', 'EST', 'CET', 'EST5EDT', 'Z', 'utc', '+01:00', '-00:00', 'UTC+1', 'Mars/Olympus', 'Europe/', '/Berlin', 'Europe Berlin', ' UTC', 'Europe/Berlin\n'])('%j is none', (name) => expect(canonicalZone(name)).toBeNull())
  it('knows every zone of the system', () => expect(Intl.supportedValuesOf('timeZone').filter((name) => name.includes('/') && canonicalZone(name) === null)).toEqual([]))
})
