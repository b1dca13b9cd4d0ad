import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { EventDraft, SessionEvent } from '../../../extension/core/log/event.ts'
import type { FindPresenters } from '../../../extension/host/present-tool.ts'
import { MAX_PROGRESS, Transcript, type RowChange } from '../../../extension/host/transcript.ts'
import type { Row } from '../../../extension/protocol/view-state.ts'
import { answered, called, chunk, draft, recorded, resulted, said, stepEnd, stepStart, turnEnd, turnStart, usage } from './session-events.ts'

const tools: Record<string, ReturnType<FindPresenters>> = {
  read: {
    presentCall: (args) => ({ card: 'generic', title: `Read ${(args as { file_path: string }).file_path}`, kind: 'read' }),
    presentResult: () => ({ card: 'read', path: 'a.ts', offset: 1, lines: [{ number: 1, text: 'x' }], totalLines: 1 }),
  },
  edit: {
    presentResult: (_args, result) =>
      result.isError
        ? undefined
        : {
            card: 'diff',
            diffs: [
              { path: 'a.ts', oldText: 'one\ntwo\n', newText: 'one\n2\nthree\n' },
              { path: 'b.ts', oldText: null, newText: 'new\n' },
            ],
          },
  },
  draft: { presentResult: () => ({ card: 'diff', diffs: [{ path: 'host.js', oldText: null, newText: 'return' }], isDraft: true }) },
  broken: {
    presentCall: () => {
      throw new Error('no card today')
    },
    presentResult: () => ({ card: 'hologram' }) as never,
  },
}
const create = () => new Transcript({ find: (name) => tools[name], l10n: { t: fillIn }, isKnownEvent: (type) => !type.startsWith('future/') })

/** Apply changes as a view does, to show that changes and rows agree. */
function mirror(rows: Row[], changes: readonly RowChange[]): Row[] {
  for (const change of changes) {
    if (change.change === 'row') {
      const index = rows.findIndex(({ id }) => id === change.row.id)
      if (index < 0) rows.push(change.row)
      else rows[index] = change.row
    } else if (change.change === 'remove-row') {
      rows = rows.filter(({ id }) => id !== change.rowId)
    } else {
      rows = rows.map((row) => {
        if (row.id !== change.rowId) return row
        return change.field === 'text' && (row.kind === 'text' || row.kind === 'reasoning')
          ? { ...row, text: row.text + change.text }
          : { ...row, progress: `${'progress' in row ? row.progress : ''}${change.text}` }
      }) as Row[]
    }
  }
  return rows
}

function fold(events: readonly SessionEvent[]) {
  const transcript = create()
  let seen: Row[] = []
  for (const event of events) seen = mirror(seen, transcript.apply(event))
  expect(seen).toEqual(transcript.rows())
  const replayed = create()
  replayed.replay(events)
  expect(replayed.rows()).toEqual(transcript.rows())
  expect(replayed.usage).toEqual(transcript.usage)
  return transcript
}

const check = (drafts: readonly EventDraft[], expected: readonly unknown[]) =>
  expect(fold(recorded(drafts)).rows()).toMatchObject(expected)

const inStep = (...middle: readonly EventDraft[]) => [turnStart(1), stepStart(1, 1), ...middle, stepEnd(1, 1), turnEnd(1)]
const end = { kind: 'turn-end', outcome: 'completed' }
const text = (index: number, delta: string) => chunk({ type: 'text-delta', index, delta })

