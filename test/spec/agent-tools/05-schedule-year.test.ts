import { beforeAll, describe, expect, it } from 'vitest'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import { featureEvents } from '../../../extension/features/event-types.ts'
import { loadCalendar } from '../../../extension/features/schedule/calendar.ts'
import { schedulesPlugin } from '../../../extension/features/schedule/plugin.ts'
import { isFailure } from '../../../extension/features/schedule/service.ts'
import type { CreateArgs } from '../../../extension/features/schedule/request.ts'
import { createFakeAgent } from '../../support/fake-agent.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import { createMemoryDisk, createMemoryEventStore } from '../../support/memory-event-store.ts'
import { runCount } from '../../support/run-count.ts'
import { createSessionRig } from '../../support/session-rig.ts'

/*
 * A whole year of reminders, through the real log and the real runtime: only the clock is turned and the model is left out.
 * What should come is reckoned beside it, from nothing but what `Intl` shows on the clocks of a zone.
 */
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

// The oracle: clocks on walls, read through Intl alone.

type Day = { readonly year: number; readonly month: number; readonly day: number; /** 0 is Sunday. */ readonly weekday: number; readonly daysInMonth: number; readonly index: number }

const formats = new Map<string, Intl.DateTimeFormat>()
/** What the wall shows at `ms`, as if it stood at UTC. */
function wallAt(ms: number, zone: string): number {
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' })
    formats.set(zone, format)
  }
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
  return Date.UTC(parts['year']!, parts['month']! - 1, parts['day'], parts['hour'], parts['minute'], parts['second'])
}
/** The first instant at which the wall shows this; where it never does, as much later as the clock jumped. */
function instantOf(wall: number, zone: string): number {
  const offsets = [...new Set([-26, -13, -3, -1, 0, 1, 3, 13, 26].map((hours) => wallAt(wall + hours * HOUR, zone) - (wall + hours * HOUR)))]
  const fitting = offsets.map((offset) => wall - offset).filter((ms) => wallAt(ms, zone) === wall)
  if (fitting.length > 0) return Math.min(...fitting)
  const before = wallAt(wall - 30 * HOUR, zone) - (wall - 30 * HOUR)
  return wall - before
}

interface CalendarRow {
  readonly zone: string
  readonly rule: string
  readonly times: readonly string[]
  readonly on: (day: Day) => boolean
}

/** Every slot of a calendar row behind `from` and up to `to`, in order. */
function slotsOf({ zone, times, on }: CalendarRow, from: number, to: number): readonly number[] {
  const slots = new Set<number>()
  const first = Math.floor(wallAt(from, zone) / DAY)
  for (let index = 0; (first + index - 2) * DAY <= to + DAY; index += 1) {
    const date = new Date((first + index) * DAY)
    const day: Day = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), weekday: date.getUTCDay(), daysInMonth: new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate(), index }
    if (!on(day)) continue
    for (const time of times) {
      const [hour = 0, minute = 0] = time.split(':').map(Number)
      slots.add(instantOf(date.getTime() + hour * HOUR + minute * MINUTE, zone))
    }
  }
  return [...slots].filter((slot) => slot > from && slot <= to).sort((a, b) => a - b)
}

