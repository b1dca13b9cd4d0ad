import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { sessionBusy } from '../../../../extension/capabilities/event-store.ts'
import { expiredSessions, retentionPlugin, spillToDrop } from '../../../../extension/core/session/retention.ts'
import type { Sessions, SessionSummary } from '../../../../extension/core/session/session.ts'
import { settingsPlugin } from '../../../../extension/core/settings/service.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { memorySettings } from '../../../support/memory-settings.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

const session = (id: string, more: Partial<SessionSummary> = {}): SessionSummary => ({ id, title: id, createdAt: 0, updatedAt: 10, isLive: false, isNamed: false, isArchived: false, ...more })

describe('what may go', () => {
  const check = (sessions: readonly SessionSummary[], ids: readonly string[]) => expect(expiredSessions(sessions, 100).map(({ id }) => id)).toEqual(ids)

  it('is what nobody touched since', () => check([session('old'), session('new', { updatedAt: 100 })], ['old']))
  it('is not what is open', () => check([session('a', { isLive: true })], []))
  it('is not what a person named', () => check([session('a', { isNamed: true })], []))
  it('is not what cannot be read', () => check([session('a', { problem: 'torn' })], []))
  it('is also what is archived', () => check([session('a', { isArchived: true })], ['a']))
  it('is not what a used session was forked from, over generations', () => check([session('a'), session('b', { forkedFrom: 'a' }), session('c', { forkedFrom: 'b', updatedAt: 200 })], []))
  it('is not a child of a used session', () => check([session('a', { updatedAt: 200 }), session('b', { startedBy: 'a' })], []))
  it('is a whole family, children first', () => check([session('a', { createdAt: 1 }), session('b', { forkedFrom: 'a', createdAt: 2 })], ['b', 'a']))
  it('is a fork whose source is gone', () => check([session('b', { forkedFrom: 'gone' })], ['b']))
  it('is found in a circle too', () => check([session('a', { forkedFrom: 'b' }), session('b', { forkedFrom: 'a' })], ['a', 'b']))
})

describe('spilled output that may go', () => {
  const use = (sessionId: string, spill: number) => ({ sessionId, spill, attachments: 9, before: 9, log: 9 })
  const check = (sessions: readonly SessionSummary[], usage: readonly ReturnType<typeof use>[], ids: readonly string[]) => expect(spillToDrop(usage, sessions, 100).map(({ id }) => id)).toEqual(ids)
  it('is none up to the limit', () => check([session('a')], [use('a', 100)], []))
  it('is that of what was untouched for longest, no more than needed', () => check([session('a', { updatedAt: 2 }), session('b', { updatedAt: 1 }), session('c', { updatedAt: 3 })], [use('a', 60), use('b', 60), use('c', 60)], ['b', 'a']))
  it('is not that of what is open in any window', () => check([session('a', { isLive: true }), session('b')], [use('a', 200), use('b', 5)], ['b']))
  it('is that of no session first', () => check([session('a')], [use('a', 60), use('gone', 60)], ['gone']))
})

