import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import { Transcript } from '../../../extension/host/transcript.ts'
import { createViewFeed, FRAME_MS, MAX_OLDER_ROWS, SNAPSHOT_ROWS } from '../../../extension/host/view-feed.ts'
import { parseViewMessage } from '../../../extension/host/view-messages.ts'
import { ViewModel, type SideState } from '../../../extension/host/view-model.ts'
import { MAX_MESSAGE_BYTES, PROTOCOL_VERSION, type ViewMessage } from '../../../extension/protocol/messages.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { fakeChannel } from './fake-channel.ts'
import { chunk, draft, recorded, said, stepStart, turnStart } from './session-events.ts'

const side: SideState = {
  session: null,
  composer: { draft: '', canSend: true, blockedBy: null, preset: 'editor', presets: [], permission: 'workspace-write', model: null },
  approvals: [],
  questions: [],
  queue: [],
  tasks: null,
  droppedTasks: [],
  planReview: null,
  reminders: { items: [], problem: null },
  goal: null,
  sessions: [],
  notices: [],
  rules: null,
  commands: [],
  workflows: [], agents: [], plugins: [],
  review: null,
  isTrusted: true,
}

function setUp(drafts: readonly EventDraft[] = []) {
  const clock = createManualClock()
  const page = fakeChannel()
  const intents: ViewMessage[] = []
  const refusals: unknown[] = []
  const model = new ViewModel(side, (error) => {
    throw error
  })
  const transcript = new Transcript({ find: () => undefined, l10n: { t: fillIn }, isKnownEvent: (type) => !type.startsWith('future/') })
  let seq = 0
  const happen = (...more: readonly EventDraft[]) => {
    for (const event of recorded(more)) {
      model.rowsChanged(transcript.apply({ ...event, seq }))
      seq += 1
    }
  }
  happen(...drafts)
  model.show(transcript)
  const dispose = createViewFeed({
    channel: page.channel,
    model,
    clock,
    onIntent: (message) => void intents.push(message),
    onRefused: (refusal) => void refusals.push(refusal),
  })
  return { clock, advance: clock.advance, page, intents, refusals, model, transcript, happen, dispose }
}
const ready = { type: 'ready', version: PROTOCOL_VERSION } as const
const text = (delta: string) => chunk({ type: 'text-delta', index: 0, delta })
const prompts = (count: number) => [turnStart(1), stepStart(1, 1), ...Array.from({ length: count }, (_, index) => said(`p${index}`))]

describe('feeding a page', () => {
  it('says nothing before the page is ready, then everything', () => {
    const { page, happen, advance } = setUp([turnStart(1), stepStart(1, 1)])
    happen(said('hello'))
    advance(1000)
    expect(page.take()).toEqual([])
    page.say(ready)
    expect(page.take()).toMatchObject([
      { type: 'snapshot', version: PROTOCOL_VERSION, frame: 1, state: { ...side, transcript: { firstIndex: 0, total: 1, rows: [{ kind: 'prompt', text: 'hello' }] } } },
    ])
  })

  it('sends at most one patch a frame, numbered, with streamed text merged', () => {
    const { page, happen, advance, model } = setUp([turnStart(1), stepStart(1, 1), text('a')])
    page.say(ready)
    page.take()
    happen(text('b'))
    happen(text('c'))
    model.set('isTrusted', false)
    advance(FRAME_MS - 1)
    expect(page.take()).toEqual([])
    advance(1)
    expect(page.take()).toEqual([
      {
        type: 'patch',
        frame: 2,
        changes: [
          { change: 'append', rowId: 'e2', field: 'text', text: 'bc' },
          { change: 'state', key: 'isTrusted', value: false },
        ],
      },
    ])
    happen(text('d'), said('next'))
    advance(FRAME_MS)
    expect(page.take()).toMatchObject([{ frame: 3, changes: [{ change: 'append', text: 'd' }, { change: 'row', row: { text: 'next' } }] }])
  })

  it('sends a row whole, once, when it began and grew in one frame', () => {
    const { page, happen, advance } = setUp([turnStart(1), stepStart(1, 1)])
    page.say(ready)
    page.take()
    happen(text('a'), text('b'))
    advance(FRAME_MS)
    expect(page.take()).toMatchObject([{ changes: [{ change: 'row', row: { text: 'ab' } }] }])
  })

  it('takes rows away that a retry made void', () => {
    const { page, happen, advance } = setUp([turnStart(1), stepStart(1, 1), text('half')])
    page.say(ready)
    page.take()
    happen(
      draft('llm/retry', { retryId: 'r', turn: 1, step: 1, provider: 'p', mode: 'normal', policyKey: 'k', retry: 1, delayMs: 5, failure: { code: 'SERVER', message: 'Busy.' } }),
    )
    advance(FRAME_MS)
    expect(page.take()).toMatchObject([
      { changes: [{ change: 'remove-row', rowId: 'e2' }, { change: 'row', row: { kind: 'retry' } }, { change: 'rows-total', total: 1 }] },
    ])
  })

  it('shows nothing twice when a value did not change', () => {
    const { page, advance, model } = setUp()
    page.say(ready)
    page.take()
    model.set('notices', [])
    advance(1000)
    expect(page.take()).toEqual([])
  })

  it('shows the newest rows first and older ones on demand, inside the caps', () => {
    const { page } = setUp(prompts(1000))
    page.say(ready)
    expect(page.take()).toMatchObject([{ state: { transcript: { firstIndex: 1000 - SNAPSHOT_ROWS, total: 1000 } } }])
    page.say({ type: 'load-older', before: 800, count: 100 })
    page.say({ type: 'load-older', before: 700, count: 99_999 })
    const windows = page.take().flatMap((message) => (message.type === 'older-rows' ? [[message.frame, message.window.firstIndex, message.window.rows.length]] : []))
    expect(windows).toEqual([
      [2, 700, 100],
      [3, 700 - MAX_OLDER_ROWS, MAX_OLDER_ROWS],
    ])
  })

  it('does not speak of rows the page does not hold', () => {
    const { page, transcript, model, advance } = setUp([turnStart(1), stepStart(1, 1), text('old'), ...prompts(300).slice(2)])
    page.say(ready)
    page.take()
    const row = transcript.row('e2')!
    model.rowsChanged([{ change: 'row', row }])
    advance(FRAME_MS)
    expect(page.take()).toEqual([])
  })

  it('sends a snapshot for another conversation and on demand after a gap', () => {
    const { page, model, advance } = setUp(prompts(1))
    page.say(ready)
    page.take()
    model.show(null)
    advance(FRAME_MS)
    expect(page.take()).toMatchObject([{ type: 'snapshot', frame: 2, state: { transcript: { rows: [], firstIndex: 0, total: 0 } } }])
    page.say({ type: 'need-snapshot' })
    expect(page.take()).toMatchObject([{ type: 'snapshot', frame: 3 }])
  })

  it('leaves a hidden page alone until it is ready again', () => {
    const { page, happen, advance } = setUp([turnStart(1), stepStart(1, 1)])
    page.say(ready)
    page.take()
    page.hide()
    happen(said('unseen'))
    advance(FRAME_MS)
    expect(page.take()).toEqual([])
    page.reveal()
    page.say(ready)
    expect(page.take()).toMatchObject([{ type: 'snapshot', state: { transcript: { total: 1 } } }])
  })

  it('hands intents on and refuses what is none', () => {
    const { page, intents, refusals } = setUp()
    page.say({ type: 'stop' })
    page.sayRaw({ type: 'launch' })
    page.sayRaw(null)
    expect(intents).toEqual([{ type: 'stop' }])
    expect(refusals).toMatchObject([{ reason: 'malformed' }, { reason: 'malformed' }])
  })

  it('stops when it is disposed', () => {
    const { page, happen, advance, dispose, clock } = setUp([turnStart(1), stepStart(1, 1)])
    page.say(ready)
    page.take()
    happen(said('x'))
    dispose()
    dispose()
    advance(1000)
    expect([page.take(), page.listenerCount(), clock.waiting]).toEqual([[], 0, 0])
  })
})