describe('a conversation as rows', () => {
  it('shows what the person typed as a prompt and injected context as one folded line', () =>
    check(
      inStep(
        said('fix it'),
        said('lots of facts', { kind: 'plugin', plugin: 'prompt', form: 'snapshot', sections: ['git', 'editor'] }),
        said('a job ended', { kind: 'plugin', plugin: 'jobs', form: 'notice', summary: 'Job 3 ended' }),
      ),
      [
        { kind: 'prompt', id: 'e2', turn: 1, text: 'fix it', sentAt: 3000 },
        { kind: 'context', title: 'Told the model about git, editor', text: 'lots of facts' },
        { kind: 'context', title: 'Job 3 ended' },
        end,
      ],
    ))

  it('shows a round of a goal as a line of its own with its number, and says why the goal ended it', () => {
    const goal = { id: 'goal-1', revision: 1, objective: 'o', phase: 'active', maxGoalRounds: 9 } as const
    const blockedReason = { code: 'token-limit', message: 'The budget is used up.' }
    const changed = { kind: 'goal/change', version: 1, createdAt: 1, updatedAt: 1 } as const
    return check(
      [
        { type: 'goal/change', data: { ...changed, operation: 'create', goal, roundsStarted: 0 } },
        turnStart(1), stepStart(1, 1), said('<goal_round>', { kind: 'goal', goalId: 'goal-1', revision: 1, round: 2 }), stepEnd(1, 1),
        { type: 'goal/change', data: { ...changed, operation: 'block', goal: { ...goal, revision: 2, phase: 'blocked', blockedReason }, roundsStarted: 2 } },
        { type: 'turn/end', data: { turn: 1, reason: { kind: 'blocked' } } },
      ],
      [{ kind: 'round', turn: 1, round: 2, maxRounds: 9, text: '<goal_round>' }, { kind: 'turn-end', outcome: 'blocked', message: 'The budget is used up.' }],
    )
  })

  it('streams text into one row and settles it with the answer', () =>
    check(
      inStep(chunk({ type: 'block-start', index: 0, block: 'text' }), text(0, 'Hel'), text(0, 'lo'), chunk({ type: 'block-end', index: 0 }), answered([{ type: 'text', text: 'Hello' }])),
      [{ kind: 'text', id: 'e2', text: 'Hello', isStreaming: false, isInterrupted: false }, end],
    ))

  it('appends streamed text instead of rebuilding the row', () => {
    const transcript = create()
    const events = recorded([turnStart(1), stepStart(1, 1), text(0, 'a'), text(0, 'b')])
    for (const event of events.slice(0, 3)) transcript.apply(event)
    expect(transcript.apply(events[3]!)).toEqual([{ change: 'append', rowId: 'e2', field: 'text', text: 'b' }])
  })

  it('begins no row with blank text', () => check(inStep(text(0, '\n\n'), answered([{ type: 'text', text: '\n\n' }])), []))

  it('times reasoning from its first part to its end', () =>
    check(
      inStep(
        chunk({ type: 'block-start', index: 0, block: 'reasoning' }),
        chunk({ type: 'reasoning-delta', index: 0, delta: 'hmm' }),
        chunk({ type: 'block-end', index: 0 }),
        text(1, 'So.'),
        answered([
          { type: 'reasoning', text: 'hmm' },
          { type: 'text', text: 'So.' },
        ]),
      ),
      [{ kind: 'reasoning', text: 'hmm', isStreaming: false, durationMs: 2000 }, { kind: 'text', text: 'So.' }, end],
    ))

  it('shows no time less than none when the clock was set back in a turn', () => {
    const drafts = inStep(chunk({ type: 'block-start', index: 0, block: 'reasoning' }), chunk({ type: 'reasoning-delta', index: 0, delta: 'hmm' }), chunk({ type: 'block-end', index: 0 }), answered([{ type: 'reasoning', text: 'hmm' }]))
    const events = recorded(drafts).map((event) => (event.seq < 4 ? { ...event, time: event.time + 7_200_000 } : event))
    expect(fold(events).rows()).toMatchObject([{ kind: 'reasoning', durationMs: 0 }, { ...end, durationMs: 0 }])
  })

  it('adds what the answer holds and was not streamed', () =>
    check(inStep(answered([{ type: 'reasoning', text: 'r' }, { type: 'text', text: 't' }])), [
      { kind: 'reasoning', id: 'e2', text: 'r', isStreaming: false },
      { kind: 'text', id: 'e2.1', text: 't' },
      end,
    ]))

  it('takes away what was streamed when another model goes on, and says so', () => {
    const from = { provider: 'p', model: 'm' }
    const to = { provider: 'q', model: 'n' }
    const failure = { message: 'The server is busy.', code: 'SERVER' as const }
    const changed = (more: object) => draft('llm/route', { turn: 1, step: 1, from, to, ...more })
    check(
      [turnStart(1), stepStart(1, 1), said('go'), text(0, 'half'), changed({ failure })],
      [{ kind: 'prompt' }, { kind: 'notice', level: 'warning', text: 'm (p) is out, so n (q) goes on until the end of this turn. The server is busy.' }],
    )
    check([turnStart(1), stepStart(1, 1), said('go'), changed({})], [{ kind: 'prompt' }, { kind: 'notice', level: 'info', text: 'From here on n (q) answers, until the end of this turn.' }])
  })

  it('says when a provider that asked for a long wait lets requests through again', () => {
    const failure = { message: 'Wait 10 min.', code: 'RATE_LIMIT' as const, providerRetryAfterMs: 600_000 }
    check([turnStart(1), said('go'), turnEnd(1, { kind: 'error', failure })], [{ kind: 'prompt' }, { kind: 'turn-end', next: 'retry', resumesAt: 603_000 }])
  })

  it.each([24 * 3_600_000, 1e20])('tells no time for a wait that nobody believes: %d ms', (providerRetryAfterMs) => {
    const failure = { message: 'Not waiting.', code: 'RATE_LIMIT' as const, providerRetryAfterMs }
    check([turnStart(1), said('go'), turnEnd(1, { kind: 'error', failure })], [{ kind: 'prompt' }, { kind: 'turn-end', next: 'retry', resumesAt: null }])
  })

  it('takes away what was streamed when the attempt is retried, and shows the wait', () => {
    const failure = { message: 'The server is busy.', code: 'RATE_LIMIT' as const }
    const retry = { retryId: 'x', turn: 1, step: 1, provider: 'p', mode: 'normal' as const, policyKey: 'k', failure }
    const drafts = [
      turnStart(1),
      stepStart(1, 1),
      said('go'),
      text(0, 'half an ans'),
      chunk({ type: 'tool-call-delta', index: 1, id: 'c', name: 'read', argumentsDelta: '{' }),
      draft('llm/retry', { ...retry, retry: 1, maxRetries: 5, delayMs: 500 }),
    ]
    check(drafts, [{ kind: 'prompt' }, { kind: 'retry', reason: 'The server is busy.', code: 'RATE_LIMIT', retry: 1, maxRetries: 5, resumesAt: 6500 }])
    check(
      [
        ...drafts,
        draft('llm/retry-started', { retryId: 'x', turn: 1, step: 1, retry: 1 }),
        draft('llm/retry', { ...retry, retry: 2, delayMs: 1000 }),
        draft('llm/retry-started', { retryId: 'x', turn: 1, step: 1, retry: 2 }),
        text(0, 'whole answer'),
        answered([{ type: 'text', text: 'whole answer' }]),
      ],
      [{ kind: 'prompt' }, { kind: 'retry', id: 'e5', retry: 2, maxRetries: null, resumesAt: null }, { kind: 'text', text: 'whole answer' }],
    )
  })

  it('keeps a cut answer readable and marks it', () =>
    check(
      [
        turnStart(1),
        stepStart(1, 1),
        text(0, 'half'),
        chunk({ type: 'tool-call-delta', index: 1, id: 'c', name: 'read', argumentsDelta: '{' }),
        stepEnd(1, 1),
        turnEnd(1, { kind: 'interrupted' }),
      ],
      [
        { kind: 'text', text: 'half', isStreaming: false, isInterrupted: true },
        { kind: 'turn-end', outcome: 'interrupted', next: 'continue', message: 'The window closed while Bosun was working.' },
      ],
    ))

  it('drops calls that a stopped answer had begun', () =>
    check(
      inStep(
        text(0, 'half'),
        chunk({ type: 'tool-call-delta', index: 1, id: 'c', name: 'read', argumentsDelta: '{' }),
        answered([{ type: 'text', text: 'half' }], { interrupted: true }),
      ),
      [{ kind: 'text', text: 'half', isInterrupted: true }, end],
    ))
})

