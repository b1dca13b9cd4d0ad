import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../extension/base/json.ts'
import { ChunkPacker, isRow, rowFromLine, unpackRow, type ChunkRow } from '../../../../extension/core/log/chunk-rows.ts'
import type { EventDraft, SessionEvent } from '../../../../extension/core/log/event.ts'
import { chunk, stepStart, textDelta } from '../../../support/session-talk.ts'

const numbered = (drafts: readonly EventDraft[]) => drafts.map((draft, seq): SessionEvent => ({ ...draft, seq, time: 1_000 + seq * 7 }))
const packed = (events: readonly SessionEvent[]) => {
  const packer = new ChunkPacker()
  return [...events.flatMap((event) => packer.add(event)), ...packer.takeRest()]
}
const unpacked = (lines: readonly (SessionEvent | ChunkRow)[]) => lines.flatMap((line): readonly SessionEvent[] => (isRow(line) ? unpackRow(line) : [line]))
const reasoning = (delta: string) => chunk(1, 1, { type: 'reasoning-delta', index: 0, delta })
const args = (argumentsDelta: string, index = 0) => chunk(1, 1, { type: 'tool-call-delta', index, argumentsDelta })

describe('packing', () => {
  const check = (drafts: readonly EventDraft[], types: readonly string[]) => {
    const events = numbered(drafts)
    const lines = packed(events)
    expect(lines.map(({ type }) => type)).toEqual(types)
    expect(unpacked(lines)).toEqual(events)
  }
  const text = (...deltas: string[]) => deltas.map((delta) => textDelta(1, 1, delta))

  it('leaves two', () => check(text('a', 'b'), ['assistant/chunk', 'assistant/chunk']))
  it('packs three', () => check(text('a', 'b', 'c'), ['text-chunks']))
  it('packs reasoning', () => check(['a', 'b', 'c'].map(reasoning), ['reasoning-chunks']))
  it('packs the arguments of a call', () => check(['{', '"a"', '}'].map((delta) => args(delta)), ['tool-call-chunks']))
  it('leaves the part that names the call', () =>
    check([chunk(1, 1, { type: 'tool-call-delta', index: 0, id: 'c', name: 'n', argumentsDelta: '' }), ...['1', '2', '3'].map((delta) => args(delta))], [
      'assistant/chunk',
      'tool-call-chunks',
    ]))
  it('leaves other parts', () =>
    check([chunk(1, 1, { type: 'block-start', index: 0, block: 'text' }), ...text('a', 'b', 'c'), chunk(1, 1, { type: 'block-end', index: 0 })], [
      'assistant/chunk',
      'text-chunks',
      'assistant/chunk',
    ]))
  it('breaks at another event', () => check([...text('a', 'b', 'c'), stepStart(1, 2), ...text('d')], ['text-chunks', 'step/start', 'assistant/chunk']))
  it('breaks at another kind', () => check([...text('a', 'b', 'c'), ...['d', 'e', 'f'].map(reasoning)], ['text-chunks', 'reasoning-chunks']))
  it('breaks at another block', () => check([...['1', '2', '3'].map((d) => args(d, 0)), ...['4', '5', '6'].map((d) => args(d, 1))], ['tool-call-chunks', 'tool-call-chunks']))
  it('breaks at another step', () => check([...text('a', 'b', 'c'), ...['d', 'e', 'f'].map((d) => textDelta(1, 2, d))], ['text-chunks', 'text-chunks']))
  it('splits a run of thousands', () => check(text(...Array.from({ length: 2_050 }, () => 'x')), ['text-chunks', 'text-chunks', 'assistant/chunk', 'assistant/chunk']))
  it('leaves a part with a field it does not know', () => {
    const odd = chunk(1, 1, { type: 'text-delta', index: 0, delta: 'x', extra: 1 } as never)
    check([odd, odd, odd], ['assistant/chunk', 'assistant/chunk', 'assistant/chunk'])
  })

  it('reads well with jq: one array of texts, times from the first', () =>
    expect(packed(numbered(text('a', 'b', 'c')))).toEqual([
      { type: 'text-chunks', seq: 0, time: 1_000, turn: 1, step: 1, index: 0, deltas: ['a', 'b', 'c'], after: [0, 7, 14] },
    ]))

  it('loses nothing of any stream, on the disk and back', () => {
    const part = fc.oneof(
      fc.record({ type: fc.constant('text-delta'), index: fc.nat(1), delta: fc.string() }),
      fc.record({ type: fc.constant('reasoning-delta'), index: fc.nat(1), delta: fc.string() }),
      fc.record({ type: fc.constant('tool-call-delta'), index: fc.nat(1), argumentsDelta: fc.string() }),
      fc.record({ type: fc.constant('block-end'), index: fc.nat(1) }),
    )
    fc.assert(
      fc.property(fc.array(fc.record({ part, step: fc.integer({ min: 1, max: 2 }), time: fc.nat(10_000) }), { maxLength: 30 }), (parts) => {
        const events = parts.map(({ part, step, time }, seq): SessionEvent => ({ ...chunk(1, step, part as never), seq, time }))
        const lines = packed(events).map((line) => JSON.parse(JSON.stringify(line)) as SessionEvent | ChunkRow)
        expect(unpacked(lines)).toEqual(events)
      }),
    )
  })
})

describe('a stored row', () => {
  const row: JsonObject = { type: 'text-chunks', seq: 4, time: 9, turn: 1, step: 1, index: 0, deltas: ['a', 'b'], after: [0, 1] }
  const check = (change: JsonObject, isGood: boolean) => expect(rowFromLine({ ...row, ...change }) !== null).toBe(isGood)

  it('is taken', () => check({}, true))
  it('is refused without texts', () => check({ deltas: [], after: [] }, false))
  it('is refused with a time missing', () => check({ after: [0] }, false))
  it('is refused with a text that is none', () => check({ deltas: ['a', 1] }, false))
  it('is refused without a number', () => check({ turn: null }, false))
})
