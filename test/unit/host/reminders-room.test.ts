import { afterEach, describe, expect, it } from 'vitest'
import { createKernel } from '../../../extension/core/kernel/kernel.ts'
import type { Projections } from '../../../extension/core/projections/projection.ts'
import { schedulesPlugin } from '../../../extension/features/schedule/plugin.ts'
import type { CreateArgs } from '../../../extension/features/schedule/request.ts'
import { isFailure } from '../../../extension/features/schedule/service.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { createRecordingLogger } from '../../support/quiet-logger.ts'
import { chatRig, type RigOptions } from './chat-rig.ts'

const MINUTE = 60_000
const undos: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const undo of undos.splice(0)) await undo()
})

/** The chat with a session on screen, and the real reminders over its agent. */
async function setUp(options: RigOptions & { readonly isTrusted?: boolean } = {}) {
  const clock = createManualClock()
  const logger = createRecordingLogger()
  const kernel = createKernel({ logger })
  kernel.root.provide('projections', { register: () => () => undefined } as Partial<Projections> as Projections)
  const isTrusted = options.isTrusted ?? true
  kernel.root.plugin(schedulesPlugin({ clock, logger, machine: createFakeMachine(), workspace: { isTrusted: () => isTrusted, onDidChangeTrust: () => () => undefined } }))
  const { schedules } = kernel.root
  const rig = await chatRig({ ...options, clock, schedules })
  undos.push(async () => {
    await rig.controller.dispose()
    await kernel.dispose()
  })
  await rig.send('begin')
  const agent = rig.agent('s1')
  kernel.dispatch.emit('agent/created', agent.scope, [agent])
  return {
    ...rig,
    schedules,
    async remind(args: CreateArgs) {
      const request = schedules.read(args)
      if (isFailure(request)) throw new Error(request.message)
      const made = await schedules.create(agent, request, new AbortController().signal)
      if (isFailure(made)) throw new Error(made.message)
      await rig.settle()
    },
    async pass(ms: number) {
      clock.advance(ms)
      await rig.settle()
    },
    items: () => rig.state().reminders.items,
    operations: () => agent.log.flatMap(({ data }) => ('operation' in data ? [data.operation] : [])),
    prompts: () => agent.received.map(({ message }) => message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')).filter((text) => text.startsWith('[SCHED')),
  }
}

describe('the panel', () => {
  it('shows the next one first, in words of the person', async () => {
    const rig = await setUp()
    const now = rig.clock.now()
    await rig.remind({ prompt: 'later', every_seconds: 7_200 })
    await rig.remind({ prompt: 'soon', after_seconds: 60 })
    await rig.remind({ prompt: 'by rule', calendar: { rule: '0 9 * * 1-5', time_zone: 'Pacific/Apia' }, catch_up: 'skip' })
    expect(rig.items().map(({ text, recurrence, skipsMissed }) => [text, recurrence, skipsMissed])).toEqual([['soon', null, false], ['later', 'every 2 hours', false], ['by rule', 'on weekdays at 09:00, Pacific/Apia', true]])
    expect(Math.abs((rig.items()[0]?.at ?? 0) - now - MINUTE)).toBeLessThan(1_000)
  })
  it('says why none comes in a folder that is not trusted', async () => {
    const rig = await setUp({ isTrusted: false })
    await rig.remind({ prompt: 'a', after_seconds: 60 })
    expect(rig.state().reminders.problem).toBe('This folder is not trusted, so no reminder is delivered.')
  })
  it('runs, puts off, pauses, resumes and deletes', async () => {
    const rig = await setUp()
    await rig.remind({ prompt: 'a', every_seconds: 600 })
    const act = async (action: 'run' | 'snooze' | 'pause' | 'resume' | 'delete') => {
      rig.page.say({ type: 'reminder', id: 'schedule-1', action })
      await rig.settle()
      return rig.items().map(({ isPaused, isSnoozed }) => [isPaused, isSnoozed])
    }
    rig.editor.answers.push(String(rig.clock.now() + 10 * MINUTE))
    expect([await act('snooze'), await act('pause'), await act('resume'), await act('run'), await act('delete')]).toEqual([[[false, true]], [[true, false]], [[false, false]], [[false, false]], []])
    expect([rig.operations(), rig.prompts().length]).toEqual([['create', 'snooze', 'pause', 'resume', 'run', 'dispatch', 'delete'], 1])
  })
  it('edits words and time, and says what it does not understand', async () => {
    const rig = await setUp()
    await rig.remind({ prompt: 'a', after_seconds: 60 })
    rig.editor.answers.push('b', '2h')
    rig.page.say({ type: 'reminder', id: 'schedule-1', action: 'edit' })
    await rig.settle()
    expect(rig.items()[0]).toMatchObject({ id: 'schedule-1', text: 'b' })
    expect(Math.abs((rig.items()[0]?.at ?? 0) - rig.clock.now() - 120 * MINUTE)).toBeLessThan(1_000)
    await rig.schedules.edit(rig.agent('s1'), 'schedule-1', { prompt: 'one\n  two' })
    rig.editor.answers.push('one two', '3h')
    rig.page.say({ type: 'reminder', id: 'schedule-1', action: 'edit' })
    await rig.settle()
    expect(rig.items()[0]?.text).toBe('one\n  two')
    rig.editor.answers.push('b', 'soon')
    rig.page.say({ type: 'reminder', id: 'schedule-1', action: 'edit' })
    await rig.settle()
    expect(rig.state().notices.map(({ text }) => text)).toEqual(['“soon” is no time. Write 20m, 14:30 or 2027-01-31 09:00.'])
  })
})

describe('the palette', () => {
  it('makes one of each kind, step by step', async () => {
    const rig = await setUp()
    for (const answers of [['a', 'minutes', 'tell'], ['b', 'weekdays', '08:30', 'do', 'skip'], ['c', 'rule', 'FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=16', 'Asia/Kathmandu', 'tell', 'once'], ['d', 'moment', '3h', 'tell']]) {
      rig.editor.answers.push(...answers)
      await rig.controller.runReminder('new')
    }
    await rig.settle()
    expect(rig.items().filter(({ skipsMissed }) => skipsMissed).map(({ text }) => text)).toEqual(['b'])
    expect(rig.items().map(({ text, recurrence, isTask }) => [text, recurrence, isTask])).toEqual(
      expect.arrayContaining([['a', null, false], ['b', 'on weekdays at 08:30', true], ['c', 'FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=16, Asia/Katmandu', false], ['d', null, false]]),
    )
  })
  it('does nothing when the person backs out, and says what cannot be', async () => {
    const rig = await setUp()
    for (const answers of [[null], ['a', null], ['a', 'minutes', null], ['a', 'daily', null], ['a', 'daily', '09:00', 'tell', null]]) {
      rig.editor.answers.push(...answers)
      await rig.controller.runReminder('new')
    }
    expect(rig.items()).toEqual([])
    rig.editor.answers.push('a', 'rule', '* * * * *', 'UTC', 'tell', 'once')
    await rig.controller.runReminder('new')
    await rig.settle()
    expect(rig.state().notices.map(({ text }) => text)).toEqual(['A reminder comes at most every five minutes.'])
  })
  it('asks which one where there are several, and offers only what fits', async () => {
    const rig = await setUp()
    for (const prompt of ['a', 'b', 'c']) await rig.remind({ prompt, after_seconds: 600 })
    rig.editor.answers.push('schedule-2')
    await rig.controller.runReminder('pause')
    await rig.controller.runReminder('resume')
    await rig.settle()
    expect(rig.operations().slice(3)).toEqual(['pause', 'resume'])
    rig.editor.take()
    await rig.controller.runReminder('resume')
    await rig.settle()
    expect([rig.editor.take(), rig.state().notices.map(({ text }) => text)]).toEqual([[], ['There is no reminder in this session that this can be done with.']])
  })
})

describe('the clock in the status bar', () => {
  it('tells of the nearest, goes on with the time, and goes with the last', async () => {
    const rig = await setUp()
    expect(rig.editor.reminder).toBeNull()
    await rig.remind({ prompt: 'far', after_seconds: 7_200 })
    await rig.remind({ prompt: 'near', after_seconds: 300 })
    expect([rig.editor.reminder?.text, rig.editor.reminder?.tooltip.split('\n')[0], rig.editor.conditions.has('bosun.reminders')]).toEqual(['$(clock) in 5 min', 'Bosun reminder: near', true])
    await rig.pass(3 * MINUTE)
    expect(rig.editor.reminder?.text).toBe('$(clock) in 2 min')
    for (const id of ['schedule-1', 'schedule-2']) await rig.schedules.remove(rig.agent('s1'), id, new AbortController().signal)
    await rig.settle()
    expect([rig.editor.reminder, rig.editor.conditions.has('bosun.reminders')]).toEqual([null, false])
  })
  it('notices that the machine slept: what is due comes with the next look at the clock', async () => {
    const rig = await setUp()
    await rig.remind({ prompt: 'a', after_seconds: 3_600 })
    rig.clock.jump(2 * 60 * MINUTE)
    expect(rig.prompts()).toEqual([])
    await rig.pass(30_000)
    expect(rig.prompts()).toHaveLength(1)
  })
})

describe('a notification', () => {
  it.each<[string, (rig: Awaited<ReturnType<typeof setUp>>) => void, readonly string[]]>([
    ['none while the person looks', () => undefined, []],
    ['while the window is not focused', ({ editor }) => editor.focusWindow(false), ['Reminder: a']],
    ['while the chat is hidden', ({ editor }) => editor.setVisible(false), ['Reminder: a']],
  ])('%s', async (_name, hide, told) => {
    const rig = await setUp()
    await rig.remind({ prompt: 'a', after_seconds: 60 })
    hide(rig)
    await rig.pass(MINUTE)
    expect([rig.prompts().length, rig.attention.told.map(({ text }) => text)]).toEqual([1, told])
  })
  it('none where the person wants to hear of no reminders, and it comes all the same', async () => {
    const rig = await setUp({ settings: { 'notifications.whenHidden': ['approvals'] } })
    await rig.remind({ prompt: 'a', after_seconds: 60 })
    rig.editor.focusWindow(false)
    await rig.pass(MINUTE)
    expect([rig.prompts().length, rig.attention.told]).toEqual([1, []])
  })
  it('Snooze sets it once more in ten minutes', async () => {
    const rig = await setUp()
    await rig.remind({ prompt: 'a', after_seconds: 60 })
    rig.editor.focusWindow(false)
    rig.attention.clicks.push('snooze')
    await rig.pass(MINUTE)
    expect(rig.items().map(({ id, text }) => [id, text])).toEqual([['schedule-2', 'a']])
    await rig.pass(10 * MINUTE)
    expect(rig.prompts()).toHaveLength(2)
  })
  it('Open brings the chat', async () => {
    const rig = await setUp()
    await rig.remind({ prompt: 'a', after_seconds: 60 })
    rig.editor.focusWindow(false)
    rig.attention.clicks.push('open')
    rig.editor.take()
    await rig.pass(MINUTE)
    expect(rig.editor.take().map(({ kind }) => kind)).toContain('chat')
  })
})

describe('what was missed while no window was open', () => {
  const due = (prompt: string, scheduledAt: string) => ({ schedule: { id: 'schedule-1', kind: 'at', prompt, scheduledAt, action: 'tell', catchUp: 'once' }, isPlain: true, isPaused: false, instead: null })
  const past = '2023-11-14T20:00:00.000Z'
  const stored = { old: [], other: [], fine: [] }

  it('is one notification, and nothing of it is delivered', async () => {
    const rig = await setUp({ stored, kept: { 'old schedules': { entries: [due('a', past), due('b', past)], problem: null }, 'other schedules': { entries: [due('c', past)], problem: null }, 'fine schedules': { entries: [due('d', '2033-01-01T00:00:00.000Z')], problem: null } } })
    expect([rig.attention.told.map(({ text }) => text), rig.prompts(), rig.calls.filter((call) => Array.isArray(call) && call[0] === 'resume')]).toEqual([['3 reminders came due while their sessions were closed: a, …'], [], []])
  })
  it('nothing missed, nothing said', async () => {
    const rig = await setUp({ stored, kept: { 'fine schedules': { entries: [due('d', '2033-01-01T00:00:00.000Z')], problem: null } } })
    expect(rig.attention.told).toEqual([])
  })
})