describe('tool rows', () => {
  const call = (callId: string, name: string, args: string) => answered([{ type: 'tool-call', id: callId, name, arguments: args }])

  it('show the pending card, then the completed one, under one id', () => {
    const drafts = [
      turnStart(1),
      stepStart(1, 1),
      chunk({ type: 'tool-call-delta', index: 0, id: 'c1', name: 'read', argumentsDelta: '{}' }),
      call('c1', 'read', '{"file_path":"a.ts"}'),
      called('c1', 'read', '{"file_path":"a.ts"}'),
    ]
    check(drafts, [
      { kind: 'tool', id: 'e2', callId: 'c1', tool: 'read', state: 'running', call: { card: 'generic', title: 'Read a.ts' }, result: null, rawArguments: { file_path: 'a.ts' }, output: null, startedAt: 5000, endedAt: null },
    ])
    check(
      [...drafts, resulted('c1', 'x')],
      [{ id: 'e2', state: 'ok', result: { card: 'read', totalLines: 1 }, output: 'x', error: null, progress: '', endedAt: 6000 }],
    )
  })

  it('fall back to the generic card for an unknown tool, a throwing presenter, a foreign card and arguments that are no JSON', () =>
    check(
      inStep(
        answered([
          { type: 'tool-call', id: 'a', name: 'nobody', arguments: '{"x":1}' },
          { type: 'tool-call', id: 'b', name: 'broken', arguments: '{oops' },
        ]),
        called('a', 'nobody', '{"x":1}'),
        resulted('a', 'fine'),
        called('b', 'broken', '{oops'),
        resulted('b', 'Error: bad arguments', { error: { name: 'ToolError', code: 'INVALID_ARGS' } }),
      ),
      [
        { tool: 'nobody', call: null, result: null, rawArguments: { x: 1 }, output: 'fine', state: 'ok' },
        { tool: 'broken', call: null, result: null, rawArguments: '{oops', error: 'bad arguments', state: 'failed' },
        end,
      ],
    ))

  it.each([
    ['DENIED', 'denied'],
    ['WORKSPACE_UNTRUSTED', 'denied'],
    ['KEEP_PLANNING', 'denied'],
    ['REVIEW_DISMISSED', 'cancelled'],
    ['REVIEW_WITHDRAWN', 'cancelled'],
    ['ABORTED', 'cancelled'],
    ['SEARCH_ABORTED', 'cancelled'],
    ['ABORTED_BEFORE_DISPATCH', 'cancelled'],
    ['TOOL_NOT_STARTED', 'cancelled'],
    ['TOOL_OUTCOME_UNKNOWN', 'failed'],
    ['TOOL_TIMEOUT', 'failed'],
  ])('say how it ended: %s', (code, state) =>
    check(inStep(call('c', 'read', '{}'), called('c', 'read', '{}'), resulted('c', 'Error: no', { error: { name: 'ToolError', code } })), [{ state, error: 'no' }, end]),
  )

  it('wait while an approval is asked', () => {
    const drafts = [turnStart(1), stepStart(1, 1), call('c', 'read', '{}'), draft('approval/asked', { id: 'q', toolName: 'read', callId: 'c' })]
    check(drafts, [{ state: 'waiting' }])
    check([...drafts, draft('approval/decided', { id: 'q', outcome: 'allowed-once' })], [{ state: 'running', startedAt: 5_000 }])
  })

  it('say whose tool it was, as the log does, whatever is there now', () =>
    check(
      inStep(call('c', 'acme_tide', '{}'), draft('tool/call', { turn: 1, step: 1, callId: 'c', name: 'acme_tide', arguments: '{}', from: 'acme.sample' }), resulted('c', 'Error: no', { error: { name: 'ToolError', code: 'DENIED' }, meta: { extension: 'other.one' } })),
      [{ tool: 'acme_tide', state: 'denied', from: 'acme.sample' }, end],
    ))
  it.each([
    [undefined, null],
    ['Not on Mondays.', 'Not on Mondays.'],
  ])('that the person refused say only the reason given: %s', (note, error) => {
    const decided = draft('approval/decided', { id: 'q', outcome: 'rejected', ...(note === undefined ? {} : { note }) })
    const refused = resulted('c', 'Error: The person refused read.', { error: { name: 'ToolError', code: 'DENIED' } })
    check([turnStart(1), stepStart(1, 1), call('c', 'read', '{}'), draft('approval/asked', { id: 'q', toolName: 'read', callId: 'c' }), decided, refused], [{ state: 'denied', error }])
  })

  it('accept a result whose call never began, as crash repair writes it', () =>
    check(
      [
        turnStart(1),
        stepStart(1, 1),
        call('c', 'read', '{}'),
        resulted('c', 'Error: not started', { error: { name: 'ToolError', code: 'TOOL_NOT_STARTED' } }),
        stepEnd(1, 1),
        turnEnd(1, { kind: 'interrupted' }),
      ],
      [{ kind: 'tool', state: 'cancelled' }, { kind: 'turn-end', outcome: 'interrupted' }],
    ))

  it('keep the first result and ignore the model-facing replacement of a pruner', () => {
    const prune = { ...resulted('c', 'short'), surfaceOp: { op: 'replace', start: 1, end: 1 } } as EventDraft
    check([turnStart(1), stepStart(1, 1), call('c', 'read', '{}'), resulted('c', 'long text'), prune], [{ output: 'long text' }])
  })

  it('make a new row when a provider uses a call id again in a later step', () =>
    check(
      [
        turnStart(1),
        stepStart(1, 1),
        call('call_0', 'read', '{}'),
        called('call_0', 'read', '{}'),
        resulted('call_0', 'first'),
        stepEnd(1, 1),
        stepStart(1, 2),
        call('call_0', 'read', '{}'),
        called('call_0', 'read', '{}'),
        resulted('call_0', 'second'),
      ],
      [{ output: 'first' }, { output: 'second' }],
    ))

  it('show live output with a bounded tail that goes with the result', () => {
    const transcript = fold(recorded([turnStart(1), stepStart(1, 1), call('c', 'read', '{}'), called('c', 'read', '{}')]))
    expect(transcript.progress('c', 'line\n')).toEqual([{ change: 'append', rowId: 'e2', field: 'progress', text: 'line\n' }])
    transcript.progress('c', 'x'.repeat(3 * MAX_PROGRESS))
    expect(transcript.row('e2')).toMatchObject({ progress: 'x'.repeat(MAX_PROGRESS) })
    expect(transcript.progress('unknown', 'x')).toEqual([])
    transcript.apply({ ...recorded([resulted('c', 'done')])[0]!, seq: 4 })
    expect(transcript.row('e2')).toMatchObject({ progress: '', output: 'done' })
  })
})

