import { describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import { createFakeAgent } from '../../support/fake-agent.ts'
import { prompt } from '../../support/loop-rig.ts'
import { createScheduleRig, type ScheduleRig } from '../../support/schedule-rig.ts'
import { callTools, sayText } from '../../support/scripted-adapter.ts'

/** The rig's clock begins here. */
const now = '2023-11-14T22:13:20.000Z'
const later = (seconds: number) => new Date(Date.parse(now) + seconds * 1_000).toISOString()
const code = async (args: object, rig?: ScheduleRig) => ((await (rig ?? (await createScheduleRig())).call('schedule_create', args)) as { readonly code?: string }).code
const create = (schedule: object): EventDraft => ({ type: 'schedule/change', data: { version: 1, operation: 'create', schedule } } as EventDraft)
const at = (id: string, scheduledAt = later(60)) => ({ id, kind: 'at', prompt: id, scheduledAt })

describe('5.1 records', () => {
  it.each<[string, object, object]>([
    ['after', { after_seconds: 90 }, { kind: 'after', scheduledAt: later(90), afterSeconds: 90 }],
    ['every', { every_seconds: 300 }, { kind: 'every', scheduledAt: later(300), everySeconds: 300 }],
    ['at, without its offset', { at: '2023-11-15T12:00:00+02:00' }, { kind: 'at', scheduledAt: '2023-11-15T10:00:00.000Z' }],
    ['at in a zone, without the zone', { at: { date: '2023-11-15', time: '12:00:00.5', time_zone: 'US/Eastern' } }, { kind: 'at', scheduledAt: '2023-11-15T17:00:00.500Z' }],
  ])('%s: the value is its view, the event has exactly the keys of version 1, the model reads compact JSON', async (_name, selector, record) => {
    const rig = await createScheduleRig()
    const result = await rig.run('schedule_create', { prompt: '  Drink  water ', ...selector })
    const schedule = { id: 'schedule-1', prompt: 'Drink  water', ...record }
    const view = { ...schedule, state: 'scheduled', deliveryMode: 'session-local' }
    expect(result).toMatchObject({ isError: false, value: view })
    expect(JSON.parse((result.content[0] as { text: string }).text)).toEqual(view)
    expect((result.content[0] as { text: string }).text).not.toMatch(/[\n]| {3}|": /)
    expect(rig.scheduleEvents()).toEqual([{ type: 'schedule/change', version: 1, operation: 'create', schedule }])
  })
  it('ids go on over deleted ones and over a restart', async () => {
    const rig = await createScheduleRig()
    for (const _ of [1, 2]) await rig.call('schedule_create', { prompt: 'a', after_seconds: 60 })
    await rig.call('schedule_delete', { id: 'schedule-2' })
    expect(await rig.call('schedule_create', { prompt: 'a', after_seconds: 60 })).toMatchObject({ id: 'schedule-3' })
    await rig.call('schedule_delete', { id: 'schedule-3' })
    expect(await (await rig.restart()).call('schedule_create', { prompt: 'a', after_seconds: 60 })).toMatchObject({ id: 'schedule-4' })
  })
  it('what is due and waits is overdue in the view, from the very moment on', async () => {
    const rig = await createScheduleRig({ isTrusted: false })
    await rig.call('schedule_create', { prompt: 'a', after_seconds: 60 })
    await rig.pass(59_999)
    expect(await rig.call('schedule_list', {})).toMatchObject([{ state: 'scheduled' }])
    await rig.pass(1)
    expect(await rig.call('schedule_list', {})).toMatchObject([{ state: 'overdue' }])
  })
})

describe('5.1 strict replay', () => {
  const change = (data: object): EventDraft => ({ type: 'schedule/change', data } as EventDraft)
  const one = create(at('schedule-1'))
  const every = create({ id: 'schedule-1', kind: 'every', prompt: 'x', scheduledAt: later(300), everySeconds: 300 })
  const rows: readonly [string, ...EventDraft[]][] = [
    ['another version', change({ version: 2, operation: 'delete', id: 'schedule-1' })],
    ['an unknown operation', change({ version: 1, operation: 'pause', id: 'schedule-1' })],
    ['surplus keys', one, change({ version: 1, operation: 'delete', id: 'schedule-1', why: 'x' })],
    ['surplus keys of a record', create({ ...at('schedule-1'), zone: 'UTC' })],
    ['keys of another kind', create({ ...at('schedule-1'), afterSeconds: 3 })],
    ['a missing key', create({ id: 'schedule-1', kind: 'every', prompt: 'x', scheduledAt: later(300) })],
    ['an id that is none', create(at('reminder-1'))],
    ['an id created twice', one, one],
    ['an id created again after it went', one, change({ version: 1, operation: 'delete', id: 'schedule-1' }), one],
    ['a padded prompt', create({ ...at('schedule-1'), prompt: ' x' })],
    ['a time that is not canonical', create(at('schedule-1', '2023-11-15T12:00:00Z'))],
    ['a year 0', create(at('schedule-1', '0000-11-15T12:00:00.000Z'))],
    ['a dispatch with acceptedAt of what comes once', one, change({ version: 1, operation: 'dispatch', id: 'schedule-1', acceptedAt: later(60) })],
    ['a dispatch without acceptedAt of what recurs', every, change({ version: 1, operation: 'dispatch', id: 'schedule-1' })],
    ['a delete of an id that is not active', change({ version: 1, operation: 'delete', id: 'schedule-1' })],
    ['a dispatch of an id that is not active', one, change({ version: 1, operation: 'dispatch', id: 'schedule-1' }), change({ version: 1, operation: 'dispatch', id: 'schedule-1' })],
    ['an adjustment of an id that is not active', { type: 'schedule/adjust', data: { version: 1, operation: 'pause', id: 'schedule-1' } }],
    ['a delete of the other event', one, { type: 'schedule/adjust', data: { version: 1, operation: 'delete', id: 'schedule-1' } }],
  ]
  it.each(rows)('%s is a corrupt log: every tool says so, nothing is delivered, and the session still opens', async (_name, ...events) => {
    const rig = await createScheduleRig({ events: [create(at('schedule-9', later(1))), ...events.map((event) => (JSON.parse(JSON.stringify(event).replaceAll('schedule-1"', 'schedule-10"')) as EventDraft))] })
    expect(await Promise.all([rig.call('schedule_list', {}), rig.call('schedule_delete', { id: 'schedule-9' }), rig.call('schedule_create', { prompt: 'x', after_seconds: 5 })])).toMatchObject([{ code: 'corrupt_schedule_log' }, { code: 'corrupt_schedule_log' }, { code: 'corrupt_schedule_log' }])
    await rig.pass(120_000)
    expect([rig.told(), rig.schedules.state(rig.agent)?.delivery]).toEqual([[], 'faulted'])
  })
  it('a fork ignores what it inherited, and counts from 1', async () => {
    const rig = await createScheduleRig()
    await rig.call('schedule_create', { prompt: 'a', after_seconds: 60 })
    await rig.agent.session.flush()
    const fork = await rig.ctx.sessions.fork(rig.agent.id)
    await fork.close()
    const forked = await rig.agents.resume(fork.id)
    expect(await rig.call('schedule_list', {}, { agent: forked })).toEqual([])
    expect(await rig.call('schedule_create', { prompt: 'b', after_seconds: 60 }, { agent: forked })).toMatchObject({ id: 'schedule-1', prompt: 'b' })
    await rig.pass(60_000)
    expect(forked.session.events().filter(({ type }) => type === 'schedule/change')).toHaveLength(3)
  })
})

describe('5.2 schedule_create refuses, as a value', () => {
  it.each<[string, object, string]>([
    ['no selector', {}, 'invalid_selector'],
    ['two selectors', { after_seconds: 1, every_seconds: 300 }, 'invalid_selector'],
    ['a calendar counts as one', { after_seconds: 1, calendar: { rule: '0 9 * * *', time_zone: 'UTC' } }, 'invalid_selector'],
    ['an unknown key', { after_seconds: 1, repeat: true }, 'invalid_selector'],
    ['a prompt of blanks', { prompt: ' \n ', after_seconds: 1 }, 'invalid_prompt'],
    ['a prompt that is too long', { prompt: 'x'.repeat(4_001), after_seconds: 1 }, 'invalid_prompt'],
    ['after nothing', { after_seconds: 0 }, 'invalid_rule'],
    ['after a part of a second', { after_seconds: 1.5 }, 'invalid_rule'],
    ['after more than can be counted', { after_seconds: 2 ** 53 }, 'invalid_rule'],
    ['after the year 9999', { after_seconds: 2 ** 53 - 1 }, 'time_out_of_range'],
    ['every -1 seconds', { every_seconds: -1 }, 'invalid_rule'],
    ['every 299 seconds', { every_seconds: 299 }, 'frequency_too_high'],
    ['every so many seconds that the first is out of range', { every_seconds: 2 ** 53 - 1 }, 'time_out_of_range'],
    ['now', { at: now }, 'not_future'],
    ['the past', { at: '2023-11-14T22:13:19.999Z' }, 'not_future'],
    ['a year 10000 by its offset', { at: '9999-12-31T23:59:59-01:00' }, 'time_out_of_range'],
    ['a text without an offset', { at: '2023-11-15T12:00:00' }, 'invalid_rule'],
    ['a zone that is none', { at: { date: '2023-11-15', time: '12:00:00', time_zone: 'Mars/Olympus' } }, 'invalid_time_zone'],
    ['an abbreviation', { at: { date: '2023-11-15', time: '12:00:00', time_zone: 'EST' } }, 'invalid_time_zone'],
    ['GMT', { at: { date: '2023-11-15', time: '12:00:00', time_zone: 'GMT' } }, 'invalid_time_zone'],
    ['an offset for a zone', { at: { date: '2023-11-15', time: '12:00:00', time_zone: '+01:00' } }, 'invalid_time_zone'],
    ['a time that the clock leaves out', { at: { date: '2024-03-31', time: '02:30:00', time_zone: 'Europe/Berlin' } }, 'invalid_rule'],
    ['a day that is none', { at: { date: '2024-02-30', time: '02:30:00', time_zone: 'Europe/Berlin' } }, 'invalid_rule'],
  ])('%s', async (_name, args, expected) => {
    const rig = await createScheduleRig()
    expect([await code({ prompt: 'x', ...args }, rig), rig.scheduleEvents()]).toEqual([expected, []])
  })
  it.each<[string, unknown]>([
    ['no prompt', { after_seconds: 1 }],
    ['a text for seconds', { prompt: 'x', after_seconds: '1' }],
    ['a surplus key in at', { prompt: 'x', at: { date: '2024-02-03', time: '02:30:00', time_zone: 'UTC', fold: 1 } }],
    ['an action nobody knows', { prompt: 'x', after_seconds: 1, action: 'shout' }],
  ])('%s breaks the schema, and that is an error', async (_name, args) => expect(await (await createScheduleRig()).call('schedule_create', args)).toBe('error INVALID_ARGS'))
  it('checks in this order: keys and selector, prompt, shape, before anything is flushed; then what needs the clock, after a flush', async () => {
    const rig = await createScheduleRig()
    rig.store.failWrites('disk full')
    rig.agent.session.append({ type: 'plan/mode', data: { active: false } })
    const codes = await Promise.all(
      [
        { prompt: ' ', more: 1, after_seconds: 0 }, { prompt: ' ', after_seconds: 0, every_seconds: 1 }, { prompt: ' ', after_seconds: 0 }, { prompt: 'x', after_seconds: 0 }, { prompt: 'x', every_seconds: 1 },
        { prompt: 'x', at: 'never' }, { prompt: 'x', at: now }, { prompt: 'x', after_seconds: 2 ** 53 - 1 }, { prompt: 'x', after_seconds: 1 },
      ].map((args) => rig.body('schedule_create', args)),
    )
    expect(codes.map((value) => (value as { readonly code: string }).code)).toEqual([
      'invalid_selector', 'invalid_selector', 'invalid_prompt', 'invalid_rule', 'frequency_too_high',
      'persistence_uncertain', 'persistence_uncertain', 'persistence_uncertain', 'persistence_uncertain',
    ])
  })
  it('more than 100 active reminders', async () => {
    const rig = await createScheduleRig({ events: Array.from({ length: 100 }, (_, index) => create(at(`schedule-${index + 1}`, later(99_999)))) })
    expect(await code({ prompt: 'x', after_seconds: 1 }, rig)).toBe('too_many_schedules')
  })
})

describe('5.2 wall times', () => {
  const instant = async (date: string, time: string, time_zone: string) => ((await (await createScheduleRig()).call('schedule_create', { prompt: 'x', at: { date, time, time_zone } })) as { readonly scheduledAt?: string }).scheduledAt
  it.each([
    ['that come twice mean the earlier', '2024-10-27', '02:30:00', 'Europe/Berlin', '2024-10-27T00:30:00.000Z'],
    ['on the other half of the earth too', '2024-04-07', '02:30:00', 'Australia/Sydney', '2024-04-06T15:30:00.000Z'],
    ['where the clock moves by half an hour', '2024-04-07', '01:45:00', 'Australia/Lord_Howe', '2024-04-06T14:45:00.000Z'],
    ['in an odd zone', '2024-04-07', '06:00:00', 'Asia/Kathmandu', '2024-04-07T00:15:00.000Z'],
    ['in UTC', '2024-04-07', '06:00:00.25', 'UTC', '2024-04-07T06:00:00.250Z'],
    ['under an alias', '2024-07-01', '06:00:00', 'US/Eastern', '2024-07-01T10:00:00.000Z'],
  ])('%s', async (_name, date, time, zone, expected) => expect(await instant(date, time, zone)).toBe(expected))
  it('are never read in the zone of the machine', async () => {
    const before = process.env['TZ']
    process.env['TZ'] = 'Pacific/Auckland'
    try {
      expect(await instant('2024-07-01', '06:00:00', 'Europe/Berlin')).toBe('2024-07-01T04:00:00.000Z')
    } finally {
      if (before === undefined) delete process.env['TZ']
      else process.env['TZ'] = before
    }
  })
})

describe('5.2 schedule_list and schedule_delete', () => {
  it('lists in order of creation, whatever comes first', async () => {
    const rig = await createScheduleRig()
    for (const seconds of [900, 60, 300]) await rig.call('schedule_create', { prompt: 'x', after_seconds: seconds })
    expect(((await rig.call('schedule_list', {})) as { id: string }[]).map(({ id }) => id)).toEqual(['schedule-1', 'schedule-2', 'schedule-3'])
  })
  it('deletes once; a second time is no failure', async () => {
    const rig = await createScheduleRig()
    await rig.call('schedule_create', { prompt: 'x', after_seconds: 60 })
    expect([await rig.call('schedule_delete', { id: 'schedule-1' }), await rig.call('schedule_delete', { id: 'schedule-1' }), await rig.call('schedule_list', {})]).toEqual([
      { id: 'schedule-1', deleted: true }, { id: 'schedule-1', deleted: false, code: 'schedule_not_found' }, [],
    ])
    expect(rig.scheduleEvents()[1]).toEqual({ type: 'schedule/change', version: 1, operation: 'delete', id: 'schedule-1' })
  })
  it.each(['', ' schedule-1', 'schedule-1\n'])('the id %j is refused', async (id) => expect(await (await createScheduleRig()).call('schedule_delete', { id })).toMatchObject({ code: 'invalid_selector' }))
  it('what is deleted is not delivered', async () => {
    const rig = await createScheduleRig()
    await rig.call('schedule_create', { prompt: 'x', after_seconds: 60 })
    await rig.call('schedule_delete', { id: 'schedule-1' })
    await rig.pass(120_000)
    expect([rig.told(), rig.clock.waiting]).toEqual([[], 0])
  })
})

describe('5.2 persistence', () => {
  it('a failed flush behind the append gives the id; the next list that can be written clarifies', async () => {
    const rig = await createScheduleRig()
    const flush = rig.agent.session.flush.bind(rig.agent.session)
    let flushes = 0
    rig.agent.session.flush = async () => {
      flushes += 1
      if (flushes === 2) throw new Error('disk full')
      await flush()
    }
    expect(await rig.body('schedule_create', { prompt: 'x', after_seconds: 600 })).toMatchObject({ code: 'persistence_uncertain', operation: 'create', id: 'schedule-1' })
    expect(rig.scheduleEvents()).toHaveLength(1)
    expect(await rig.call('schedule_list', {})).toMatchObject([{ id: 'schedule-1' }])
  })
  it.each<[string, Json, object]>([
    ['schedule_create', { prompt: 'x', after_seconds: 600 }, { code: 'persistence_uncertain', operation: 'create' }],
    ['schedule_list', {}, { code: 'persistence_uncertain', operation: 'list' }],
    ['schedule_delete', { id: 'schedule-1' }, { code: 'persistence_uncertain', operation: 'delete', id: 'schedule-1' }],
  ])('%s where another window writes is uncertain, never an empty list', async (name, args, expected) => {
    const rig = await createScheduleRig()
    rig.agent.session.append({ type: 'plan/mode', data: { active: false } })
    await rig.agent.session.flush()
    rig.store.loseLease(rig.agent.id)
    expect(await rig.body(name, args)).toMatchObject(expected)
  })
  it('an append that throws is an internal error, and nothing is set', async () => {
    const rig = await createScheduleRig()
    rig.agent.session.append = () => {
      throw new Error('defect')
    }
    expect([await code({ prompt: 'x', after_seconds: 6 }, rig), rig.scheduleEvents()]).toEqual(['internal_error', []])
  })
})

describe('5.2 whose call', () => {
  it('from no agent, from a child, and from an agent of no runtime is an internal error', async () => {
    const rig = await createScheduleRig()
    const child = await rig.agents.create({ cwd: '/project', preset: 'all', owner: rig.agent })
    const outcomes: Json[] = []
    for (const agent of [null, child, createFakeAgent()]) outcomes.push(await rig.call('schedule_create', { prompt: 'x', after_seconds: 1 }, { agent }), await rig.call('schedule_list', {}, { agent }), await rig.call('schedule_delete', { id: 'schedule-1' }, { agent }))
    expect(outcomes.map((value) => (value as { readonly code: string }).code)).toEqual(Array.from({ length: 9 }, () => 'internal_error'))
  })
  it('a child that the person opens as a session of its own is a root again', async () => {
    const rig = await createScheduleRig()
    const child = await rig.agents.create({ cwd: '/project', preset: 'all', owner: rig.agent })
    child.session.append({ type: 'plan/mode', data: { active: false } })
    await child.session.flush()
    await child.dispose()
    const opened = await rig.agents.resume(child.id)
    expect(await rig.call('schedule_create', { prompt: 'x', after_seconds: 1 }, { agent: opened })).toMatchObject({ id: 'schedule-1' })
  })
})

describe('5.2 cancellation', () => {
  it('before the queue: nothing runs; while it waits in the queue: ABORTED, and nothing is appended', async () => {
    const rig = await createScheduleRig()
    expect(await rig.call('schedule_create', { prompt: 'x', after_seconds: 6 }, { signal: AbortSignal.abort() })).toBe('error ABORTED_BEFORE_DISPATCH')
    const flush = rig.agent.session.flush.bind(rig.agent.session)
    const stop = new AbortController()
    rig.agent.session.flush = async () => {
      stop.abort()
      await flush()
    }
    await expect(rig.body('schedule_create', { prompt: 'x', after_seconds: 6 }, stop.signal)).rejects.toThrow(/abort/)
    expect(rig.scheduleEvents()).toEqual([])
  })
  it('behind the append the call finishes: the reminder is there', async () => {
    const rig = await createScheduleRig()
    const stop = new AbortController()
    const append = rig.agent.session.append.bind(rig.agent.session)
    rig.agent.session.append = ((draft: EventDraft) => {
      const event = append(draft)
      if (draft.type === 'schedule/change') stop.abort()
      return event
    }) as typeof append
    await rig.call('schedule_create', { prompt: 'x', after_seconds: 6 }, { signal: stop.signal })
    expect(await rig.call('schedule_list', {})).toMatchObject([{ id: 'schedule-1' }])
  })
})

it('5.2 calls of one step are taken one after the other, and see each other', async () => {
  const calls = callTools({ id: 'a', name: 'schedule_create', args: { prompt: 'x', after_seconds: 600 } }, { id: 'b', name: 'schedule_delete', args: { id: 'schedule-1' } }, { id: 'c', name: 'schedule_list', args: {} })
  const rig = await createScheduleRig({ answers: [calls, sayText('Done.')] })
  rig.agent.followup(prompt('go'))
  await rig.agent.whenIdle()
  const results = rig.agent.session.messages().flatMap((message) => (message.role === 'tool' ? message.content[0].content.map((part) => (part.type === 'text' ? part.text : '')) : []))
  expect(results.slice(1)).toEqual(['{"id":"schedule-1","deleted":true}', '[]'])
})

describe('5.2 cards', () => {
  const view = async (name: string, args: Json) => (await createScheduleRig()).ctx.tools.get(name)?.presentCall?.(args)
  it.each<[string, Json, object]>([
    ['schedule_create', { prompt: 'x', after_seconds: 1 }, { card: 'generic', kind: 'other', rawInput: 'x' }],
    ['schedule_list', {}, { card: 'generic', kind: 'read' }],
    ['schedule_delete', { id: 'schedule-1' }, { card: 'generic', kind: 'other', rawInput: 'schedule-1' }],
  ])('%s', async (name, args, expected) => expect(await view(name, args)).toMatchObject(expected))
  it('of malformed arguments there is none', async () => expect([await view('schedule_create', { after_seconds: 1 }), await view('schedule_delete', {})]).toEqual([undefined, undefined]))
  it('a refusal stands on the card, since it is no error', async () => {
    const rig = await createScheduleRig()
    const args = { prompt: 'x', after_seconds: 0 }
    const { content, isError, meta } = await rig.run('schedule_create', args)
    expect(rig.ctx.tools.get('schedule_create')?.presentResult?.(args, { content, isError, ...(meta !== undefined && { meta }) })).toMatchObject({ title: 'Set no reminder', content: [{ text: 'after_seconds is a whole number of 1 or more.' }] })
  })
})
