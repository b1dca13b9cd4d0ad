import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import type { Session } from '../../../extension/core/session/session.ts'
import { historyLimits } from '../../../extension/features/history/limits.ts'
import { createSessionEventSearch } from '../../../extension/tools/history/session-event-search.ts'
import { createSessionSearch } from '../../../extension/tools/history/session-search.ts'
import { createHistoryRig, type HistoryRig } from '../../support/history-rig.ts'
import { answer, call, prompt, result, stepEnd, stepStart, turnEnd, turnStart, wholeTurn } from '../../support/session-talk.ts'

let rig: HistoryRig
afterEach(() => rig.dispose())
const start = async () => (rig = await createHistoryRig())

const said = (text: string, id = text): readonly EventDraft[] => [turnStart(1), stepStart(1, 1), prompt(text, id), answer(1, 1, 'fine'), stepEnd(1, 1), turnEnd(1)]
/** A session in the middle of a step, which asks. */
const asking = (drafts: readonly EventDraft[] = [], options: { readonly cwd?: string; readonly id?: string } = {}) =>
  rig.talk(options.id ?? 'me', [...drafts, turnStart(drafts.length === 0 ? 1 : 2), stepStart(drafts.length === 0 ? 1 : 2, 1), prompt('look it up', 'asked')], { isOpen: true, ...(options.cwd !== undefined && { cwd: options.cwd }) })
/** Ids of the sessions of an answer, in order. */
const ids = (text: string) => [...text.matchAll(/^(\S+): /gm)].map(([, id]) => id ?? '')
const seqs = (text: string) => [...text.matchAll(/^event (\d+), /gm)].map(([, seq]) => Number(seq))
const search = async (caller: Session, args: object) => ids(await rig.ask(caller, 'session_search', args))
const searchEvents = async (caller: Session, args: object) => seqs(await rig.ask(caller, 'session_event_search', args))