const everyDay = () => true
const workdays = ({ weekday }: Day) => weekday >= 1 && weekday <= 5
const rows: readonly CalendarRow[] = [
  // In the hour that each zone leaves out in spring and has twice in autumn.
  { zone: 'Europe/Berlin', rule: '30 2 * * *', times: ['02:30'], on: everyDay },
  { zone: 'America/New_York', rule: 'FREQ=DAILY;BYHOUR=1,2;BYMINUTE=30', times: ['01:30', '02:30'], on: everyDay },
  { zone: 'Australia/Lord_Howe', rule: '15 2 * * *', times: ['02:15'], on: everyDay },
  { zone: 'Australia/Lord_Howe', rule: '45 1 * * 0', times: ['01:45'], on: ({ weekday }) => weekday === 0 },
  { zone: 'America/Sao_Paulo', rule: '0 0 * * *', times: ['00:00'], on: everyDay },
  { zone: 'America/Sao_Paulo', rule: 'FREQ=DAILY;BYHOUR=23;BYMINUTE=30', times: ['23:30'], on: everyDay },
  { zone: 'Asia/Kathmandu', rule: '45 5 * * 1-5', times: ['05:45'], on: workdays },
  { zone: 'Africa/Casablanca', rule: 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=2;BYMINUTE=30', times: ['02:30'], on: everyDay },
  { zone: 'Pacific/Apia', rule: '30 3 * * 0,6', times: ['03:30'], on: ({ weekday }) => weekday === 0 || weekday === 6 },
  // Days that a calendar has to find.
  { zone: 'America/Los_Angeles', rule: 'FREQ=MONTHLY;BYDAY=2SU;BYHOUR=2;BYMINUTE=15', times: ['02:15'], on: ({ day, weekday }) => weekday === 0 && day > 7 && day <= 14 },
  { zone: 'Europe/London', rule: 'FREQ=MONTHLY;BYDAY=-1SU;BYHOUR=1;BYMINUTE=30', times: ['01:30'], on: ({ day, weekday, daysInMonth }) => weekday === 0 && day > daysInMonth - 7 },
  { zone: 'Asia/Tehran', rule: '0 0 1,15 * *', times: ['00:00'], on: ({ day }) => day === 1 || day === 15 },
  { zone: 'UTC', rule: 'FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=12;BYMINUTE=5', times: ['12:05'], on: ({ day, daysInMonth }) => day === daysInMonth },
]

interface Awaited {
  readonly id: string
  readonly slots: readonly number[]
  readonly isOnce: boolean
  readonly skips: boolean
}
interface Delivery {
  readonly id: string
  readonly occurrence: number
  readonly at: number
}

/** A window that comes and goes over one disk: the real sessions, the real reminders, an agent that answers at once. */
async function openWindow(disk: ReturnType<typeof createMemoryDisk>, clock: ManualClock, deliveries: Delivery[]) {
  const rig = await createSessionRig({ events: createMemoryEventStore({ disk, now: () => clock.now() }), clock })
  const { root } = rig.kernel
  root.plugin(featureEvents)
  root.plugin(schedulesPlugin({ clock, logger: rig.logger, machine: createFakeMachine(), workspace: { isTrusted: () => true, onDidChangeTrust: () => () => undefined } }))
  const session = disk.logs.has('year') ? await rig.sessions.open('year') : await rig.sessions.create({ cwd: '/project', id: 'year' })
  let release: (() => void) | null = null
  let idle: Promise<void> = Promise.resolve()
  const agent: Agent & { status: 'idle' | 'running' } = Object.assign(createFakeAgent({ id: 'year' }), {
    session,
    scope: rig.kernel.createScope('year', null),
    status: 'idle' as const,
    whenIdle: () => idle,
    followup: ({ content }: UserMessage) => {
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
      const occurrences = [...text.matchAll(/"schedule_id":"(?<id>[^"]+)","occurrence_at":"(?<at>[^"]+)"|schedule_id_json: "(?<onlyId>[^"]+)"\noccurrence_at: (?<onlyAt>\S+)/g)]
      for (const { groups } of occurrences) deliveries.push({ id: groups?.['id'] ?? groups?.['onlyId'] ?? '', occurrence: Date.parse(groups?.['at'] ?? groups?.['onlyAt'] ?? ''), at: clock.now() })
    },
  })
  rig.kernel.dispatch.emit('agent/created', agent.scope, [agent])
  rig.kernel.dispatch.emit('agent/session-start', agent.scope, [agent, 'resume'])
  return {
    agent,
    schedules: root.schedules,
    beginWork() {
      agent.status = 'running'
      idle = new Promise((resolve) => (release = resolve))
    },
    endWork() {
      agent.status = 'idle'
      release?.()
      rig.kernel.dispatch.emit('agent/status', agent.scope, [agent, 'idle'])
    },
    async close() {
      await rig.kernel.dispatch.parallel('agent/disposing', agent.scope, [agent])
      await session.close()
      await rig.kernel.dispose()
    },
  }
}

const settle = async () => {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** The same numbers each time. */
function dice(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

async function liveThrough(year: number, seed: number) {
  const start = Date.UTC(year, 0, 1, 0, 0, 1)
  const end = Date.UTC(year + 1, 0, 1)
  const clock = createManualClock(start)
  const disk = createMemoryDisk()
  const roll = dice(seed)
  const deliveries: Delivery[] = []
  const expected: Delivery[] = []
  const awaited: (Awaited & { cursor: number })[] = []
  let window = await openWindow(disk, clock, deliveries)

  const make = async (args: CreateArgs, slots: readonly number[]) => {
    const request = window.schedules.read(args)
    if (isFailure(request)) throw new Error(request.message)
    const made = await window.schedules.create(window.agent, request, new AbortController().signal)
    if (isFailure(made)) throw new Error(`${JSON.stringify(args)}: ${made.message}`)
    awaited.push({ id: made.id, slots, isOnce: args.at !== undefined || args.after_seconds !== undefined, skips: args.catch_up === 'skip', cursor: clock.now() })
  }
  /** What should come when somebody looks at `now`, having last been there at its time if `isOnTime`. */
  const observe = (now: number, isOnTime: boolean) => {
    for (const one of awaited) {
      const due = one.slots.filter((slot) => slot > one.cursor && slot <= now)
      const latest = due.at(-1)
      if (latest === undefined) continue
      one.cursor = now
      if (one.skips && !isOnTime && now - latest > 5 * MINUTE) continue
      expected.push({ id: one.id, occurrence: latest, at: now })
    }
  }
  /** Time goes by and everybody is there. */
  const live = async (ms: number, isWorking = false) => {
    const until = clock.now() + ms
    if (!isWorking) {
      const times = new Set(awaited.flatMap(({ slots, cursor }) => slots.filter((slot) => slot > cursor && slot <= until && slot >= clock.now())))
      for (const time of [...times].sort((a, b) => a - b)) observe(time, true)
    }
    for (;;) {
      await settle()
      const { nextIn } = clock
      if (nextIn === null || clock.now() + nextIn > until) break
      clock.advance(nextIn)
    }
    clock.advance(until - clock.now())
    await settle()
  }

  for (const row of rows) await make({ prompt: `${row.zone} ${row.rule}`, calendar: { rule: row.rule, time_zone: row.zone } }, slotsOf(row, clock.now(), end))
  const [berlin] = rows
  await make({ prompt: 'not caught up with', calendar: { rule: berlin!.rule, time_zone: berlin!.zone }, catch_up: 'skip' }, slotsOf(berlin!, clock.now(), end))
  for (const hours of [7, 31]) await make({ prompt: `every ${hours} hours`, every_seconds: hours * 3_600 }, Array.from({ length: Math.floor((end - start) / (hours * HOUR)) }, (_, index) => clock.now() + (index + 1) * hours * HOUR))
  await settle()

  while (clock.now() < end - 4 * DAY) {
    await live(roll(5 * DAY / MINUTE) * MINUTE + 1)
    const [spell, action] = [roll(2 * DAY / MINUTE) * MINUTE + roll(MINUTE), roll(6)]
    if (action === 0) {
      // The window is closed for a while.
      await window.close()
      clock.advance(spell)
      observe(clock.now(), false)
      window = await openWindow(disk, clock, deliveries)
    } else if (action === 1) {
      // The machine sleeps: the time of day goes on, timers do not.
      clock.jump(spell)
      observe(clock.now(), false)
      window.schedules.look()
    } else if (action === 2) clock.jump(-roll(3 * HOUR))
    else if (action === 3) {
      // It works on something, which is not interrupted.
      window.beginWork()
      const before = clock.now()
      await live(Math.floor(spell / 8), true)
      // What fell due meanwhile was seen in time, so it is no miss.
      if (clock.now() > before) observe(clock.now(), true)
      window.endWork()
    } else if (action === 4) {
      const seconds = 1 + roll(20 * 86_400)
      await make({ prompt: 'after', after_seconds: seconds }, [clock.now() + seconds * 1_000])
    } else {
      const row = rows[roll(rows.length)]!
      const wall = wallAt(clock.now() + DAY + roll(30) * DAY, row.zone)
      const text = new Date(wall).toISOString()
      await make({ prompt: 'at', at: { date: text.slice(0, 10), time: '12:34:56', time_zone: row.zone } }, [instantOf(Date.parse(`${text.slice(0, 10)}T12:34:56Z`), row.zone)])
    }
    await settle()
  }
  await live(end - clock.now() - 1)
  await window.close()
  return { deliveries, expected, awaited }
}

const inOrder = (deliveries: readonly Delivery[]) =>
  deliveries.map(({ id, occurrence, at }) => `${new Date(at).toISOString()} ${id.replace('schedule-', '').padStart(4)} ${new Date(occurrence).toISOString()}`).sort()

/** The first of what came and should not have, and of what should have come. */
const differences = (came: readonly string[], due: readonly string[]) => ({ surplus: came.filter((line) => !due.includes(line)).slice(0, 8), missing: due.filter((line) => !came.includes(line)).slice(0, 8) })

describe('a year of reminders', () => {
  beforeAll(async () => {
    await loadCalendar()
  })

  // 2018: São Paulo, Samoa and Tehran still changed their clocks, and Morocco did so four times. 2026: the rules of today.
  it.each(([[2018, 1], [2026, 3], [2018, 2]] as const).slice(0, runCount({ full: 3, desk: 2 })))('%i with the dice %i: each at the instant its rule means, none twice, none lost, over closed windows, sleep, work and clocks that are set', { timeout: 120_000 }, async (year, seed) => {
    const { deliveries, expected, awaited } = await liveThrough(year, seed)
    expect(differences(inOrder(deliveries), inOrder(expected))).toEqual({ surplus: [], missing: [] })
    expect(new Set(deliveries.map(({ id, occurrence }) => `${id} ${occurrence}`)).size).toBe(deliveries.length)
    expect([deliveries.length > 2_000, awaited.length > rows.length + 10, awaited.every(({ id, isOnce }) => !isOnce || deliveries.filter((one) => one.id === id).length <= 1)]).toEqual([true, true, true])
  })

  it('the oracle knows what the clocks did', () => {
    const at = (text: string, zone: string) => new Date(instantOf(Date.parse(`${text}Z`), zone)).toISOString()
    expect([
      at('2018-03-25T02:30:00', 'Europe/Berlin'), at('2018-10-28T02:30:00', 'Europe/Berlin'), at('2018-11-04T00:00:00', 'America/Sao_Paulo'), at('2018-10-07T02:15:00', 'Australia/Lord_Howe'), at('2018-04-01T01:45:00', 'Australia/Lord_Howe'),
    ]).toEqual(['2018-03-25T01:30:00.000Z', '2018-10-28T00:30:00.000Z', '2018-11-04T03:00:00.000Z', '2018-10-06T15:45:00.000Z', '2018-03-31T14:45:00.000Z'])
  })
})
