import { beforeEach, describe, expect, it } from 'vitest'
import { createChatStore, type ChatStore } from '../../../webview/store/chat-store.ts'
import { patch, promptRow, snapshot, textRow, toolRow, viewState } from './fixture-rows.ts'

let store: ChatStore
let asked: number

beforeEach(() => {
  asked = 0
  store = createChatStore({ needSnapshot: () => (asked += 1) })
})

const ids = () => store.entries.value.map(({ id }) => id)
const row = (id: string) => store.entry(id)?.row.value

describe('snapshots', () => {
  it('make the view ready and fill every part', () => {
    expect(store.phase.value).toBe('loading')
    store.apply([snapshot(7, viewState([promptRow('a')], { tasks: [{ id: 't1', content: 'x', status: 'pending' }] }))])
    expect([store.phase.value, ids(), store.total.value, store.state.tasks.value]).toEqual(['ready', ['a'], 1, [{ id: 't1', content: 'x', status: 'pending' }]])
  })

  it('of another protocol are not drawn', () => {
    store.apply([{ type: 'snapshot', version: 999, frame: 1, state: viewState([promptRow('a')]) }])
    expect([store.phase.value, ids()]).toEqual(['wrong-version', []])
  })

  it('keep the older rows that reach up to them', () => {
    store.apply([snapshot(1, viewState([textRow('c'), textRow('d')], {}, { firstIndex: 2, total: 4 }))])
    store.apply([{ type: 'older-rows', frame: 2, window: { rows: [textRow('a'), textRow('b')], firstIndex: 0, total: 4 } }])
    store.apply([snapshot(9, viewState([textRow('c'), textRow('d'), textRow('e')], {}, { firstIndex: 2, total: 5 }))])
    expect([ids(), store.firstIndex.value, store.total.value]).toEqual([['a', 'b', 'c', 'd', 'e'], 0, 5])
  })

  it('drop the rows of another session', () => {
    store.apply([snapshot(1, viewState([textRow('a')]))])
    const other = viewState([textRow('z')])
    store.apply([snapshot(2, { ...other, session: { ...other.session!, id: 's2' } })])
    expect([ids(), store.entry('a')]).toEqual([['z'], undefined])
  })

  it('take nothing over from a row of another session that has the same name', () => {
    store.apply([snapshot(1, viewState([textRow('p'), toolRow('a', null, null, { parent: 'p' })]))])
    const left = store.entry('a')
    const other = viewState([textRow('p'), toolRow('a', null, null)])
    store.apply([snapshot(2, { ...other, session: { ...other.session!, id: 's2' } })])
    expect([store.entry('a') === left, store.entry('a')?.parent, store.callsInside.value.size]).toEqual([false, undefined, 0])
  })
})

describe('patches', () => {
  beforeEach(() => store.apply([snapshot(1, viewState([promptRow('a'), textRow('b', 'Hello', { isStreaming: true })]))]))

  it('add, replace, remove', () => {
    const before = store.entry('b')
    store.apply([patch(2, { change: 'row', row: textRow('c') }, { change: 'row', row: textRow('b', 'Other', { isStreaming: true }) }, { change: 'remove-row', rowId: 'a' })])
    expect([ids(), row('b'), store.total.value]).toEqual([['b', 'c'], textRow('b', 'Other', { isStreaming: true }), 2])
    expect(store.entry('b')).toBe(before)
  })

  it('append text to a message without touching the list', () => {
    const list = store.entries.value
    store.apply([patch(2, { change: 'append', rowId: 'b', field: 'text', text: ', wor' }, { change: 'append', rowId: 'b', field: 'text', text: 'ld' })])
    expect(row('b')).toEqual(textRow('b', 'Hello, world', { isStreaming: true }))
    expect(store.entries.value).toBe(list)
  })

  it('append progress to a call and keep its tail', () => {
    store.apply([patch(2, { change: 'row', row: toolRow('t', null, null) }, { change: 'append', rowId: 't', field: 'progress', text: 'x'.repeat(64_000) }, { change: 'append', rowId: 't', field: 'progress', text: 'end' })])
    const held = row('t')
    expect(held?.kind === 'tool' && [held.progress.length, held.progress.slice(-4)]).toEqual([64_000, 'xend'])
  })

  it('ignore an append to a row that is not held, or of another kind', () => {
    store.apply([patch(2, { change: 'append', rowId: 'nowhere', field: 'text', text: 'x' }, { change: 'append', rowId: 'a', field: 'text', text: 'x' })])
    expect([row('a'), asked]).toEqual([promptRow('a'), 0])
  })

  it('list a row anew when it comes to fold differently', () => {
    const list = store.entries.value
    store.apply([patch(2, { change: 'row', row: textRow('b', 'Hello') })])
    expect(store.entries.value).not.toBe(list)
    expect(store.entry('b')?.foldClass).toBe('step')
    expect(store.entries.value.at(-1)).toBe(store.entry('b'))
  })

  it('correct the number of rows', () => {
    store.apply([patch(2, { change: 'rows-total', total: 40 })])
    expect(store.total.value).toBe(40)
  })

  it('set a part of the state alone', () => {
    store.apply([patch(2, { change: 'state', key: 'isTrusted', value: false })])
    expect(store.state.isTrusted.value).toBe(false)
  })
})

describe('frames', () => {
  beforeEach(() => store.apply([snapshot(5, viewState([textRow('a')]))]))
  const add = (frame: number, id: string) => patch(frame, { change: 'row', row: textRow(id) })

  it('that were lost make the view ask once and wait', () => {
    store.apply([add(7, 'b'), add(8, 'c')])
    expect([ids(), asked]).toEqual([['a'], 1])
    store.apply([snapshot(20, viewState([textRow('a'), textRow('b'), textRow('c')])), add(21, 'd')])
    expect([ids(), asked]).toEqual([['a', 'b', 'c', 'd'], 1])
  })

  it('that come twice are taken once', () => {
    store.apply([add(6, 'b'), add(6, 'b'), add(7, 'c')])
    expect([ids(), asked]).toEqual([['a', 'b', 'c'], 0])
  })

  it('before the first snapshot mean nothing', () => {
    const fresh = createChatStore({ needSnapshot: () => (asked += 1) })
    fresh.apply([add(1, 'b')])
    expect([fresh.entries.value, asked]).toEqual([[], 0])
  })

  it('count older rows too', () => {
    store.apply([{ type: 'older-rows', frame: 6, window: { rows: [], firstIndex: 0, total: 1 } }, add(7, 'b')])
    expect([ids(), asked]).toEqual([['a', 'b'], 0])
  })
})

describe('older rows', () => {
  it('come before the held ones, each once', () => {
    store.apply([snapshot(1, viewState([textRow('c')], {}, { firstIndex: 2, total: 3 }))])
    store.isLoadingOlder.value = true
    store.apply([{ type: 'older-rows', frame: 2, window: { rows: [textRow('b'), textRow('c')], firstIndex: 1, total: 3 } }])
    expect([ids(), store.firstIndex.value, store.isLoadingOlder.value]).toEqual([['b', 'c'], 1, false])
  })
})

it('keeps what the host says of an attachment', () => {
  const image = store.image('i1')
  expect(image.value).toBeUndefined()
  store.apply([{ type: 'image', attachmentId: 'i1', uri: 'data:image/png;base64,', byteLength: 3 }])
  expect(image.value).toEqual({ uri: 'data:image/png;base64,', byteLength: 3 })
})
