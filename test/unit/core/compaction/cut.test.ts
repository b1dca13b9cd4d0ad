import { describe, expect, it } from 'vitest'
import { cutAt } from '../../../../extension/core/compaction/cut.ts'
import { unitsOf } from '../../../../extension/core/compaction/units.ts'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import { createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { createSessionRig } from '../../../support/session-rig.ts'
import { answer, call, prompt, result, stepEnd, stepStart, turnStart } from '../../../support/session-talk.ts'

/** Each of `tokens` is the weight of one unit; a `p` marks an answer with results. */
const units = (...weights: readonly (number | `${number}p`)[]) =>
  weights.map((weight, index) => ({ start: index, end: index, tokens: Number.parseInt(String(weight), 10), hasResults: typeof weight === 'string' }))

describe('a cut', () => {
  const check = (weights: readonly (number | `${number}p`)[], retain: number, cut: number) => expect(cutAt(units(...weights), retain)).toBe(cut)

  it('leaves what fits', () => check([10, 10, 10, 10], 20, 2))
  it('leaves the newest unit in any case', () => check([10, 10, 50], 20, 2))
  it('is moved toward the head when it would part a pair', () => check([10, 10, '20p', 10], 20, 2))
  it('takes a pair in that is much too large to stay', () => check([10, 10, '90p', 10], 20, 3))
  it('is none when all fits', () => check([10, 10], 20, 0))
  it('is none over one unit', () => check(['90p'], 20, 0))
  it('is none over nothing', () => check([], 20, 0))
})

describe('the units of a surface', () => {
  const spans = async (...drafts: readonly EventDraft[]) => {
    const { sessions } = await createSessionRig({ events: createMemoryEventStore() })
    const session = await sessions.create({ cwd: '/w', id: 'a' })
    for (const draft of [turnStart(1), stepStart(1, 1), ...drafts]) session.append(draft)
    return unitsOf(session.surface()).map(({ start, end }) => [start, end])
  }
  const next = [stepEnd(1, 1), stepStart(1, 2)]

  it('are messages, and answers with their results', async () =>
    expect(await spans(prompt('a'), answer(1, 1, 'x', ['c', 'd']), call(1, 1, 'c'), call(1, 1, 'd'), result(1, 1, 'd'), result(1, 1, 'c'), ...next, answer(1, 2, 'y'))).toEqual([[0, 0], [1, 3], [4, 4]]))
  it('hold what came between a call and its result', async () =>
    expect(await spans(prompt('a'), answer(1, 1, 'x', ['c', 'd']), call(1, 1, 'c'), result(1, 1, 'c'), prompt('b'), call(1, 1, 'd'), result(1, 1, 'd'), ...next, answer(1, 2, 'y'))).toEqual([[0, 0], [1, 4], [5, 5]]))
  it('end with all that came in for the next answer', async () =>
    expect(await spans(prompt('a'), answer(1, 1, 'x'), prompt('b'), prompt('c'))).toEqual([[0, 0], [1, 1], [2, 3]]))
  it('are one when nothing was answered yet', async () => expect(await spans(prompt('a'), prompt('b'))).toEqual([[0, 1]]))
})
