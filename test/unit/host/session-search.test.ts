import { describe, expect, it } from 'vitest'
import type { SessionEvent } from '../../../extension/core/log/event.ts'
import { queryError } from '../../../extension/features/history/error.ts'
import type { Findings, History } from '../../../extension/features/history/service.ts'
import { fillIn } from '../../../extension/base/fill-in.ts'
import { lineageDocument } from '../../../extension/host/lineage-document.ts'
import { chatRig } from './chat-rig.ts'
import { answered, called, resulted, said, stepEnd, stepStart, turnEnd, turnStart } from './session-events.ts'

const talk = [turnStart(1), stepStart(1, 1), said('find the needle'), answered([{ type: 'text', text: 'Here.' }, { type: 'tool-call', id: 'c', name: 'read', arguments: '{"file_path":"src/a.ts"}' }]), called('c', 'read', '{"file_path":"src/a.ts"}'), resulted('c', 'needle'), stepEnd(1, 1), turnEnd(1)]
const hit = (sessionId: string, seq: number, type: string): Findings['hits'][number] => ({ sessionId, seq, type, surface: 'current', time: 5, matches: 1, length: 6, snippet: `at ${seq}`, title: `Talk ${sessionId}`, cwd: '/project', updatedAt: 7 })
const eventAt: History['eventAt'] = async ({ seq }) => ({ event: { ...talk[seq]!, seq, time: 0 } as SessionEvent, json: { seq }, text: `text of ${seq}` })
const finding = (hits: Findings['hits'], remaining = 0): Partial<History> => ({ eventAt, find: async () => ({ hits, remaining }) })

const searching = async (history: Partial<History>, answers: readonly string[]) => {
  const rig = await chatRig({ stored: { old: talk }, history })
  rig.editor.answers.push(...answers)
  await rig.controller.run('search-sessions')
  await rig.settle()
  return rig
}
const found = (rig: Awaited<ReturnType<typeof chatRig>>) => rig.editor.shown.filter(({ kind }) => kind === 'found').map(({ value }) => value)