describe('turn ends', () => {
  const stopped = (cause: 'user' | 'disposed') => ({ kind: 'aborted', reason: { kind: cause } }) as const

  it.each([
    [{ kind: 'completed' }, 'completed', 'none', null],
    [stopped('user'), 'stopped', 'continue', null],
    [stopped('disposed'), 'interrupted', 'continue', 'The window closed while Bosun was working.'],
    [{ kind: 'aborted', reason: { kind: 'hook', reason: 'Not now.' } }, 'stopped', 'continue', 'Not now.'],
    [{ kind: 'blocked' }, 'blocked', 'none', 'A hook held this message back.'],
    [{ kind: 'error', failure: { code: 'AUTH', message: 'The key was refused.' } }, 'failed', 'retry', 'The key was refused.'],
    [{ kind: 'max-tokens' }, 'max-tokens', 'continue', 'The answer reached the length limit of the model.'],
    [{ kind: 'interrupted' }, 'interrupted', 'continue', 'The window closed while Bosun was working.'],
    [{ kind: 'paused', cap: 'steps', limit: 200 }, 'paused', 'continue', 'Bosun paused after 200 steps.'],
  ] as const)('say the outcome and what may be done next: %j', (reason, outcome, next, message) =>
    check([turnStart(1), stepStart(1, 1), said('go'), stepEnd(1, 1), turnEnd(1, reason)], [{ kind: 'prompt' }, { kind: 'turn-end', outcome, next, message }]),
  )

  it('sum steps, tokens, time and the files changed', () => {
    const edit = (callId: string) => [called(callId, 'edit', '{}'), resulted(callId, 'ok')]
    const transcript = fold(
      recorded([
        turnStart(1),
        stepStart(1, 1),
        answered([{ type: 'tool-call', id: 'a', name: 'edit', arguments: '{}' }], { usage: usage(10, 1) }),
        ...edit('a'),
        stepEnd(1, 1),
        stepStart(1, 2),
        answered([{ type: 'tool-call', id: 'b', name: 'edit', arguments: '{}' }], { usage: usage(20, 2) }),
        ...edit('b'),
        called('c', 'edit', '{}'),
        resulted('c', 'Error: no', { error: { name: 'E', code: 'FS_IO_ERROR' } }),
        stepEnd(1, 2),
        turnEnd(1),
      ]),
    )
    expect(transcript.rows().at(-1)).toEqual({
      kind: 'turn-end',
      id: 'e13',
      turn: 1,
      outcome: 'completed',
      message: null,
      next: 'none',
      resumesAt: null,
      steps: 2,
      usage: { inputTokens: 30, outputTokens: 3, cacheRead: 0, reasoning: 0, steps: 2, turns: 1 },
      durationMs: 13_000,
      cost: null,
      cacheMisses: [],
      changedFiles: [
        { path: 'a.ts', added: 4, removed: 2 },
        { path: 'b.ts', added: 2, removed: 0 },
      ],
    })
    expect(transcript.usage).toEqual({ inputTokens: 30, outputTokens: 3, cacheRead: 0, reasoning: 0, steps: 2, turns: 1 })
  })

  it('count no draft among the files changed', () => {
    const rows = fold(recorded([turnStart(1), stepStart(1, 1), answered([{ type: 'tool-call', id: 'a', name: 'draft', arguments: '{}' }]), called('a', 'draft', '{}'), resulted('a', 'ok'), stepEnd(1, 1), turnEnd(1)])).rows()
    expect(rows.at(-1)).toMatchObject({ kind: 'turn-end', changedFiles: [] })
  })

  it('draw nothing for a turn in which nothing happened', () => check([turnStart(1), turnEnd(1)], []))

  it('count what was put into a cache as read anew', () =>
    expect(fold(recorded(inStep(answered([], { usage: { ...usage(10, 1), cacheRead: 5, cacheWrite: 100 } })))).usage).toMatchObject({ inputTokens: 110, cacheRead: 5 }))

  it('say what the turn cost and why the cache was missed', () => {
    const metered = (amount: number | undefined, more: object = {}) =>
      draft('cost/estimated', { purpose: 'turn', provider: 'p', model: 'm', usage: usage(1, 1), ...(amount !== undefined && { amount }), ...more })
    const missed = { cacheMiss: { lostTokens: 4000, sinceMs: 300_000, reason: { kind: 'dropped' } } }
    const end = (...drafts: readonly EventDraft[]) => fold(recorded([turnStart(1), ...drafts, said('Hi'), turnEnd(1)])).rows().at(-1)
    expect(end(metered(0.02), metered(0.01, missed))).toMatchObject({ cost: '$0.03', cacheMisses: ['The provider no longer had the conversation in its cache, 5 min after the last request: 4,000 tokens were read anew.'] })
    expect(end(metered(0.02), metered(undefined))).toMatchObject({ cost: 'at least $0.02', cacheMisses: [] })
    expect(end(metered(undefined))).toMatchObject({ cost: 'price unknown' })
  })

  it('count what commands changed beside what tools changed, once', () => {
    const found = (path: string) => draft('fs/after-image', { callId: 'c', path, before: 'd', after: 'e', lines: { added: 2, removed: 1 } })
    const rows = fold(recorded([turnStart(1), stepStart(1, 1), answered([{ type: 'tool-call', id: 'c', name: 'edit', arguments: '{}' }]), called('c', 'edit', '{}'), resulted('c', 'ok'), found('/project/x.ts'), found('/project/a.ts'), stepEnd(1, 1), turnEnd(1)])).rows()
    expect(rows.at(-1)).toMatchObject({ kind: 'turn-end', changedFiles: [{ path: 'a.ts' }, { path: 'b.ts' }, { path: '/project/x.ts', added: 2, removed: 1 }] })
  })

  it('count what is told late for the turn that it belongs to, also when the next one has begun', () => {
    const found = (callId: string, path: string) => draft('fs/after-image', { callId, path, before: 'd', after: 'e', lines: { added: 2, removed: 1 } })
    const one = (turn: number, id: string) => [turnStart(turn), stepStart(turn, 1), answered([{ type: 'tool-call', id, name: 'bash', arguments: '{}' }]), called(id, 'bash', '{}'), resulted(id, 'ok'), stepEnd(turn, 1)]
    const rows = fold(recorded([...one(1, 'c'), turnEnd(1), found('c', '/p/late.txt'), ...one(2, 'd'), found('c', '/p/later.txt'), found('d', '/p/own.txt'), turnEnd(2)])).rows()
    expect(rows.flatMap((row) => (row.kind === 'turn-end' ? [row.changedFiles.map(({ path }) => path)] : []))).toEqual([['/p/late.txt', '/p/later.txt'], ['/p/own.txt']])
  })
  it('say which limit paused it, and what was warned of and raised', () => {
    const rows = (...drafts: readonly EventDraft[]) => fold(recorded([turnStart(1), ...drafts])).rows()
    const use = { cap: 'cost', per: 'session', limit: 1, used: 0.85 } as const
    expect(rows(draft('budget/warned', use), draft('budget/unpriced', { provider: 'p', model: 'm' }), draft('budget/raised', { cap: 'cost', per: 'session', limit: 2, base: 1 }))).toMatchObject([
      { kind: 'notice', level: 'warning', text: 'Close to a limit: $0.85 of the $1.00 that this session may cost are used.' },
      { kind: 'notice', level: 'warning', text: expect.stringContaining('What m costs is unknown') },
      { kind: 'notice', level: 'info', text: 'You let it go on: this session may cost $2.00 now.' },
    ])
    const paused = rows(draft('turn/end', { turn: 1, reason: { kind: 'paused', cap: 'tokens', per: 'turn', limit: 5000, used: 4900, next: 300 } }))
    expect(paused).toMatchObject([{ outcome: 'paused', next: 'continue', message: 'Bosun paused: 4,900 of the 5,000 tokens that a turn may use are used, and the next request alone would add 300.' }])
  })
})