describe('messages of a page', () => {
  it.each([
    [{ type: 'send', id: 's1', text: 'hi', target: 'next-turn' }],
    [{ type: 'approval', id: 'a', answer: 'allow', always: 0 }],
    [{ type: 'approval', id: 'a', answer: 'deny', note: 'not now' }],
    [{ type: 'approval', id: 'a', answer: 'allow', edited: 'ls' }],
    [{ type: 'approval-preview', id: 'a' }],
    [{ type: 'approval-preview', id: 'a', path: 'x.ts' }],
    [{ type: 'rules-show' }],
    [{ type: 'rule-revoke', id: 'a' }],
    [{ type: 'question', id: 'q', answers: null }],
    [{ type: 'question', id: 'q', answers: [{ id: '1', selected: ['A'], custom: 'or B' }] }],
    [{ type: 'open-location', location: { path: 'a.ts', line: 3 } }],
    [{ type: 'load-older', before: 5, count: 10 }],
  ])('are accepted: %j', (message) => expect(parseViewMessage(message)).toEqual({ ok: true, message }))

  it.each([
    [undefined],
    ['stop'],
    [{}],
    [{ type: 'send', id: 's', text: 5, target: 'next-turn' }],
    [{ type: 'send', id: 's', text: 'x', target: 'now' }],
    [{ type: 'send', id: '', text: 'x', target: 'next-turn' }],
    [{ type: 'approval', id: 'a', answer: 'allow', always: -1 }],
    [{ type: 'open-location', location: { path: '', line: 1 } }],
    [{ type: 'load-older', before: 1.5, count: 1 }],
    [{ type: 'stop', extra: 1 }],
    [{ type: 'completions', id: '1', kind: '#', query: '' }],
    [{ type: 'completions', id: '1', kind: '@', query: 'x'.repeat(501) }],
    [{ type: 'attach-image', id: '1', name: 'a.png', data: [1, 2] }],
    [{ type: 'mention', uris: Array.from({ length: 101 }, () => 'file:///a') }],
    [{ type: 'detach' }],
  ])('are refused: %j', (message) => expect(parseViewMessage(message)).toMatchObject({ ok: false, reason: 'malformed' }))

  it('are refused by size', () =>
    expect(parseViewMessage({ type: 'draft', text: 'ä'.repeat(MAX_MESSAGE_BYTES / 2) })).toMatchObject({ ok: false, reason: 'too-large', bytes: MAX_MESSAGE_BYTES + 26 }))

  it('are refused when they cannot be JSON', () => {
    const cycle: Record<string, unknown> = { type: 'stop' }
    cycle['self'] = cycle
    expect(parseViewMessage(cycle)).toMatchObject({ ok: false, reason: 'malformed' })
  })
})
