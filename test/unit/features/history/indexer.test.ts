import { afterEach, expect, it, vi } from 'vitest'
import type { Clock } from '../../../../extension/capabilities/clock.ts'
import type { IndexChange, SearchIndexHost } from '../../../../extension/capabilities/search-index.ts'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import { SessionIndexer } from '../../../../extension/features/history/indexer.ts'
import { SessionLogs } from '../../../../extension/features/history/session-logs.ts'
import { MemoryIndex } from '../../../../extension/platform/node/search-index/memory-index.ts'
import { createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { realClock } from '../../../support/real-clock.ts'
import { createSessionRig } from '../../../support/session-rig.ts'
import { prompt, stepStart, turnStart } from '../../../support/session-talk.ts'

const undos: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const undo of undos.splice(0)) await undo()
})
const said = (text: string): readonly EventDraft[] => [turnStart(1), stepStart(1, 1), prompt(text)]

/** The indexer over real sessions, with a clock whose long waits a test ends. */
async function start({ isKeptUp = true, isEnabled = true } = {}) {
  const events = createMemoryEventStore()
  const { sessions, types, logger } = await createSessionRig({ events })
  const waits = new Map<() => void, number>()
  let monotonic = 0
  const clock: Clock = {
    now: () => 0,
    monotonicMs: () => monotonic,
    schedule(delayMs, fire) {
      if (delayMs < 1_000) return realClock.schedule(0, fire)
      waits.set(fire, delayMs)
      return () => void waits.delete(fire)
    },
  }
  const writes: (readonly IndexChange[])[] = []
  let opened = 0
  const host: SearchIndexHost = {
    isKeptUp,
    async open() {
      opened += 1
      const index = new MemoryIndex()
      const write = index.write.bind(index)
      index.write = async (changes) => {
        writes.push(changes)
        await write(changes)
      }
      return index
    },
  }
  const logs = new SessionLogs({ events, sessions, types, clock })
  const indexer = new SessionIndexer({ host, logs, events, types, clock, logger, isEnabled: () => isEnabled })
  undos.push(() => indexer.dispose())
  const talk = async (id: string, text: string, isOpen = false) => {
    const session = await sessions.create({ id, cwd: '/project' })
    for (const draft of said(text)) session.append(draft)
    await session.flush()
    if (!isOpen) await session.close()
    return session
  }
  return {
    indexer, talk, sessions, logger, waits: () => [...waits.values()], opened: () => opened,
    texts: () => writes.flat().flatMap((change) => (change.kind === 'add' ? change.events.map(({ text }) => text) : [])),
    forgotten: () => writes.flat().flatMap((change) => (change.kind === 'forget' ? [change.id] : [])),
    pass(delayMs: number) {
      monotonic += delayMs
      for (const [fire, delay] of [...waits]) {
        if (delay !== delayMs) continue
        waits.delete(fire)
        fire()
      }
    },
  }
}

it('opens nothing before it has been up for a while, then catches up with what is stored', async () => {
  const rig = await start()
  await rig.talk('old', 'needle')
  rig.indexer.start()
  expect([rig.opened(), rig.waits()]).toEqual([0, [15_000]])
  rig.pass(15_000)
  await vi.waitFor(() => expect(rig.texts()).toEqual(['needle']), 50_000)
})
it('looks again every minute, takes what is new, and lets go of what was removed', async () => {
  const rig = await start()
  await rig.talk('old', 'needle')
  rig.indexer.start()
  rig.pass(15_000)
  await vi.waitFor(() => expect(rig.texts()).toEqual(['needle']), 50_000)
  await rig.sessions.remove('old')
  await rig.talk('new', 'thread')
  rig.pass(60_000)
  await vi.waitFor(() => expect([rig.texts(), rig.forgotten()]).toEqual([['needle', 'thread'], ['old']]), 50_000)
})
it('gathers what happens in an open session and writes it behind', async () => {
  const rig = await start()
  rig.indexer.start()
  rig.pass(15_000)
  const session = await rig.talk('open', 'needle', true)
  await vi.waitFor(() => expect(rig.opened()).toBe(1), 50_000)
  rig.indexer.note(session)
  rig.indexer.note(session)
  expect(rig.texts()).toEqual([])
  rig.pass(3_000)
  await vi.waitFor(() => expect(rig.texts()).toEqual(['needle']), 50_000)
  session.append(prompt('thread'))
  rig.indexer.note(session)
  rig.pass(3_000)
  await vi.waitFor(() => expect(rig.texts()).toEqual(['needle', 'thread']), 50_000)
})
it.each([[{ isKeptUp: false }], [{ isEnabled: false }]])('does nothing by itself with %j', async (options) => {
  const rig = await start(options)
  await rig.talk('old', 'needle')
  rig.indexer.start()
  rig.pass(15_000)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(rig.opened()).toBe(0)
})
it('reads what searches ask for once, however many ask', async () => {
  const rig = await start({ isKeptUp: false })
  await rig.talk('old', 'needle')
  const { signal } = new AbortController()
  await Promise.all([rig.indexer.ready(signal, { waits: true }), rig.indexer.ready(signal, { waits: true })])
  await rig.indexer.ready(signal, { waits: true })
  expect([rig.opened(), rig.texts()]).toEqual([1, ['needle']])
})
it('goes on without a session that cannot be read, which is searched in its log, and says so', async () => {
  const rig = await start({ isKeptUp: false })
  const session = await rig.talk('open', 'needle', true)
  session.flush = () => Promise.reject(new Error('disk full'))
  rig.indexer.note(session)
  const { stale } = await rig.indexer.ready(new AbortController().signal, { waits: true })
  expect([[...stale], rig.texts(), rig.logger.lines.some(({ level }) => level === 'warn')]).toEqual([['open'], [], true])
})
it('stops with the application, in the middle of a log too', async () => {
  const rig = await start({ isKeptUp: false })
  await rig.talk('old', 'needle')
  const ready = rig.indexer.ready(new AbortController().signal, { waits: true }).then(() => 'ready', () => 'ended')
  await rig.indexer.dispose()
  expect(await ready).toBe('ended')
})
