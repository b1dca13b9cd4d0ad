import { describe, expect, it } from 'vitest'
import type { ToolCallView, ToolResultView } from '../../../extension/protocol/cards.ts'
import type { ToolRow } from '../../../extension/protocol/view-state.ts'
import { groupLine } from '../../../webview/text/group-line.ts'
import { plainLine, toolLine } from '../../../webview/text/tool-line.ts'
import { toolRow } from '../store/fixture-rows.ts'

const check = (call: ToolCallView | null, result: ToolResultView | null, words: string, more: Partial<ToolRow> = {}) => expect(plainLine(toolLine(toolRow('a', call, result, more)))).toBe(words)

const readCall: ToolCallView = { card: 'generic', title: 'Read src/date.ts', kind: 'read', subject: 'src/date.ts', locations: [{ path: 'src/date.ts' }] }
const lines = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => ({ number: first + index, text: '' }))
const readResult = (first: number, last: number, totalLines: number): ToolResultView => ({ card: 'read', path: 'src/date.ts', offset: first, lines: lines(first, last), totalLines })
const command: ToolCallView = { card: 'terminal', title: 'npm test\nnpm run lint' }

describe('a read', () => {
  it('runs in the present', () => check(readCall, null, 'Reading date.ts'))
  it('names the lines of a part', () => check(readCall, readResult(1, 80, 212), 'Read date.ts 1–80'))
  it('names no lines of a whole file', () => check(readCall, readResult(1, 80, 80), 'Read date.ts'))
  it('names the lines of several parts', () => check(readCall, { ...readResult(1, 4, 300), lines: [...lines(1, 4), ...lines(120, 120)] } as ToolResultView, 'Read date.ts 1–4, 120'))
  it('of nothing', () => check(readCall, { ...readResult(1, 1, 0), lines: [] } as ToolResultView, 'Read date.ts'))
  it('that failed is not told as done', () => check(readCall, null, 'Reading date.ts, failed', { state: 'failed', endedAt: 0 }))
  it('that failed with a result keeps its file', () => check(readCall, { card: 'generic', title: 'Read src/date.ts' }, 'Reading date.ts, failed', { state: 'failed', endedAt: 0 }))
  it('opens at its first line', () => expect(toolLine(toolRow('a', readCall, readResult(40, 80, 212))).parts[0]).toEqual({ kind: 'file', text: 'date.ts', location: { path: 'src/date.ts', line: 40 } }))
})

describe('a command', () => {
  it('shows its first line', () => check(command, null, 'Running npm test'))
  it('tells its exit', () => check(command, { card: 'terminal', exitCode: 1, durationMs: 3_200 }, 'Ran npm test, exit 1, 3.2 s'))
  it('tells a signal', () => check(command, { card: 'terminal', signal: 'SIGKILL' }, 'Ran npm test, ended by SIGKILL'))
  it('tells a time-out before anything else', () => check(command, { card: 'terminal', timedOut: true, exitCode: 0, durationMs: 120_000 }, 'Ran npm test, timed out, 2 min'))
  it('that was stopped', () => check(command, { card: 'terminal', aborted: true }, 'Ran npm test, stopped'))
  it('that was denied was not run', () => check(command, null, 'Running npm test, denied', { state: 'denied', endedAt: 0 }))
  it('that waits', () => check(command, null, 'Running npm test, waits for you', { state: 'waiting' }))
})

describe('what is sent to an open terminal', () => {
  const sent = (typed: 'text' | 'enter' | 'nothing'): ToolCallView => ({ card: 'terminal', title: '8080', typed })
  it('is typed until more is known', () => check(sent('text'), null, 'Typing 8080'))
  it('was run where a shell waited for it', () => check(sent('text'), { card: 'terminal', output: '' }, 'Ran 8080'))
  it('was typed where a program had asked', () => check(sent('text'), { card: 'terminal', output: '', isTyped: true }, 'Typed 8080'))
  it('may be Enter alone', () => {
    check(sent('enter'), null, 'Pressing Enter')
    check(sent('enter'), { card: 'terminal', output: '' }, 'Pressed Enter')
  })
  it('may be nothing', () => {
    check(sent('nothing'), null, 'Waiting for output')
    check(sent('nothing'), { card: 'terminal', output: '' }, 'Waited for output')
  })
})

