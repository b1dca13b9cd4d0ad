import { beforeEach, expect, it } from 'vitest'
import type { ViewChange } from '../../../extension/protocol/messages.ts'
import { createAnnouncements, type Announcements } from '../../../webview/store/announcements.ts'
import { createChatStore, type ChatStore } from '../../../webview/store/chat-store.ts'
import { commandRow, patch, snapshot, textRow, toolRow, turnEndRow, viewState } from './fixture-rows.ts'

let store: ChatStore
let announcements: Announcements
let frame: number

beforeEach(() => {
  store = createChatStore({ needSnapshot: () => undefined })
  announcements = createAnnouncements(store)
  frame = 1
  apply(snapshot(1, viewState([textRow('old', 'An answer from before')])))
})

function apply(...messages: Parameters<ChatStore['apply']>[0]): void {
  store.apply(messages)
  announcements.note(messages)
}
const change = (...changes: readonly ViewChange[]) => apply(patch((frame += 1), ...changes))

it('says nothing of what was there already', () => expect(announcements.current.value).toBe(''))

it('says nothing of chunks, and the beginning of an answer once it is whole', () => {
  change({ change: 'row', row: textRow('t', 'The cau', { isStreaming: true }) })
  change({ change: 'append', rowId: 't', field: 'text', text: 'se is' })
  expect(announcements.current.value).toBe('')
  change({ change: 'row', row: textRow('t', 'The cause is found.\n\nMore follows.') })
  expect(announcements.current.value).toBe('Bosun: The cause is found.')
})

it('says nothing of calls that went well, and what failed', () => {
  change({ change: 'row', row: toolRow('c', { card: 'terminal', title: 'ls' }, { card: 'terminal', exitCode: 0 }) })
  expect(announcements.current.value).toBe('')
  change({ change: 'row', row: toolRow('d', { card: 'generic', title: 'Read', kind: 'read', subject: 'a.ts' }, null, { state: 'failed', endedAt: 0 }) })
  expect(announcements.current.value).toBe('Reading a.ts, failed')
})

it('says once what came of a command', () => {
  change({ change: 'row', row: commandRow('c', { state: 'running' }) })
  expect(announcements.current.value).toBe('')
  change({ change: 'row', row: commandRow('c', { text: 'Deep answers.\nMore follows.' }) })
  expect(announcements.current.value).toBe('/model: Deep answers.')
  change({ change: 'row', row: commandRow('d') })
  expect(announcements.current.value).toBe('/model: done')
})

it('ends each sentence once', () => {
  change({ change: 'row', row: textRow('t', 'Edited.') }, { change: 'row', row: textRow('u', 'Next') }, { change: 'row', row: turnEndRow('e') })
  expect(announcements.current.value).toBe('Bosun: Edited. Bosun: Next. Bosun is done, 3 steps')
})

it('says once what waits for the person', () => {
  const approvals = [{ id: 'a1', callId: null, tool: 'bash', effect: 'Run `npm test`', why: '', card: null, always: [], who: null }]
  change({ change: 'state', key: 'approvals', value: approvals })
  expect(announcements.current.value).toBe('Approval needed: Run npm test')
  change({ change: 'row', row: turnEndRow('e') }, { change: 'state', key: 'approvals', value: approvals })
  expect(announcements.current.value).toBe('Bosun is done, 3 steps')
})

it('says how a compaction ended', () => {
  const row = { kind: 'compaction', id: 'k', turn: 1, state: 'running', summary: null, messages: 0, firstRowId: null, error: null } as const
  change({ change: 'row', row })
  expect(announcements.current.value).toBe('')
  change({ change: 'row', row: { ...row, state: 'ok', summary: 'S', messages: 4 } })
  expect(announcements.current.value).toBe('Older messages were summarized for the model')
})
