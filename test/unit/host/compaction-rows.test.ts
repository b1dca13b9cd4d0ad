import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { EventDraft, SessionEvent } from '../../../extension/core/log/event.ts'
import { Transcript } from '../../../extension/host/transcript.ts'
import { answered, draft, recorded, said, stepEnd, stepStart, turnEnd, turnStart } from './session-events.ts'

const rowsOf = (drafts: readonly EventDraft[]) => {
  const events: readonly SessionEvent[] = recorded(drafts)
  const [live, replayed] = [0, 0].map(() => new Transcript({ find: () => undefined, l10n: { t: fillIn }, isKnownEvent: () => true }))
  for (const event of events) live!.apply(event)
  replayed!.replay(events)
  expect(replayed!.rows()).toEqual(live!.rows())
  return live!.rows()
}

const talk = [turnStart(1), stepStart(1, 1), said('first'), answered([{ type: 'text', text: 'answer' }]), stepEnd(1, 1), turnEnd(1)]
const place = { compactionId: 'k', turn: null }
const start = (sourceCommandId?: string) => draft('compaction/start', { ...place, ...(sourceCommandId !== undefined && { sourceCommandId }) })
const end = (error?: SessionEvent<'compaction/end'>['data']['error'], sourceCommandId?: string) =>
  draft('compaction/end', { ...place, ...(error && { error }), ...(sourceCommandId !== undefined && { sourceCommandId }) })
const summary = draft('compaction/summary', {
  compactionId: 'k', summary: [{ type: 'text', text: 'The story.' }], shadowedRange: { start: 0, end: 1 }, shadowedSeqs: [2, 3], shadowedTokenCount: 9, provider: 'p', model: 'm',
})
const replacing: EventDraft = { ...said('<compacted-summary>', { kind: 'plugin', plugin: 'compaction' }), surfaceOp: { op: 'replace', start: 0, end: 1 }, sourceEventSeqs: [2, 3] }
const newest = (drafts: readonly EventDraft[]) => rowsOf([...talk, ...drafts]).at(-1)

describe('the row of a compaction', () => {
  it('runs from its start on', () => expect(newest([start()])).toMatchObject({ kind: 'compaction', id: 'e6', state: 'running', summary: null }))

  it('holds the summary and where its messages begin, which all stay', () => {
    const rows = rowsOf([...talk, start(), summary, replacing, end()])
    expect(rows.map(({ kind }) => kind)).toEqual(['prompt', 'text', 'turn-end', 'compaction'])
    expect(rows.at(-1)).toMatchObject({ state: 'ok', summary: 'The story.', messages: 2, firstRowId: 'e2', error: null })
  })

  it('says why there is none', () =>
    expect(newest([start(), summary, end({ code: 'commit', message: 'Not in place.' })])).toMatchObject({ state: 'failed', summary: null, firstRowId: null, error: 'Not in place.' }))

  it('leaves the reason to the command that asked for it', () =>
    expect(newest([start('c'), end({ code: 'cancelled', message: 'Stopped.' }, 'c')])).toMatchObject({ state: 'failed', error: null }))

  it('ends with the next opening when a crash left it open', () =>
    expect(newest([start(), draft('session/end-seed', {})])).toMatchObject({ state: 'failed', error: 'The window closed while Bosun was working.' }))

  it('is what a command says that points to its summary', () => {
    const rows = rowsOf([
      ...talk,
      draft('command/run', { commandId: 'c', name: 'compact', source: 'user' }),
      start('c'), summary, replacing, end(undefined, 'c'),
      draft('command/done', { commandId: 'c', kind: 'success', text: 'Replaced.', sourceEventSeq: 8 }),
    ])
    expect(rows.slice(-2)).toMatchObject([{ kind: 'command', state: 'ok', text: null }, { kind: 'compaction', state: 'ok' }])
  })
})