describe('an edit', () => {
  const diff = (path: string, oldText: string | null, oldStart?: number) => ({ path, oldText, newText: 'b', ...(oldStart === undefined ? {} : { oldStart, newStart: oldStart }) })
  it('of one file', () => check(null, { card: 'diff', diffs: [diff('a/b.ts', 'a', 3), diff('a/b.ts', 'c', 9)] }, 'Edited b.ts'))
  it('of several, by what it was for', () => check(null, { card: 'diff', title: 'Renamed a to b in 2 files', diffs: [diff('a.ts', 'a'), diff('b.ts', 'a')] }, 'Renamed a to b in 2 files'))
  it('of several', () => check(null, { card: 'diff', diffs: [diff('a.ts', 'a'), diff('b.ts', 'a')] }, 'Edited 2 files'))
  it('of what is no file yet, by its title', () => {
    const define = { card: 'diff', title: 'Define Hello', diffs: [diff('hello/host.js', null)], isDraft: true } as const
    check(define, null, 'Define Hello')
    check(define, { ...define, title: 'Defined Hello (hello-1 pkg-1)' }, 'Defined Hello (hello-1 pkg-1)')
  })
  it('that makes a file', () => check(null, { card: 'diff', diffs: [diff('a.ts', null)] }, 'Created a.ts'))
  it('that only inserts makes none', () => check(null, { card: 'diff', diffs: [diff('a.ts', null, 4)] }, 'Edited a.ts'))
  it('that failed keeps its file', () => check({ card: 'diff', title: 'Edit a/b.ts', diffs: [diff('a/b.ts', 'a')] }, { card: 'generic', title: 'Edit a/b.ts' }, 'Editing b.ts, failed', { state: 'failed', endedAt: 0 }))
  it('without known changes has its title', () => check({ card: 'diff', title: 'Edit a.ts', diffs: [] }, null, 'Edit a.ts'))
})

describe('a search', () => {
  const call: ToolCallView = { card: 'generic', title: 'Search for "x"', kind: 'search', subject: 'x' }
  it('runs', () => check(call, null, 'Searching for x'))
  it('counts lines and files', () => check(call, { card: 'search', shape: 'matches', files: [{ path: 'a', matches: [] }, { path: 'b', matches: [] }], total: 14, truncated: false }, 'Searched for x, 14 in 2 files'))
  it('says when there is more', () => check(call, { card: 'search', shape: 'matches', files: [{ path: 'a', matches: [] }], total: 100, truncated: true }, 'Searched for x, 100+ in 1 file'))
  it('counts paths', () => check(call, { card: 'search', shape: 'paths', paths: ['a'], total: 1, truncated: false }, 'Looked for files x, 1 file'))
  it('without a subject has its title', () => check({ card: 'generic', title: 'Find **/*.ts', kind: 'search' }, { card: 'search', shape: 'paths', paths: [], total: 0, truncated: false }, 'Find **/*.ts, nothing found'))
})

describe('anything else', () => {
  it('without a card has its name', () => check(null, null, 'Using some_tool'))
  it('has its title', () => check({ card: 'generic', title: 'Update the task list' }, { card: 'generic' }, 'Update the task list'))
  it('is told in the past once it went well', () => {
    const stop: ToolCallView = { card: 'generic', title: 'Stop bash-1', doneTitle: 'Stopped bash-1', kind: 'execute' }
    check(stop, null, 'Stop bash-1', { state: 'running' })
    check(stop, null, 'Stopped bash-1', { state: 'ok', endedAt: 0 })
    check(stop, null, 'Stop bash-1, failed', { state: 'failed', endedAt: 0 })
    check({ card: 'generic', title: 'Look for x', doneTitle: 'Looked for x', kind: 'search' }, { card: 'search', shape: 'matches', files: [], total: 0, truncated: false }, 'Looked for x, nothing found', { state: 'ok', endedAt: 0 })
  })
  it('takes the title of its result', () => check({ card: 'generic', title: 'Ask' }, { card: 'generic', title: 'Question not answered' }, 'Question not answered'))
  it('names the host of a page', () => check(null, { card: 'web', kind: 'fetch', url: 'https://a.example.org/x', statusCode: 404, truncated: false }, 'Fetched a.example.org, status 404'))
  it('of a page that was there says no status', () => check(null, { card: 'web', kind: 'fetch', url: 'https://a.example.org/x', statusCode: 200, truncated: false }, 'Fetched a.example.org'))
  it('shows one answer', () => check(null, { card: 'question', items: [{ question: 'Which?', options: ['A'], selected: ['A'] }] }, 'Asked you Which?, A'))
  it('counts several answers', () =>
    check(null, { card: 'question', items: [{ question: '1', options: [], selected: [], custom: 'x' }, { question: '2', options: [], selected: [] }] }, 'Asked you 2 questions, answered 1 of 2'))
})

describe('a group', () => {
  const search = toolRow('s', { card: 'generic', title: 'x', kind: 'search', subject: 'x' }, { card: 'search', shape: 'paths', paths: [], total: 0, truncated: false })
  const thought = { kind: 'reasoning', id: 'x', turn: 1, text: '', isStreaming: false, durationMs: 2_400 } as const
  it('counts each file once', () =>
    expect(groupLine([toolRow('a', readCall, readResult(1, 2, 9)), thought, toolRow('b', readCall, readResult(3, 4, 9)), search])).toEqual({ text: 'Explored 1 file, 1 search, thought for 2.4 s', isRunning: false }))
  it('of searches alone', () => expect(groupLine([search, toolRow('t', null, { card: 'search', shape: 'paths', paths: [], total: 0, truncated: false })]).text).toBe('Searched 2 times'))
  it('is told in the present while one runs', () => expect(groupLine([search, toolRow('b', readCall, null)])).toEqual({ text: 'Exploring 1 file, 1 search', isRunning: true }))
})
