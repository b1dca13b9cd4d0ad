import { describe, expect, it } from 'vitest'
import { isFailure } from '../../../extension/features/schedule/service.ts'
import { createScheduleRig, type ScheduleRig } from '../../support/schedule-rig.ts'

/*
 * Agent tools specification 12.12: calendar rules, what the person does with reminders, tasks, what becomes of a missed time.
 */
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const now = Date.parse('2023-11-14T22:13:20.000Z')
const later = (ms: number) => new Date(now + ms).toISOString()
const remind = (rig: ScheduleRig, text: string, more: object) => rig.call('schedule_create', { prompt: text, ...more })
const headers = (rig: ScheduleRig) => rig.told().map((text) => text.split('\n')[0])
const list = async (rig: ScheduleRig) => (await rig.call('schedule_list', {})) as readonly Record<string, unknown>[]
const daily = { rule: '0 9 * * *', time_zone: 'Europe/Berlin' }

describe('calendar rules', () => {
  it.each<[string, object, string]>([
    ['cron fields', { rule: '0 9 * * 1-5', time_zone: 'Europe/Berlin' }, '2023-11-15T08:00:00.000Z'],
    ['cron fields with names', { rule: '30 17  * * FRI', time_zone: 'America/New_York' }, '2023-11-17T22:30:00.000Z'],
    ['a recurrence rule', { rule: 'RRULE:FREQ=WEEKLY;BYDAY=MO;BYHOUR=9', time_zone: 'UTC' }, '2023-11-20T09:00:00.000Z'],
    ['every second week', { rule: 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=15', time_zone: 'UTC' }, '2023-11-27T09:15:00.000Z'],
    ['the last Friday of a month, in small letters', { rule: 'freq=monthly;byday=-1fr;byhour=16', time_zone: 'Asia/Kathmandu' }, '2023-11-24T10:15:00.000Z'],
    ['at the time of its creation', { rule: 'FREQ=DAILY', time_zone: 'UTC' }, '2023-11-15T22:13:00.000Z'],
  ])('%s', async (_name, calendar, scheduledAt) => {
    const rig = await createScheduleRig()
    expect(await remind(rig, 'x', { calendar })).toMatchObject({ kind: 'calendar', scheduledAt, state: 'scheduled', deliveryMode: 'session-local' })
  })
  it('keep the canonical zone, and stand in an event of ours, so that version 1 stays strict', async () => {
    const rig = await createScheduleRig()
    await remind(rig, 'x', { calendar: { rule: '0 9 * * *', time_zone: 'US/Eastern' } })
    expect(rig.scheduleEvents()).toEqual([
      {
        type: 'schedule/adjust', version: 1, operation: 'create',
        schedule: { id: 'schedule-1', kind: 'calendar', prompt: 'x', scheduledAt: '2023-11-15T14:00:00.000Z', calendar: { rule: '0 9 * * *', timeZone: 'America/New_York', start: '2023-11-14T17:13:00' }, action: 'tell', catchUp: 'once' },
      },
    ])
  })
  it.each<[string, object, string]>([
    ['words', { rule: 'every morning', time_zone: 'UTC' }, 'invalid_rule'],
    ['nothing', { rule: ' ', time_zone: 'UTC' }, 'invalid_rule'],
    ['an hour that is none', { rule: '0 25 * * *', time_zone: 'UTC' }, 'invalid_rule'],
    ['six fields', { rule: '0 0 9 * * *', time_zone: 'UTC' }, 'invalid_rule'],
    ['an hour that is none, as a recurrence', { rule: 'FREQ=DAILY;BYHOUR=99', time_zone: 'UTC' }, 'invalid_rule'],
    ['a part that nobody knows', { rule: 'FREQ=DAILY;BYHOURS=9', time_zone: 'UTC' }, 'invalid_rule'],
    ['a nickname', { rule: '@daily', time_zone: 'UTC' }, 'invalid_rule'],
    ['a frequency nobody knows', { rule: 'FREQ=OFTEN', time_zone: 'UTC' }, 'invalid_rule'],
    ['a beginning of its own', { rule: 'FREQ=DAILY;DTSTART=20240101T000000', time_zone: 'UTC' }, 'invalid_rule'],
    ['several lines', { rule: 'FREQ=DAILY\nFREQ=DAILY', time_zone: 'UTC' }, 'invalid_rule'],
    ['a day that never comes', { rule: '0 0 30 2 *', time_zone: 'UTC' }, 'invalid_rule'],
    ['a day that never comes, as a recurrence', { rule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', time_zone: 'UTC' }, 'invalid_rule'],
    ['an end in the past', { rule: 'FREQ=DAILY;UNTIL=20200101T000000Z', time_zone: 'UTC' }, 'invalid_rule'],
    ['more than 300 characters', { rule: `0 9 * * ${'1,'.repeat(200)}1`, time_zone: 'UTC' }, 'invalid_rule'],
    ['every minute', { rule: '* * * * *', time_zone: 'UTC' }, 'frequency_too_high'],
    ['two that are too near', { rule: '0,4 9 * * *', time_zone: 'UTC' }, 'frequency_too_high'],
    ['minutes', { rule: 'FREQ=MINUTELY;INTERVAL=1', time_zone: 'UTC' }, 'frequency_too_high'],
    ['hours with near minutes', { rule: 'FREQ=HOURLY;BYMINUTE=0,1', time_zone: 'UTC' }, 'frequency_too_high'],
    ['a zone that is none', { rule: '0 9 * * *', time_zone: 'CET' }, 'invalid_time_zone'],
  ])('%s is refused', async (_name, calendar, code) => {
    const rig = await createScheduleRig()
    expect([await remind(rig, 'x', { calendar }), rig.scheduleEvents()]).toMatchObject([{ code }, []])
  })
  it('come in the batch of what recurs, with the next slot in their dispatch', async () => {
    const rig = await createScheduleRig()
    await remind(rig, 'x', { calendar: daily })
    await rig.pass(Date.parse('2023-11-15T08:00:00.000Z') - now)
    expect(headers(rig)).toEqual(['[SCHEDULE REMINDER BATCH]'])
    expect(rig.scheduleEvents()[1]).toEqual({ type: 'schedule/adjust', version: 1, operation: 'dispatch', id: 'schedule-1', acceptedAt: '2023-11-15T08:00:00.000Z', next: '2023-11-16T08:00:00.000Z' })
  })
  it('end with their count', async () => {
    const rig = await createScheduleRig()
    await remind(rig, 'x', { calendar: { rule: 'FREQ=DAILY;COUNT=3;BYHOUR=9', time_zone: 'UTC' } })
    for (let day = 0; day < 5; day += 1) await rig.pass(24 * HOUR)
    expect([headers(rig).length, await list(rig)]).toEqual([3, []])
  })
})

describe('tasks', () => {
  it('are asked for when they are made, before anything is written, and run as what the person allowed', async () => {
    const rig = await createScheduleRig()
    rig.says.push({ outcome: 'allowed-once' })
    expect(await remind(rig, 'Run the tests', { after_seconds: 60, action: 'do' })).toMatchObject({ id: 'schedule-1', action: 'do' })
    expect(rig.asked.map(({ toolName, details }) => [toolName, details?.effect, details?.mustAsk])).toEqual([['schedule_create', 'Work by itself in 60 seconds: Run the tests', true]])
    await rig.pass(MINUTE)
    expect([headers(rig), rig.agent.session.messages()[0]?.source]).toEqual([['[SCHEDULED TASK]'], { kind: 'plugin', plugin: 'schedule' }])
  })
  it.each([
    ['no', { outcome: 'rejected' as const, note: 'Not at night.' }],
    ['no answer', { outcome: 'unavailable' as const }],
  ])('%s: nothing is planned, and the model hears why', async (_name, answer) => {
    const rig = await createScheduleRig()
    rig.says.push(answer)
    const outcome = await remind(rig, 'x', { after_seconds: 60, action: 'do' })
    expect([outcome, rig.scheduleEvents()]).toMatchObject([{ code: 'not_approved' }, []])
    if (answer.outcome === 'rejected') expect((outcome as { message: string }).message).toContain('Not at night.')
  })
  it('nobody is asked for what is refused anyhow, nor for what only tells', async () => {
    const rig = await createScheduleRig()
    await remind(rig, 'x', { after_seconds: 0, action: 'do' })
    await remind(rig, 'x', { after_seconds: 60 })
    expect(rig.asked).toEqual([])
  })
  it('that recur come one turn each, beside the batch of what tells', async () => {
    const rig = await createScheduleRig()
    rig.says.push({ outcome: 'allowed-once' }, { outcome: 'allowed-once' })
    await remind(rig, 'tell', { every_seconds: 300 })
    await remind(rig, 'do a', { every_seconds: 300, action: 'do' })
    await remind(rig, 'do b', { every_seconds: 300, action: 'do' })
    await rig.pass(5 * MINUTE)
    expect(headers(rig)).toEqual(['[SCHEDULED TASK]', '[SCHEDULED TASK]', '[SCHEDULE REMINDER BATCH]'])
  })
})

describe('what becomes of a missed time', () => {
  it('once: told when the session is opened again, of what recurs its latest slot', async () => {
    const rig = await createScheduleRig()
    await remind(rig, 'x', { calendar: daily })
    const again = await rig.restart(5 * 24 * HOUR)
    expect([headers(again), again.told()[0]?.includes('2023-11-19T08:00:00.000Z')]).toEqual([['[SCHEDULE REMINDER BATCH]'], true])
  })
  it('skip: left out, durably, and the next slot stands', async () => {
    const rig = await createScheduleRig()
    await remind(rig, 'daily', { calendar: daily, catch_up: 'skip' })
    await remind(rig, 'once', { after_seconds: 3_600, catch_up: 'skip' })
    const again = await rig.restart(5 * 24 * HOUR)
    expect([headers(again), again.scheduleEvents().slice(2)]).toEqual([
      [], ['schedule-1', 'schedule-2'].map((id, index) => ({ type: 'schedule/adjust', version: 1, operation: 'skip', id, acceptedAt: later(5 * 24 * HOUR), next: index === 0 ? '2023-11-20T08:00:00.000Z' : null })),
    ])
    expect(await list(again)).toMatchObject([{ id: 'schedule-1', catchUp: 'skip' }])
    await again.pass(Date.parse('2023-11-20T08:00:00.000Z') - again.clock.now())
    expect(headers(again)).toHaveLength(1)
  })
  it('a wait for an agent at work is no miss', async () => {
    const rig = await createScheduleRig({ answers: [[{ type: 'hang' }]] })
    await remind(rig, 'x', { after_seconds: 60, catch_up: 'skip' })
    rig.agent.followup({ id: 'u', role: 'user', content: [{ type: 'text', text: 'work' }], source: { kind: 'user' } })
    rig.clock.advance(MINUTE)
    await new Promise((resolve) => setTimeout(resolve, 20))
    rig.clock.advance(HOUR)
    rig.agent.cancel({ kind: 'user' })
    await rig.pass(0)
    expect(headers(rig)).toEqual(['work', '[SCHEDULE REMINDER]'])
  })
})

describe('what the person does', () => {
  it('pause: nothing comes; resume: what recurs goes on with its next slot, what comes once is due at once', async () => {
    const rig = await createScheduleRig()
    await remind(rig, 'every', { every_seconds: 300 })
    await remind(rig, 'once', { after_seconds: 60 })
    for (const id of ['schedule-1', 'schedule-2']) await rig.schedules.pause(rig.agent, id)
    await rig.pass(11 * MINUTE)
    expect([headers(rig), (await list(rig)).map(({ isPaused, state }) => [isPaused, state])]).toEqual([[], [[true, 'scheduled'], [true, 'scheduled']]])
    for (const id of ['schedule-1', 'schedule-2']) await rig.schedules.resume(rig.agent, id)
    await rig.pass(0)
    expect([headers(rig), (await list(rig)).map(({ scheduledAt }) => scheduledAt)]).toEqual([['[SCHEDULE REMINDER]'], [later(15 * MINUTE)]])
  })
  it('snooze: put off once; what recurs keeps its slots', async () => {
    const rig = await createScheduleRig()
    await remind(rig, 'every', { every_seconds: 300 })
    await rig.schedules.snooze(rig.agent, 'schedule-1', now + 7 * MINUTE)
    await rig.pass(6 * MINUTE)
    expect([headers(rig), await list(rig)]).toMatchObject([[], [{ snoozedUntil: later(7 * MINUTE), scheduledAt: later(5 * MINUTE) }]])
    await rig.pass(MINUTE)
    expect([headers(rig).length, rig.told()[0]?.includes(later(5 * MINUTE)), (await list(rig))[0]?.['scheduledAt']]).toEqual([1, true, later(10 * MINUTE)])
  })
  it('run now: at once, also while it is paused, which it stays', async () => {
    const rig = await createScheduleRig()
    await remind(rig, 'every', { every_seconds: 300 })
    await rig.schedules.pause(rig.agent, 'schedule-1')
    await rig.schedules.runNow(rig.agent, 'schedule-1')
    await rig.pass(0)
    expect([headers(rig).length, rig.told()[0]?.includes(later(0)), await list(rig)]).toMatchObject([1, true, [{ isPaused: true, scheduledAt: later(5 * MINUTE) }]])
    await rig.pass(20 * MINUTE)
    expect(headers(rig)).toHaveLength(1)
  })
  it('edit: other words, another time; the id stays', async () => {
    const rig = await createScheduleRig()
    await remind(rig, 'a', { after_seconds: 60 })
    await rig.schedules.edit(rig.agent, 'schedule-1', { prompt: ' b ', when: { atMs: now + 10 * MINUTE } })
    await rig.pass(9 * MINUTE)
    expect(headers(rig)).toEqual([])
    await rig.pass(MINUTE)
    expect([rig.told()[0]?.split('\n')[4], rig.scheduleEvents().at(-1)]).toEqual(['reminder_prompt_json: "b"', { type: 'schedule/change', version: 1, operation: 'dispatch', id: 'schedule-1' }])
  })
  it('remind again: a new one, once', async () => {
    const rig = await createScheduleRig()
    await remind(rig, 'a', { after_seconds: 60 })
    rig.schedules.onDidDeliver(({ agent, delivered }) => void rig.schedules.again(agent, delivered[0]!, rig.clock.now() + 10 * MINUTE))
    await rig.pass(MINUTE)
    expect(await list(rig)).toMatchObject([{ id: 'schedule-2', prompt: 'a', scheduledAt: later(11 * MINUTE) }])
  })
  it('survives a restart', async () => {
    const rig = await createScheduleRig()
    for (const text of ['paused', 'snoozed', 'edited']) await remind(rig, text, { after_seconds: 600 })
    await rig.schedules.pause(rig.agent, 'schedule-1')
    await rig.schedules.snooze(rig.agent, 'schedule-2', now + HOUR)
    await rig.schedules.edit(rig.agent, 'schedule-3', { prompt: 'new' })
    const before = await list(rig)
    expect(await list(await rig.restart())).toEqual(before)
  })
  it.each<[string, (rig: ScheduleRig) => Promise<object>, string]>([
    ['a reminder that is gone', ({ schedules, agent }) => schedules.pause(agent, 'schedule-9'), 'schedule_not_found'],
    ['a snooze into the past', ({ schedules, agent }) => schedules.snooze(agent, 'schedule-1', now), 'not_future'],
    ['a resume of what goes', ({ schedules, agent }) => schedules.resume(agent, 'schedule-1'), 'invalid_rule'],
    ['an edit to no words', ({ schedules, agent }) => schedules.edit(agent, 'schedule-1', { prompt: ' ' }), 'invalid_prompt'],
    ['an edit to the past', ({ schedules, agent }) => schedules.edit(agent, 'schedule-1', { when: { atMs: now - 1 } }), 'not_future'],
    ['an edit of what comes once to what recurs', ({ schedules, agent }) => schedules.edit(agent, 'schedule-1', { when: { everySeconds: 300 } }), 'invalid_rule'],
    ['an edit of what recurs to what comes once', ({ schedules, agent }) => schedules.edit(agent, 'schedule-2', { when: { atMs: now + HOUR } }), 'invalid_rule'],
    ['an edit to a rule of what comes every so many seconds', ({ schedules, agent }) => schedules.edit(agent, 'schedule-2', { when: { rule: '0 9 * * *', timeZone: 'UTC' } }), 'invalid_rule'],
    ['an edit to too often', ({ schedules, agent }) => schedules.edit(agent, 'schedule-2', { when: { everySeconds: 299 } }), 'frequency_too_high'],
  ])('%s is refused, and nothing is written', async (_name, act, code) => {
    const rig = await createScheduleRig()
    await remind(rig, 'once', { after_seconds: 600 })
    await remind(rig, 'every', { every_seconds: 600 })
    const outcome = await act(rig)
    expect([isFailure(outcome) && outcome.code, rig.scheduleEvents().length]).toEqual([code, 2])
  })
})

it('what a session holds is known from beside its log', async () => {
  const rig = await createScheduleRig()
  await remind(rig, 'a', { after_seconds: 60 })
  await rig.agent.dispose()
  expect(await rig.ctx.sessions.valueOf(rig.agent.id, 'schedules')).toMatchObject({ entries: [{ schedule: { id: 'schedule-1', prompt: 'a' } }], problem: null })
})
