import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { indexFailed, type SearchIndexHost } from '../../../extension/capabilities/search-index.ts'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import { MemoryIndex } from '../../../extension/platform/node/search-index/memory-index.ts'
import { SqliteIndex } from '../../../extension/platform/node/search-index/sqlite-index.ts'
import { createHistoryRig, type HistoryRig } from '../../support/history-rig.ts'
import { createMemoryDisk, createMemoryEventStore } from '../../support/memory-event-store.ts'
import { answer, prompt, stepEnd, stepStart, turnEnd, turnStart } from '../../support/session-talk.ts'

const rigs: HistoryRig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0).reverse()) await rig.dispose()
})
async function start(options: Parameters<typeof createHistoryRig>[0] = {}): Promise<HistoryRig> {
  const rig = await createHistoryRig(options)
  rigs.push(rig)
  return rig
}
const said = (text: string): readonly EventDraft[] => [turnStart(1), stepStart(1, 1), prompt(text), answer(1, 1, 'fine'), stepEnd(1, 1), turnEnd(1)]
const asking = (rig: HistoryRig, id = 'me') => rig.talk(id, [turnStart(1), stepStart(1, 1), prompt('x')], { isOpen: true })

describe('9 the index', () => {
  it('gives the same hits after it was deleted and made anew', async () => {
    const disk = createMemoryDisk()
    const first = await start({ events: createMemoryEventStore({ disk }) })
    for (let at = 0; at < 30; at += 1) await first.talk(`s${at}`, said(`needle ${'hay '.repeat(at % 7)} ${at % 3 === 0 ? 'needle' : ''}`))
    const old = await first.sessions.open('s3')
    old.append({ ...prompt('needle summary', 'sum'), surfaceOp: { op: 'replace', start: 0, end: 0 }, sourceEventSeqs: [2] })
    await old.close()
    const caller = await asking(first)
    const questions = [{ query: 'needle' }, { query: 'needle hay' }, { query: 'eedl', match: 'substring' }, { query: 'needle', event_surfaces: ['shadowed'] }]
    const before = await Promise.all(questions.map((question) => first.ask(caller, 'session_search', question)))
    await caller.close()
    await first.bench.kernel.dispose()
    await rm(join(first.folder, 'index'), { recursive: true })
    const second = await start({ events: createMemoryEventStore({ disk }), index: { isKeptUp: false, open: () => SqliteIndex.open({ folder: join(first.folder, 'index') }) } })
    const again = await asking(second, 'me2')
    expect(await Promise.all(questions.map((question) => second.ask(again, 'session_search', { ...question, session_ids: Array.from({ length: 30 }, (_, at) => `s${at}`) })))).toEqual(before)
  })
  it('is made anew when it turns out to be broken, without the search knowing', async () => {
    let index: SqliteIndex | null = null
    const rig = await start()
    const host: SearchIndexHost = { isKeptUp: false, open: async () => (index = await SqliteIndex.open({ folder: join(rig.folder, 'other') })) }
    const broken = await start({ events: rig.events, index: host })
    await rig.talk('old', said('needle'))
    const caller = await asking(broken)
    expect(await broken.ask(caller, 'session_search', { query: 'needle' })).toContain('old: ')
    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(join(rig.folder, 'other', 'search.db'))
    db.exec('DROP TABLE sessions')
    db.close()
    expect(await broken.ask(caller, 'session_search', { query: 'needle' })).toContain('old: ')
    expect(index).not.toBeNull()
  })
  it('holds the open sessions too once it was deleted while it was in use', async () => {
    const rig = await start()
    await rig.talk('old', said('needle'))
    await rig.talk('open', said('needle'), { isOpen: true })
    const caller = await asking(rig)
    const found = async () => {
      const text = await rig.ask(caller, 'session_search', { query: 'needle' })
      return ['old', 'open'].filter((id) => text.includes(`${id}: `))
    }
    expect(await found()).toEqual(['old', 'open'])
    await rm(join(rig.folder, 'index', 'search.db'))
    expect(await found()).toEqual(['old', 'open'])
  })
  it('is written by one window; another searches it, and the logs for what the first did not read yet', async () => {
    const disk = createMemoryDisk()
    const [one, two] = [createMemoryEventStore({ disk, pid: 1 }), createMemoryEventStore({ disk, pid: 2 })]
    const first = await start({ events: one })
    await first.talk('old', said('needle'))
    const owner = await asking(first, 'owner')
    expect(await first.ask(owner, 'session_search', { query: 'needle' })).toContain('old: ')
    const second = await start({ events: two, index: { isKeptUp: false, open: () => SqliteIndex.open({ folder: join(first.folder, 'index') }) } })
    const reader = await asking(second, 'reader')
    await second.talk('new', said('needle needle'))
    const text = await second.ask(reader, 'session_search', { query: 'needle' })
    expect([...text.matchAll(/^(\w+): /gm)].map(([, id]) => id)).toEqual(['new', 'old'])
    expect(await second.ask(reader, 'session_event_search', { query: 'needle', session_id: 'new', surfaces: ['shadowed'] })).toContain('No event has this.')
  })
  it('searches the logs for what cannot be written to it, and says so to the log alone', async () => {
    let isFull = false
    const rig: HistoryRig = await start({
      index: {
        isKeptUp: false,
        open: async () => {
          const index = new MemoryIndex()
          const write = index.write.bind(index)
          index.write = async (changes) => {
            if (isFull) throw indexFailed('database or disk is full.')
            await write(changes)
          }
          return index
        },
      },
    })
    await rig.talk('old', said('needle'))
    const caller = await asking(rig)
    const found = async () => [...(await rig.ask(caller, 'session_search', { query: 'needle' })).matchAll(/^(\w+): /gm)].map(([, id]) => id)
    expect(await found()).toEqual(['old'])
    isFull = true
    await rig.talk('closed', said('needle needle'))
    await rig.talk('open', said('needle needle needle'), { isOpen: true })
    expect(await found()).toEqual(['open', 'closed', 'old'])
    expect(JSON.stringify(rig.bench.logger.lines)).toContain('disk is full')
    isFull = false
    expect(await found()).toEqual(['open', 'closed', 'old'])
  })
  it('searches the logs where nothing fits into memory', async () => {
    const rig = await start({ index: { isKeptUp: false, open: async () => new MemoryIndex({ maxChars: 1 }) } })
    await rig.talk('old', said('needle'))
    await rig.talk('older', said('needle needle'))
    expect((await rig.ask(await asking(rig), 'session_search', { query: 'needle' })).match(/^\w+(?=: )/gm)).toEqual(['older', 'old'])
  })
  it('says that the sessions changed while they were searched', async () => {
    let isChanging = false
    const rig: HistoryRig = await start({
      index: {
        isKeptUp: false,
        open: async () => {
          const index = new MemoryIndex()
          const search = index.search.bind(index)
          index.search = async (query) => {
            const page = await search({ ...query, limit: 1 })
            if (isChanging) await index.write([{ kind: 'forget', id: 'none' }])
            return page
          }
          return index
        },
      },
    })
    await rig.talk('a', said('needle'))
    await rig.talk('b', said('needle'))
    const caller = await asking(rig)
    expect((await rig.ask(caller, 'session_search', { query: 'needle' })).match(/^\w+(?=: )/gm)).toEqual(['a', 'b'])
    isChanging = true
    expect(await rig.ask(caller, 'session_search', { query: 'needle' })).toBe('SESSION_QUERY_STALE_CURSOR')
  })
  it('holds nothing that a crash took from the log', async () => {
    const disk = createMemoryDisk()
    const store = createMemoryEventStore({ disk })
    const first = await start({ events: store })
    const old = await first.talk('old', said('needle'), { isOpen: true })
    const caller = await asking(first)
    expect(await first.ask(caller, 'session_search', { query: 'needle' })).toContain('old: ')
    const { text } = disk.logs.get('old')!
    old.append(turnStart(2))
    old.append(stepStart(2, 1))
    old.append(prompt('thimble'))
    expect(await first.ask(caller, 'session_search', { query: 'thimble' })).toContain('old: ')
    store.crash()
    // As if the disk had lost what it said was written: the log is what counts.
    disk.logs.get('old')!.text = text
    const second = await start({ events: createMemoryEventStore({ disk, pid: 2 }), index: { isKeptUp: false, open: () => SqliteIndex.open({ folder: join(first.folder, 'index'), heartbeatMs: 20, staleMs: 60 }) } })
    await first.bench.kernel.dispose().catch(() => {})
    expect(await second.ask(await asking(second, 'me2'), 'session_search', { query: 'thimble' })).toBe('No other session of this workspace has this.')
  })
  it('finds for the person what is being typed, in all folders, and the best of each session where that is asked', async () => {
    const rig = await start()
    await rig.talk('here', [...said('the needlework'), { type: 'session/title', data: { title: 'Sewing', messageSeqs: [], source: { kind: 'user' } } }])
    await rig.talk('there', said('needle needle'), { cwd: '/elsewhere' })
    const { signal } = new AbortController()
    const find = () => rig.history.find('needl', { per: 'session', limit: 10 }, signal)
    const found = await vi.waitFor(async () => {
      const findings = await find()
      expect(findings.remaining).toBe(0)
      return findings
    }, 50_000)
    expect([found.hits.map(({ sessionId, title, cwd }) => [sessionId, title, cwd]), found.remaining]).toEqual([[['there', 'New session', '/elsewhere'], ['here', 'Sewing', '/project']], 0])
    expect((await rig.history.eventAt({ sessionId: 'here', seq: 2 }, signal)).text).toBe('the needlework')
    await expect(rig.history.eventAt({ sessionId: 'gone', seq: 2 }, signal)).rejects.toMatchObject({ code: 'SESSION_QUERY_SESSION_NOT_FOUND' })
  })
})
