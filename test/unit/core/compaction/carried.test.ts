import { describe, expect, it } from 'vitest'
import { carriedFacts } from '../../../../extension/core/compaction/carried.ts'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import { createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { createSessionRig } from '../../../support/session-rig.ts'
import { answer, prompt, result, stepEnd, stepStart, turnEnd, turnStart } from '../../../support/session-talk.ts'

/** One turn: what was asked, and one step that reads with each of `reads`; `null` is a read that failed. */
function round(turn: number, asked: string, reads: readonly (object | string | null)[] = []): readonly EventDraft[] {
  const ids = reads.map((_, index) => `c${turn}-${index}`)
  return [
    turnStart(turn), stepStart(turn, 1), prompt(asked, `p${turn}`), answer(turn, 1, 'I look.', ids),
    ...ids.flatMap((callId, index): readonly EventDraft[] => {
      const read = reads[index]
      const done = result(turn, 1, callId)
      const failed = { ...done, data: { ...done.data, message: { ...done.data.message, content: [{ ...done.data.message.content[0], isError: true }] as const } } }
      const args = typeof read === 'string' ? read : JSON.stringify(read ?? { file_path: 'failed' })
      return [{ type: 'tool/call', data: { turn, step: 1, callId, name: 'read', arguments: args } }, read === null ? failed : done]
    }),
    stepEnd(turn, 1), turnEnd(turn),
  ]
}

async function check(drafts: readonly EventDraft[], { cut, maxTokens = 100 }: { readonly cut: number; readonly maxTokens?: number }, expected: object) {
  const { sessions } = await createSessionRig({ events: createMemoryEventStore() })
  const session = await sessions.create({ cwd: '/w', id: 'a' })
  for (const draft of drafts) session.append(draft)
  expect(carriedFacts(session, cut, maxTokens)).toMatchObject(expected)
}

describe('the words of the person', () => {
  const talk = [...round(1, 'first'), ...round(2, 'second'), ...round(3, 'third')]
  it('are carried as far as they went', () => check(talk, { cut: 4 }, { firstRequest: 'first', laterRequests: ['second'] }))
  it('are not said twice', () => check(talk, { cut: 0 }, { firstRequest: null, laterRequests: [] }))
  it('keep their head and tail when they are long', () =>
    check(round(1, `${'a'.repeat(50)}${'b'.repeat(50)}`), { cut: 2, maxTokens: 10 }, { firstRequest: `${'a'.repeat(30)}\n[60 bytes of this message were left out]\n${'b'.repeat(10)}` }))
  it('give way to newer ones', () => check([...talk, ...round(4, 'x'.repeat(40))], { cut: 8, maxTokens: 40 }, { laterRequests: ['second', 'third', 'x'.repeat(40)] }))
})

describe('the files read last', () => {
  const gone = (reads: readonly (object | string | null)[], names: readonly string[]) => check(round(1, 'go', reads), { cut: 9_999 }, { reads: names })
  it('are named with their range, oldest first', () =>
    gone([{ file_path: 'a.ts' }, { file_path: 'b.ts', offset: 5 }, { file_path: 'c.ts', offset: 5, limit: 10 }, { file_path: 'd.ts', limit: 10 }], ['a.ts', 'b.ts, from line 5', 'c.ts, lines 5 to 14', 'd.ts, lines 1 to 10']))
  it('are the newest ten, each once', () =>
    gone([...Array.from({ length: 12 }, (_, index) => ({ file_path: `${index}` })), { file_path: '5' }], ['1', '2', '3', '4', '6', '7', '8', '9', '10', '11', '5'].slice(1)))
  it('are those that were read', () => gone([null, '{"file_path": 7}', '{broken', { file_path: 'a' }], ['a']))
  it('are not named while their text is there', () => check([...round(1, 'go', [{ file_path: 'a' }]), ...round(2, 'on', [{ file_path: 'b' }])], { cut: 3 }, { reads: ['a'] }))
})