describe('9 session_search', () => {
  it('gives of each session id, title, when it was created, parent, availability, the best event and a snippet', async () => {
    await start()
    await rig.talk('old', [...said('a needle in hay', 'p1'), { type: 'session/title', data: { title: 'Old talk', messageSeqs: [], source: { kind: 'user' } } }])
    expect(await rig.ask(await asking(), 'session_search', { query: 'needle' })).toBe(
      'old: Old talk\n  created 2026-01-01T00:00:00.000Z, root, persisted\n  event 2, user/message, current, 2026-01-01T00:00:00.000Z\n  a needle in hay',
    )
  })
  it('says so when nothing is found', async () => {
    await start()
    expect(await rig.ask(await asking(), 'session_search', { query: 'needle' })).toBe('No other session of this workspace has this.')
  })
  it('never gives the session that asks', async () => {
    await start()
    await rig.talk('old', said('needle'))
    expect(await search(await asking(said('needle needle')), { query: 'needle' })).toEqual(['old'])
  })
  it('finds sessions that are open as they are now, and says that they are live', async () => {
    await start()
    const other = await rig.talk('other', said('first'), { isOpen: true })
    const me = await asking()
    expect(await search(me, { query: 'needle' })).toEqual([])
    for (const draft of [turnStart(2), stepStart(2, 1), prompt('the needle')]) other.append(draft)
    expect(await rig.ask(me, 'session_search', { query: 'needle' })).toContain(', live\n')
  })
  it('finds what another window wrote since, and nothing of what it removed', async () => {
    await start()
    await rig.talk('old', said('needle'))
    const me = await asking()
    expect(await search(me, { query: 'needle' })).toEqual(['old'])
    const again = await rig.sessions.open('old')
    for (const draft of [turnStart(2), stepStart(2, 1), prompt('thimble')]) again.append(draft)
    await again.close()
    expect(await search(me, { query: 'thimble' })).toEqual(['old'])
    await rig.sessions.remove('old')
    expect(await search(me, { query: 'needle' })).toEqual([])
  })
  it('gives at most the maximum, with a note', async () => {
    await start()
    for (let at = 0; at <= historyLimits.results; at += 1) await rig.talk(`s${at}`, said('needle'))
    const text = await rig.ask(await asking(), 'session_search', { query: 'needle' })
    expect([ids(text).length, text.includes(`Only the best ${historyLimits.results} sessions`)]).toEqual([historyLimits.results, true])
  })
  it('ranks by the count of the phrase, then by the shorter text', async () => {
    await start()
    await rig.talk('long', said('needle and much more of it'))
    await rig.talk('twice', said('needle, again needle, and words'))
    await rig.talk('short', said('needle'))
    expect(await search(await asking(), { query: 'needle' })).toEqual(['twice', 'short', 'long'])
  })
  it('says of a session whose title cannot be read that it is untitled, with the code, and goes on', async () => {
    await start()
    await rig.talk('old', said('needle'))
    await rig.talk('good', said('needle'))
    const me = await asking()
    const { valueOf } = rig.sessions
    rig.sessions.valueOf = async (id, key) => {
      if (id === 'old') throw Object.assign(new Error('broken'), { syscall: 'read' })
      return await valueOf.call(rig.sessions, id, key)
    }
    const text = await rig.ask(me, 'session_search', { query: 'needle' })
    expect([text.includes('old: untitled (SESSION_QUERY_PERSISTENCE_FAILED)'), ids(text).toSorted()]).toEqual([true, ['good', 'old']])
  })

  describe('filters', () => {
    const family = async () => {
      await start()
      await rig.talk('root', said('needle'))
      rig.at += 1_000
      await rig.talk('child', said('needle'), { parent: 'root' })
      await rig.talk('orphan', said('needle'), { parent: 'nobody' })
      rig.at += 1_000
      return await asking()
    }
    it.each<[string, object, readonly string[]]>([
      ['session_ids', { session_ids: ['child', 'nobody'] }, ['child']],
      ['parent_session_ids', { parent_session_ids: ['root'] }, ['child']],
      ['parent_session_ids and roots', { parent_session_ids: ['root'], include_root_sessions: true }, ['root', 'child']],
      ['roots alone', { include_root_sessions: true }, ['root']],
      ['no roots, which is no filter', { include_root_sessions: false }, ['root', 'child', 'orphan']],
      ['parents that are not there, without a search', { parent_session_ids: ['nobody'] }, []],
      ['availability', { availability: ['live'] }, []],
      ['both availabilities', { availability: ['live', 'persisted'] }, ['root', 'child', 'orphan']],
      ['created from, inclusive', { created_at_from: '2026-01-01T00:00:01Z' }, ['child', 'orphan']],
      ['created to, inclusive, in another zone', { created_at_to: '2026-01-01T01:00:00+01:00' }, ['root']],
      ['created after a moment within a millisecond', { created_at_from: '2026-01-01T00:00:00.0001Z' }, ['child', 'orphan']],
      ['created before a moment within a millisecond', { created_at_to: '2026-01-01T00:00:00.9999Z' }, ['root']],
      ['event types', { event_types: ['assistant/message'] }, []],
      ['event surfaces', { event_surfaces: ['shadowed', 'log-only'] }, []],
      ['event times', { event_time_from: '2026-01-01T00:00:00.5Z', event_time_to: '2026-01-01T00:00:01Z' }, ['child', 'orphan']],
      ['event numbers', { event_seq_from: 3 }, []],
      ['event numbers, inclusive', { event_seq_from: 2, event_seq_to: 2, session_ids: ['root'] }, ['root']],
    ])('%s', async (_, filters, found) => expect((await search(await family(), { query: 'needle', ...filters })).toSorted()).toEqual(found.toSorted()))

    it.each<[string, object]>([
      ...['session_ids', 'parent_session_ids', 'availability', 'event_types', 'event_surfaces', 'files', 'symbols'].map((name): [string, object] => [`an empty ${name}`, { [name]: [] }]),
      ['a blank id', { session_ids: [' '] }],
      ['times out of order', { event_time_from: '2026-01-02T00:00:00Z', event_time_to: '2026-01-01T00:00:00Z' }],
      ['times out of order by less than a millisecond', { created_at_from: '2026-01-01T00:00:00.0002Z', created_at_to: '2026-01-01T00:00:00.0001Z' }],
      ['a time without a zone', { created_at_from: '2026-01-01T00:00:00' }],
      ['a date alone', { created_at_from: '2026-01-01' }],
      ['a day that is not on the calendar', { created_at_from: '2026-02-30T00:00:00Z' }],
      ['29 February of a year that has none', { created_at_from: '2026-02-29T00:00:00Z' }],
      ['the hour 24', { created_at_from: '2026-01-01T24:00:00Z' }],
      ['numbers out of order', { event_seq_from: 3, event_seq_to: 2 }],
      ['a negative number', { event_seq_from: -1 }],
    ])('refuses %s', async (_, filters) => {
      await start()
      expect(await rig.ask(await asking(), 'session_search', { query: 'needle', ...filters })).toBe('SESSION_QUERY_INVALID_FILTER')
    })
    it('takes 29 February of a leap year', async () => {
      await start()
      expect(await search(await asking(), { query: 'x', created_at_from: '2028-02-29T00:00:00Z' })).toEqual([])
    })
    it.each([['a value that is none', { availability: ['asleep'] }], ['a number that is none', { event_seq_from: 1.5 }]])('refuses %s by its schema', async (_, filters) => {
      await start()
      expect(await rig.ask(await asking(), 'session_search', { query: 'needle', ...filters })).toBe('INVALID_ARGS')
    })
  })

  describe('the query', () => {
    it.each(['', '  \n ', '"->"', 'a\0b', 'x'.repeat(1_001)])('%j is refused', async (query) => {
      await start()
      expect(await rig.ask(await asking(), 'session_search', { query })).toBe('SESSION_QUERY_INVALID_QUERY')
    })
    it.each<[string, object, readonly string[]]>([
      ['is trimmed and its white space collapsed', { query: '  two\n\t words ' }, ['a']],
      ['is a phrase, whose signs are data', { query: 'two OR words' }, []],
      ['knows words from their parts', { query: 'ai' }, ['b']],
      ['takes the beginning of a word when asked', { query: 'bra', match: 'prefix' }, ['a']],
      ['takes parts of words when asked', { query: 'rai', match: 'substring' }, ['a']],
      ['keeps to names that stand in the text exactly', { query: 'ai', symbols: ['AI'] }, ['b']],
      ['keeps to names, case and all', { query: 'ai', symbols: ['Ai'] }, []],
    ])('%s', async (_, args, found) => {
      await start()
      await rig.talk('a', said('two words in a BRAID'))
      await rig.talk('b', said('the AI did it'))
      expect(await search(await asking(), args)).toEqual(found)
    })
    it('keeps to calls and results about a file', async () => {
      await start()
      const about = (id: string, path: string): readonly EventDraft[] => [
        turnStart(1), stepStart(1, 1), prompt('x', id), answer(1, 1, '', ['c']),
        { type: 'tool/call', data: { turn: 1, step: 1, callId: 'c', name: 'read', arguments: JSON.stringify({ file_path: path }) } },
        result(1, 1, 'c', 'needle'), stepEnd(1, 1), turnEnd(1),
      ]
      await rig.talk('a', about('p1', '/project/src/date.ts'))
      await rig.talk('b', about('p2', '/project/src/update.ts'))
      const me = await asking()
      expect([await search(me, { query: 'needle', files: ['date.ts'] }), await search(me, { query: 'needle', files: ['src/update.ts'] })]).toEqual([['a'], ['b']])
    })
  })

  describe('what is searched', () => {
    it.each<[string, EventDraft, boolean]>([
      ['what a person said', prompt('needle'), true],
      ['what the model answered', answer(1, 1, 'needle'), true],
      ['the name of a tool', { type: 'tool/call', data: { turn: 1, step: 1, callId: 'c', name: 'needle', arguments: '{}' } }, true],
      ['the arguments of a tool', { type: 'tool/call', data: { turn: 1, step: 1, callId: 'c', name: 'x', arguments: '{"a":["\\nneedle"]}' } }, true],
      ['arguments that are no JSON', { type: 'tool/call', data: { turn: 1, step: 1, callId: 'c', name: 'x', arguments: '{"a": needle' } }, true],
      ['a task', { type: 'todo/write', data: { todos: [{ content: 'needle', status: 'pending' }] } }, true],
      ['a goal', { type: 'goal/change', data: { kind: 'goal/change', version: 1, operation: 'create', goal: { id: 'goal-1', revision: 1, objective: 'find the needle', phase: 'active', maxGoalRounds: 3 }, roundsStarted: 0, createdAt: 1, updatedAt: 1 } }, true],
      ['a reminder', { type: 'schedule/change', data: { version: 1, operation: 'create', schedule: { id: 'schedule-1', kind: 'at', prompt: 'thread the needle', scheduledAt: '2026-01-01T00:00:00.000Z' } } }, true],
      ['a plan that was agreed', { type: 'plan/approved', ignorable: true, data: { callId: 'c', plan: 'use a needle', isEdited: false, comments: [], steps: [] } }, true],
      ['the name of a workflow run', { type: 'tool-workflow/run-start', ignorable: true, data: { runId: 'r', name: 'needle' } }, true],
      ['what a workflow run is for', { type: 'tool-workflow/plan', ignorable: true, data: { runId: 'r', kind: 'workflow', meta: { name: 'x', description: 'find the needle' }, script: '' } as never }, true],
      ['a phase of a workflow run', { type: 'tool-workflow/phase', ignorable: true, data: { runId: 'r', title: 'needle' } }, true],
      ['what a workflow run told', { type: 'tool-workflow/log', ignorable: true, data: { runId: 'r', message: 'a needle at last' } }, true],
      ['why a workflow run failed', { type: 'tool-workflow/run-end', ignorable: true, data: { runId: 'r', stopReason: 'error', error: 'no needle' } as never }, true],
      ['an agent of a workflow run', { type: 'tool-workflow/agent-start', ignorable: true, data: { runId: 'r', seq: 1, label: 'needle finder', childId: 'c' } }, true],
      ['a teammate', { type: 'team/member', data: { version: 1, member: { name: 'needle' } } as never }, true],
      ['a task of a team', { type: 'team/task', data: { version: 1, task: { subject: 'thread the needle' } } as never }, true],
      ['mail of a team', { type: 'team/message/queued', data: { version: 1, message: { senderName: 'x', text: 'the needle is here' } } as never }, true],
      ['an event that nobody here knows', { type: 'who/knows' as 'turn/start', ignorable: true, data: { needle: 'needle' } as never }, false],
      ['a header of a request', { type: 'request/header', data: { reason: 'initial', header: { config: { provider: 'needle', model: 'm' } } } }, false],
    ])('%s', async (_, draft, isFound) => {
      await start()
      await rig.talk('a', [turnStart(1), stepStart(1, 1), draft])
      expect(await search(await asking(), { query: 'needle' })).toEqual(isFound ? ['a'] : [])
    })
    it('what a tool gave, and the name and code of its failure', async () => {
      await start()
      const failed = result(1, 1, 'c', 'hay')
      await rig.talk('a', [turnStart(1), stepStart(1, 1), answer(1, 1, '', ['c']), call(1, 1, 'c'), { ...failed, data: { ...failed.data, error: { name: 'FileError', code: 'FS_NOT_FOUND' } } }])
      const me = await asking()
      expect([await search(me, { query: 'hay' }), await search(me, { query: 'FileError' }), await search(me, { query: 'fs_not_found' })]).toEqual([['a'], ['a'], ['a']])
    })
    it('a turn that did not simply end', async () => {
      await start()
      await rig.talk('a', [turnStart(1), { type: 'turn/end', data: { turn: 1, reason: { kind: 'error', failure: { code: 'RATE_LIMIT', message: 'slow down please' } as never } } }])
      await rig.talk('b', [turnStart(1), turnEnd(1)])
      const me = await asking()
      expect([await search(me, { query: 'slow down' }), await search(me, { query: 'turn ended' }), await search(me, { query: 'completed' })]).toEqual([['a'], ['a'], []])
    })
    it('no reasoning and no parts of streams', async () => {
      await start()
      await rig.talk('a', wholeTurn(1))
      const thinking = answer(1, 1, 'x')
      await rig.talk('b', [turnStart(1), stepStart(1, 1), { ...thinking, data: { ...thinking.data, message: { ...thinking.data.message, content: [{ type: 'reasoning', text: 'needle' }] } } }])
      const me = await asking()
      expect([await search(me, { query: 'needle' }), await search(me, { query: 'block' })]).toEqual([[], []])
    })
    it('no secrets: neither found nor shown', async () => {
      await start()
      const token = `ghp_${'a1B2'.repeat(9)}`
      await rig.talk('a', said(`my token is ${token} here`))
      const me = await asking()
      const text = await rig.ask(me, 'session_search', { query: 'my token is' })
      expect([text.includes(token), text.includes('[GitHub token left out]'), await search(me, { query: token })]).toEqual([false, true, []])
    })
  })
})