describe('notices', () => {
  it('say what was cut from a damaged log', () =>
    check([draft('log/repaired', { cutBytes: 12, keptAs: 'events.cut', reason: 'The last line was torn.' })], [
      { kind: 'notice', level: 'warning', text: 'The end of this log was damaged: 12 bytes were cut and kept in events.cut. The last line was torn.' },
    ]))

  it('say what could not be kept before a command that throws work away', () =>
    check(
      [draft('review/limited', { callId: 'c', reason: 'too-many-to-keep', files: 7 }), draft('review/limited', { callId: 'c', reason: 'too-many-files' }), draft('review/limited', { callId: 'c', reason: 'too-many-found', files: 3 }), draft('review/limited', { callId: 'c', reason: 'too-many-found' }), draft('review/limited', { callId: 'c', reason: 'git-unavailable' }), draft('review/limited', { callId: 'c', reason: 'too-large-to-review', files: 1 })],
      [
        { kind: 'notice', level: 'warning', text: '7 files could not be kept before this command and cannot be taken back: at most 1000 are kept.' },
        { kind: 'notice', level: 'warning', text: 'This folder is too large to watch, so what commands change in it cannot be reviewed or taken back here.' },
        { kind: 'notice', level: 'warning', text: 'This command changed more than 2000 files. 3 of them are not put up for review and cannot be taken back here.' },
        { kind: 'notice', level: 'warning', text: 'This command changed more files than are put up for review. The others cannot be taken back here.' },
        { kind: 'notice', level: 'warning', text: 'Git does not answer here, so not everything that commands change can be taken back in this session.' },
        { kind: 'notice', level: 'warning', text: '1 file that this changed is too large to be reviewed or taken back here: at most 10 MB.' },
      ],
    ))

  it('show an entry that this version does not know as skipped, and known quiet ones not at all', () =>
    check(
      [{ type: 'future/thing', data: {}, ignorable: true } as unknown as EventDraft, draft('turn/paused', { turn: 1, step: 1, cap: 'steps', limit: 5 })],
      [{ kind: 'notice', level: 'info', text: 'Skipped an entry that this version does not know: future/thing' }],
    ))
})