describe('searching sessions', () => {
  const hits = [hit('old', 5, 'tool/result'), hit('other', 2, 'user/message'), hit('old', 2, 'user/message')]
  it('lists hits by session, with what can be done with each', async () => {
    const [list] = found(await searching(finding(hits), ['needle'])) as [{ items: { id: string; isSeparator?: boolean; label: string; buttons?: { id: string }[] }[] }]
    expect(list.items.map(({ id, isSeparator, buttons = [] }) => [id, isSeparator ?? false, buttons.map((button) => button.id)])).toEqual([
      ['of old', true, []], ['5 old', false, ['file', 'diff', 'json']], ['2 old', false, ['json']], ['of other', true, []], ['2 other', false, ['json']],
    ])
  })
  it.each([[0, 'e3.1'], [1, 'e2']])('opens the talk at hit %i, and marks its row', async (choice, rowId) => {
    const rig = await searching(finding(hits), ['needle', String(choice)])
    expect([rig.state().session?.id, rig.replies.filter(({ type }) => type === 'reveal-row')]).toEqual(['old', [{ type: 'reveal-row', sessionId: 'old', rowId }]])
  })
  it('shows the text of what is moved onto, without taking the focus', async () => {
    const rig = await searching(finding(hits), ['needle', '1'])
    expect(rig.editor.shown.filter(({ kind }) => kind === 'preview').map(({ value }) => value)).toEqual([{ name: 'found/old/2/event-2.txt', text: 'text of 2' }])
  })
  it('opens the event as JSON', async () => {
    const rig = await searching(finding(hits), ['needle', '1|json'])
    expect(rig.editor.shown.filter(({ kind }) => kind === 'text').map(({ value }) => value)).toEqual([{ name: 'event/old/2/event-2.json', text: '{\n  "seq": 2\n}\n', language: 'json' }])
    expect(await rig.controller.redraw('event/old/2/event-2.json')).toBe('{\n  "seq": 2\n}\n')
    expect(await rig.controller.redraw('found/old/2/event-2.txt')).toBe('text of 2')
  })
  it('opens the file that a call was about, from its result too', async () => {
    const rig = await searching(finding(hits), ['needle', '0|file'])
    expect(rig.editor.shown.filter(({ kind }) => kind === 'location').map(({ value }) => value)).toEqual([{ location: { path: 'src/a.ts' }, cwd: '/project' }])
  })
  it('says that a call changed nothing when its changes are asked for', async () => {
    const rig = await searching(finding(hits), ['needle', '0|diff'])
    expect(rig.state().notices.map(({ text }) => text)).toEqual(['This call has no change to show.'])
  })
  it('asks again while sessions are still being read, and says so', async () => {
    let asked = 0
    const rig = await searching({ eventAt, find: async () => ({ hits, remaining: (asked += 1) < 3 ? 1 : 0 }) }, ['needle'])
    expect([asked, found(rig).length]).toEqual([3, 1])
  })
  it.each([
    ['nothing', {}, 'No session has these words.'],
    ['a failure', { find: async () => Promise.reject(queryError('SESSION_QUERY_SEARCH_DISABLED')) }, 'Searching sessions is turned off by the setting history.index.'],
  ])('says what there is to say of %s', async (_, history: Partial<History>, note) => expect(found(await searching({ ...finding([]), ...history }, ['needle']))).toEqual([expect.objectContaining({ items: [], note })]))
  it('does not search for one letter', async () => expect(found(await searching({ find: () => Promise.reject(new Error('asked')) }, ['n']))).toEqual([{ items: [], isPartial: false }]))

  it('answers the list of a page with the best hit of each session, and opens one there', async () => {
    const rig = await chatRig({ stored: { old: talk }, history: finding([hit('old', 2, 'user/message')]) })
    await rig.say({ type: 'session-find', id: 'q1', query: 'needle' })
    expect(rig.replies.filter(({ type }) => type === 'sessions-found')).toEqual([{ type: 'sessions-found', id: 'q1', hits: [{ sessionId: 'old', seq: 2, snippet: 'at 2' }], isPartial: false }])
    await rig.say({ type: 'session-open', id: 'old', seq: 2 })
    expect(rig.replies.filter(({ type }) => type === 'reveal-row')).toEqual([{ type: 'reveal-row', sessionId: 'old', rowId: 'e2' }])
  })
  it('answers the list of a page with nothing when the search fails, or only signs are typed', async () => {
    for (const code of ['SESSION_QUERY_INDEX_FAILED', 'SESSION_QUERY_INVALID_QUERY'] as const) {
      const rig = await chatRig({ history: { find: async () => Promise.reject(queryError(code)) } })
      await rig.say({ type: 'session-find', id: 'q1', query: '->' })
      expect(rig.replies.filter(({ type }) => type === 'sessions-found')).toEqual([{ type: 'sessions-found', id: 'q1', hits: [], isPartial: false }])
    }
  })
})

it('the trace of a session is a tree with the session in it', () => {
  const node = (id: string) => ({ id, title: { title: `Talk ${id}` }, createdAt: 0 })
  const page = lineageDocument(
    { ...node('me'), availability: 'live', ancestors: [node('parent'), 'outside'], descendants: [{ ...node('child'), children: [{ ...node('grandchild'), children: [], outsideChildren: 0 }], outsideChildren: 1 }], outsideChildren: 0, isCapped: false },
    { t: fillIn },
  )
  expect(page.split('\n').filter((line) => /^ *- /.test(line))).toEqual([
    '- (a session that is gone)',
    '  - Talk parent — 1970-01-01, `parent`',
    '    - **Talk me — 1970-01-01, `me`**',
    '      - Talk child — 1970-01-01, `child`',
    '        - Talk grandchild — 1970-01-01, `grandchild`',
    '        - (a session that is gone)',
  ])
})