describe('9 authority', () => {
  it('is of one folder, whatever its spelling', async () => {
    await start()
    const real = join(rig.folder, 'real')
    await mkdir(real)
    await symlink(real, join(rig.folder, 'link'))
    await rig.talk('real', said('needle'), { cwd: real })
    await rig.talk('other', said('needle'), { cwd: join(rig.folder, 'realm') })
    expect(await search(await asking([], { cwd: join(rig.folder, 'link') }), { query: 'needle' })).toEqual(['real'])
  })
  it('is of one repository, its folders and its worktrees, and not of one inside it', async () => {
    await start()
    const [main, tree, inner] = [join(rig.folder, 'main'), join(rig.folder, 'tree'), join(rig.folder, 'main', 'vendored')]
    await mkdir(join(main, '.git', 'worktrees', 'tree'), { recursive: true })
    await mkdir(join(main, 'src'))
    await mkdir(tree)
    await writeFile(join(tree, '.git'), `gitdir: ${join(main, '.git', 'worktrees', 'tree')}\n`)
    await writeFile(join(main, '.git', 'worktrees', 'tree', 'commondir'), '../..\n')
    await mkdir(join(inner, '.git'), { recursive: true })
    await rig.talk('below', said('needle'), { cwd: join(main, 'src') })
    await rig.talk('worktree', said('needle'), { cwd: tree })
    await rig.talk('inner', said('needle'), { cwd: inner })
    await rig.talk('beside', said('needle'), { cwd: rig.folder })
    expect((await search(await asking([], { cwd: main }), { query: 'needle' })).toSorted()).toEqual(['below', 'worktree'])
  })
  it.each(['session_event_search', 'session_trace', 'session_event_trace', 'session_event_read'])('%s: a session that is not there and one of another folder look the same', async (tool) => {
    await start()
    await rig.talk('foreign', said('needle'), { cwd: '/elsewhere' })
    const me = await asking()
    const args = { query: 'needle', seq: 0 }
    const [unknown, foreign] = [await rig.run(me, tool, { ...args, session_id: 'unknown' }), await rig.run(me, tool, { ...args, session_id: 'foreign' })]
    expect(foreign).toMatchObject({ isError: true, error: { info: { code: 'SESSION_QUERY_TOOL_UNAUTHORIZED' } } })
    expect({ ...foreign, callId: 0 }).toEqual({ ...unknown, callId: 0 })
  })
  it('hides foreign sessions that are named in filters', async () => {
    await start()
    await rig.talk('foreign', said('needle'), { cwd: '/elsewhere' })
    await rig.talk('child', said('needle'), { parent: 'foreign' })
    const me = await asking()
    expect([await search(me, { query: 'needle', session_ids: ['foreign'] }), await search(me, { query: 'needle', parent_session_ids: ['foreign'] })]).toEqual([[], []])
    const text = await rig.ask(me, 'session_search', { query: 'needle' })
    expect([text.includes('foreign'), text.includes('parent outside this workspace')]).toEqual([false, true])
  })
  it('is checked again on what each read returns', async () => {
    const moved = new Set<string>()
    rig = await createHistoryRig({
      wrapEvents: (events) => ({
        ...events,
        list: async () => (await events.list()).map((one) => one),
        describe: async (id) => {
          const one = await events.describe(id)
          return moved.has(id) && one.header !== null ? { ...one, header: { ...one.header, cwd: '/elsewhere' } } : one
        },
      }),
    })
    await rig.talk('old', said('needle'))
    const me = await asking()
    expect(await search(me, { query: 'needle' })).toEqual(['old'])
    moved.add('old')
    expect(await search(me, { query: 'needle' })).toEqual([])
  })
  it('is nothing without an agent', async () => {
    await start()
    for (const tool of ['session_search', 'session_event_search', 'session_trace', 'session_event_trace', 'session_event_read'])
      expect(await rig.ask(null, tool, { query: 'x', seq: 0 })).toBe('SESSION_QUERY_TOOL_MISSING_AGENT')
  })
  it('is the own session alone without a folder', async () => {
    await start()
    await rig.talk('old', said('needle'))
    const me = await asking(said('needle'))
    const { cwd: _, ...header } = me.header
    const homeless = new Proxy(me, {
      get: (target, key: keyof Session) => {
        const value: unknown = key === 'header' ? header : target[key]
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    expect(await rig.ask(homeless, 'session_search', { query: 'needle' })).toBe('SESSION_QUERY_TOOL_UNAUTHORIZED')
    expect(await rig.ask(homeless, 'session_event_search', { query: 'needle', session_id: 'old' })).toBe('SESSION_QUERY_TOOL_UNAUTHORIZED')
    expect(await searchEvents(homeless, { query: 'needle' })).toEqual([2])
  })
})

describe('9 session_event_search', () => {
  it('gives the title, then number, type, surface, time and a snippet of each event', async () => {
    await start()
    await rig.talk('old', [...said('needle'), { type: 'session/title', data: { title: 'Old talk', messageSeqs: [], source: { kind: 'user' } } }])
    expect(await rig.ask(await asking(), 'session_event_search', { session_id: 'old', query: 'needle' })).toBe('Old talk\n\nevent 2, user/message, current, 2026-01-01T00:00:00.000Z\n  needle')
  })
  it('stops in the own session before the current step', async () => {
    await start()
    const me = await asking(said('look it up'))
    expect(await searchEvents(me, { query: 'look it up' })).toEqual([2])
    expect(await searchEvents(me, { query: 'look it up', session_id: 'me' })).toEqual([2])
  })
  it('finds nothing in a range beyond the current step', async () => {
    await start()
    const me = await asking(said('x'))
    expect(await rig.ask(me, 'session_event_search', { query: 'look it up', seq_from: 8 })).toMatch(/No event has this\.$/)
  })
  it('needs an open step to search the own session', async () => {
    await start()
    const me = await rig.talk('me', said('needle'), { isOpen: true })
    expect(await rig.ask(me, 'session_event_search', { query: 'needle' })).toBe('SESSION_QUERY_TOOL_NO_CURRENT_STEP')
  })
  it.each<[string, object, readonly number[]]>([
    ['numbers', { seq_from: 3, seq_to: 3 }, [3]],
    ['times', { time_from: '2026-01-01T00:00:00Z', time_to: '2026-01-01T00:00:00.000999Z' }, [2, 3]],
    ['times that are over', { time_to: '2025-12-31T23:59:59.9999999Z' }, []],
    ['types', { event_types: ['assistant/message'] }, [3]],
    ['surfaces', { surfaces: ['log-only'] }, []],
  ])('keeps to %s', async (_, filters, found) => {
    await start()
    await rig.talk('old', [turnStart(1), stepStart(1, 1), prompt('needle'), answer(1, 1, 'needle')])
    expect(await searchEvents(await asking(), { session_id: 'old', query: 'needle', ...filters })).toEqual(found)
  })
  it.each<['stored' | 'open']>([['stored'], ['open']])('tells what the model sees from what was replaced, in a session that is %s', async (state) => {
    await start()
    const old = await rig.talk('old', [turnStart(1), stepStart(1, 1), prompt('needle one', 'a'), answer(1, 1, 'needle two'), stepEnd(1, 1), turnEnd(1)], { isOpen: true })
    const me = await asking()
    const shown = async () => [...(await rig.ask(me, 'session_event_search', { session_id: 'old', query: 'needle' })).matchAll(/^event (\d+), \S+, (\S+),/gm)].map(([, seq, surface]) => `${seq} ${surface}`).toSorted()
    if (state === 'open') expect(await shown()).toEqual(['2 current', '3 current'])
    old.append({ ...prompt('needle summary', 'b'), surfaceOp: { op: 'replace', start: 0, end: 1 }, sourceEventSeqs: [2, 3] })
    if (state === 'stored') await old.close()
    expect(await shown()).toEqual(['2 shadowed', '3 shadowed', '6 current'])
  })
  it('reads a stored session again whose summary came after it was first read', async () => {
    await start()
    await rig.talk('old', [turnStart(1), stepStart(1, 1), prompt('needle one', 'a'), answer(1, 1, 'needle two'), stepEnd(1, 1), turnEnd(1)])
    const me = await asking()
    await searchEvents(me, { session_id: 'old', query: 'needle' })
    const again = await rig.sessions.open('old')
    again.append({ ...prompt('needle summary', 'b'), surfaceOp: { op: 'replace', start: 0, end: 0 }, sourceEventSeqs: [2] })
    await again.close()
    const text = await rig.ask(me, 'session_event_search', { session_id: 'old', query: 'needle', surfaces: ['shadowed'] })
    expect(seqs(text)).toEqual([2])
  })
  it('gives at most the maximum, with a note', async () => {
    await start()
    await rig.talk('old', [turnStart(1), stepStart(1, 1), ...Array.from({ length: historyLimits.results + 5 }, (_, at) => prompt('needle', `p${at}`))])
    const text = await rig.ask(await asking(), 'session_event_search', { session_id: 'old', query: 'needle' })
    expect([seqs(text).length, text.includes(`Only the best ${historyLimits.results} events`)]).toEqual([historyLimits.results, true])
  })
})

describe('9 the searches', () => {
  it('run alone and allow themselves 30 seconds', () => {
    for (const tool of [createSessionSearch({ limits: historyLimits } as never), createSessionEventSearch({ limits: historyLimits } as never)]) expect([tool.isConcurrencySafe, tool.timeoutMs]).toEqual([undefined, 30_000])
  })
  it('end with their time', async () => {
    rig = await createHistoryRig({ timeOutMs: 30, index: { isKeptUp: false, open: () => new Promise((_, reject) => void setTimeout(() => reject(new Error('late')), 300)) } })
    await rig.talk('old', said('needle'))
    expect(await rig.ask(await asking(), 'session_search', { query: 'needle' })).toBe('TOOL_TIMEOUT')
  })
  it('are cancelled with the very reason they were given', async () => {
    await start()
    const me = await asking()
    const reason = new Error('stopped by the person')
    const signal = AbortSignal.abort(reason)
    await expect(rig.history.searchSessions(me, { query: 'x' }, signal)).rejects.toBe(reason)
  })
  it('are refused when the index is turned off', async () => {
    await start()
    await rig.settings.set('history.index', false, 'user')
    expect(await rig.ask(await asking(), 'session_search', { query: 'x' })).toBe('SESSION_QUERY_SEARCH_DISABLED')
  })
  it('tell of a failure of the index in fixed words, and the log says what it was', async () => {
    rig = await createHistoryRig({ index: { isKeptUp: false, open: () => Promise.reject(new Error('secret path /elsewhere')) } })
    const result = await rig.run(await asking(), 'session_search', { query: 'x' })
    expect([result.isError && result.error.info?.code, JSON.stringify(result).includes('/elsewhere'), JSON.stringify(rig.bench.logger.lines).includes('/elsewhere')]).toEqual(['SESSION_QUERY_TOOL_FAILED', false, true])
  })
})