describe('commands of the person', () => {
  const command = { kind: 'command', id: 'e0', turn: 0, name: 'model', args: 'deep' }
  const run = draft('command/run', { commandId: 'c', name: 'model', args: 'deep', source: 'user' })
  const check = (drafts: readonly EventDraft[], rows: readonly unknown[]) => {
    const transcript = create()
    transcript.replay(recorded(drafts))
    expect(transcript.rows()).toMatchObject(rows)
  }

  it('shows one that runs', () => check([run], [{ ...command, state: 'running', text: null }]))
  it('shows what came of it', () => check([run, draft('command/done', { commandId: 'c', kind: 'success', text: 'Deep it is.' })], [{ ...command, state: 'ok', text: 'Deep it is.' }]))
  it('shows that it failed', () => check([run, draft('command/done', { commandId: 'c', kind: 'error', text: 'No.' })], [{ ...command, state: 'failed', text: 'No.' }]))
  it('leaves the word to the row of the event it points to', () =>
    check(
      [run, said('richer'), draft('command/done', { commandId: 'c', kind: 'success', text: 'Poorer.', sourceEventSeq: 1 })],
      [{ ...command, state: 'ok', text: null }, { kind: 'prompt', text: 'richer' }],
    ))
  it('keeps its text when that event has no row', () =>
    check([run, draft('session/end-seed', {}), draft('command/done', { commandId: 'c', kind: 'success', text: 'Said.', sourceEventSeq: 1 })], [{ ...command, state: 'ok', text: 'Said.' }]))
})