describe('retention', () => {
  /** `spill`: megabytes by session. */
  async function rig(days: number, { maxSpillMb = 500, spill = {}, isOpenHere = '' }: { readonly maxSpillMb?: number; readonly spill?: Readonly<Record<string, number>>; readonly isOpenHere?: string } = {}) {
    const clock = createManualClock(1_000 * 86_400_000)
    const logger = createRecordingLogger()
    const kernel = createKernel({ logger })
    const age = (daysOld: number) => clock.now() - daysOld * 86_400_000
    const removed: string[] = []
    const told: string[] = []
    const list = [session('31', { updatedAt: age(31) }), session('29', { updatedAt: age(29) }), ...['busy', 'broken', 'opened'].map((id) => session(id, { updatedAt: age(90) }))]
    kernel.root.provide('sessions', {
      list: async () => list.filter(({ id }) => !removed.includes(id)),
      live: (id: string) => (id === isOpenHere ? {} : undefined),
      async expire(id: string) {
        if (id === 'busy') throw sessionBusy(id, { pid: 1, host: 'here', since: 0 })
        if (id === 'broken') throw new Error('EROFS')
        if (id === 'opened') return false
        removed.push(id)
        return true
      },
    } as unknown as Sessions)
    await kernel.root.plugin(settingsPlugin({ source: memorySettings({ 'sessions.retentionDays': days, 'sessions.maxSpillMb': maxSpillMb }), logger, dispatch: kernel.dispatch })).ready
    kernel.root.on('session/expired', (gone) => void told.push(...gone.map(({ title }) => title)))
    const dropped: string[] = []
    const freed: unknown[] = []
    const blobs = {
      usage: async () => Object.entries(spill).map(([sessionId, megabytes]) => ({ sessionId, attachments: 0, before: 0, log: 0, spill: dropped.includes(sessionId) ? 0 : megabytes * 1_000_000 })),
      dropSpill: async (id: string) => void dropped.push(id),
    }
    kernel.root.on('session/spill-dropped', (one) => void freed.push(one))
    await kernel.root.plugin(retentionPlugin({ blobs, clock, logger, dispatch: kernel.dispatch })).ready
    const pass = async (ms: number) => {
      clock.advance(ms)
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
    return { kernel, clock, removed, told, dropped, freed, pass }
  }

  it('keeps everything by default', async () => {
    const { removed, pass } = await rig(0)
    await pass(60_000)
    expect(removed).toEqual([])
  })
  it('waits a minute, takes what is older, leaves what is open or cannot be taken, and tells', async () => {
    const { removed, told, pass } = await rig(30)
    await pass(59_999)
    expect(removed).toEqual([])
    await pass(1)
    expect([removed, told]).toEqual([['31'], ['31']])
  })
  it('looks again later', async () => {
    const { removed, pass } = await rig(30)
    await pass(60_000)
    for (let hours = 0; hours < 30; hours += 6) await pass(6 * 3_600_000)
    expect(removed).toEqual(['31', '29'])
  })
  it.each([1, -1])('takes nothing while the clock was just set, by %i years, and looks again later', async (years) => {
    const { clock, removed, told, pass } = await rig(30)
    clock.jump(years * 365 * 86_400_000)
    await pass(60_000)
    expect([removed, told]).toEqual([[], []])
    clock.jump(-years * 365 * 86_400_000)
    await pass(6 * 3_600_000)
    expect(removed).toEqual([])
    await pass(6 * 3_600_000)
    expect(removed).toEqual(['31'])
  })
  it('is not kept from its work by a clock that is put right by minutes', async () => {
    const { clock, removed, pass } = await rig(30)
    clock.jump(-600_000)
    await pass(60_000)
    expect(removed).toEqual(['31'])
  })
  it('takes spilled output over the limit, that of what was untouched for longest first, and tells; the sessions stay', async () => {
    const { dropped, freed, removed, pass } = await rig(0, { maxSpillMb: 10, spill: { '29': 6, '31': 5, gone: 1 } })
    await pass(60_000)
    expect([dropped, freed, removed]).toEqual([['gone', '31'], [{ bytes: 6_000_000, sessions: 2 }], []])
    await pass(6 * 3_600_000)
    expect(freed.length).toBe(1)
  })
  it('takes no spilled output within the limit, without one, and of what is open here', async () => {
    for (const options of [{ maxSpillMb: 10, spill: { '29': 6, '31': 4 } }, { maxSpillMb: 0, spill: { '29': 6_000 } }, { maxSpillMb: 1, spill: { '29': 6 }, isOpenHere: '29' }]) {
      const { dropped, freed, pass } = await rig(0, options)
      await pass(60_000)
      expect([dropped, freed]).toEqual([[], []])
    }
  })
  it('stops with its plugin', async () => {
    const { kernel, clock } = await rig(30)
    await kernel.dispose()
    expect(clock.waiting).toBe(0)
  })
})