describe('replay', () => {
  it('gives the same rows twice, and any prefix gives a prefix of the ids', () => {
    const events = recorded([
      turnStart(1),
      stepStart(1, 1),
      said('go'),
      chunk({ type: 'reasoning-delta', index: 0, delta: 'why' }),
      text(1, 'Because'),
      chunk({ type: 'tool-call-delta', index: 2, id: 'c', name: 'edit', argumentsDelta: '{}' }),
      answered([
        { type: 'reasoning', text: 'why' },
        { type: 'text', text: 'Because' },
        { type: 'tool-call', id: 'c', name: 'edit', arguments: '{}' },
      ]),
      called('c', 'edit', '{}'),
      resulted('c', 'ok'),
      stepEnd(1, 1),
      turnEnd(1),
    ])
    expect(fold(events).rows()).toEqual(fold(events).rows())
    const ids = fold(events).rows().map(({ id }) => id)
    for (let length = 0; length <= events.length; length += 1) {
      const prefix = fold(events.slice(0, length)).rows().map(({ id }) => id)
      expect(ids.slice(0, prefix.length)).toEqual(prefix)
    }
  })

  it('costs the same per event however long the talk is', () => {
    const transcript = create()
    const turn = (from: number) =>
      recorded([turnStart(1), stepStart(1, 1), said('go'), ...Array.from({ length: 50 }, () => text(0, 'word ')), answered([{ type: 'text', text: 'word '.repeat(50) }]), stepEnd(1, 1), turnEnd(1)]).map(
        (event) => ({ ...event, seq: from + event.seq }),
      )
    // What an event touches is what it costs: the rows it names, and never the talk before it.
    const touched = (from: number) => turn(from).map((event) => transcript.apply(event).length)
    const early = touched(0)
    for (let index = 1; index < 1999; index += 1) touched(index * 100)
    expect(touched(199_900)).toEqual(early)
    expect(transcript.total).toBe(2000 * 3)
  })
})

describe('the calls of a program', () => {
  const place = { rootCallId: 'c1', parentCallId: 'c1', subCallId: 'c1:code:1', name: 'edit', arguments: { file_path: 'a.ts' } }
  const begun = draft('tool/code-dispatch-start', place)
  const ended = (more: object) => draft('tool/code-dispatch', { ...place, isError: false, content: [], ...more })
  const program = [turnStart(1), stepStart(1, 1), answered([{ type: 'tool-call', id: 'c1', name: 'run_code', arguments: '{}' }]), called('c1', 'run_code', '{}')]
  const shown = (...drafts: readonly EventDraft[]) => {
    const rows = fold(recorded([...program, ...drafts])).rows().filter((row) => row.kind === 'tool')
    return rows.map(({ id, parent, tool, state, result, error }) => [parent === rows[0]?.id ? 'inside' : id === rows[0]?.id ? 'program' : 'elsewhere', tool, state, result?.card ?? null, error])
  }

  it('are rows that say whose they are, from when they begin', () =>
    expect(shown(begun)).toEqual([['program', 'run_code', 'running', null, null], ['inside', 'edit', 'running', null, null]]))
  it('have the card of their tool, and count for the turn', () => {
    expect(shown(begun, ended({ meta: {} }))[1]).toEqual(['inside', 'edit', 'ok', 'diff', null])
    const rows = fold(recorded([...program, begun, ended({}), resulted('c1', 'done'), stepEnd(1, 1), turnEnd(1)])).rows()
    expect(rows.find((row) => row.kind === 'turn-end')?.changedFiles.map(({ path }) => path)).toEqual(['a.ts', 'b.ts'])
  })
  it('say that they were denied, and why', () =>
    expect(shown(begun, ended({ isError: true, content: [{ type: 'text', text: 'Error: not here' }], error: { name: 'ToolError', code: 'DENIED' } }))[1]).toEqual(['inside', 'edit', 'denied', null, 'not here']))
})
