import { describe, expect, it } from 'vitest'
import { AnswerAssembly, CallIds } from '../../../../extension/core/loop/answer.ts'
import type { StreamChunk } from '../../../../extension/core/model/contract.ts'
import { callParts, reasoningParts, someUsage, textParts } from '../../../support/scripted-adapter.ts'

const assembled = (parts: readonly StreamChunk[]) => {
  const assembly = new AnswerAssembly()
  for (const part of parts) assembly.add(part)
  return assembly
}
const stop: StreamChunk = { type: 'finish', reason: { kind: 'stop' } }
const cut: StreamChunk = { type: 'finish', reason: { kind: 'max-tokens' } }

describe('a whole answer', () => {
  const check = (parts: readonly StreamChunk[], whole: ReturnType<AnswerAssembly['whole']>) =>
    expect(assembled(parts).whole()).toEqual(whole)
  const text = (value: string) => ({ type: 'text' as const, text: value })

  it('puts blocks in the order in which they began', () =>
    check([...reasoningParts('r', 4), ...textParts('a', 2), ...callParts({ id: 'c', name: 'n', args: {} }, 3), stop], {
      content: [{ type: 'reasoning', text: 'r' }, text('a'), { type: 'tool-call', id: 'c', name: 'n', arguments: '{}' }],
    }))
  it('joins interleaved deltas by block', () =>
    check(
      [
        { type: 'tool-call-delta', index: 0, id: 'a', name: 'x', argumentsDelta: '{"p' },
        { type: 'tool-call-delta', index: 1, id: 'b', name: 'y', argumentsDelta: '{' },
        { type: 'tool-call-delta', index: 0, argumentsDelta: '":1}' },
        { type: 'tool-call-delta', index: 1, argumentsDelta: '}' },
        stop,
      ],
      {
        content: [
          { type: 'tool-call', id: 'a', name: 'x', arguments: '{"p":1}' },
          { type: 'tool-call', id: 'b', name: 'y', arguments: '{}' },
        ],
      },
    ))
  it('lets the first close of a block win', () =>
    check([...textParts('a'), { type: 'text-delta', index: 0, delta: 'late' }, { type: 'block-end', index: 0, replayState: 1 }, stop], { content: [text('a')] }))
  it('ignores a second start, of whatever kind', () =>
    check(
      [{ type: 'block-start', index: 0, block: 'text' }, { type: 'block-start', index: 0, block: 'reasoning' }, { type: 'text-delta', index: 0, delta: 'a' }, stop],
      { content: [text('a')] },
    ))
  it('ignores a delta of another kind than its block', () =>
    check([{ type: 'block-start', index: 0, block: 'text' }, { type: 'reasoning-delta', index: 0, delta: 'r' }, { type: 'text-delta', index: 0, delta: 'a' }, stop], { content: [text('a')] }))
  it('opens a block for a delta without a start', () => check([{ type: 'text-delta', index: 7, delta: 'a' }, stop], { content: [text('a')] }))
  it('names a call without an id by its place', () =>
    check([...callParts({ id: null, name: 'n', args: '' }, 3), stop], { content: [{ type: 'tool-call', id: 'call-3', name: 'n', arguments: '' }] }))
  it('drops calls and their replay entries when the model ran out of tokens', () =>
    check(
      [
        { type: 'block-start', index: 0, block: 'reasoning' },
        { type: 'reasoning-delta', index: 0, delta: 'r' },
        { type: 'block-end', index: 0, replayState: 'signed' },
        { type: 'tool-call-delta', index: 1, id: 'c', name: 'n', argumentsDelta: '{"a' },
        { type: 'block-end', index: 1, replayState: 'call' },
        cut,
      ],
      { content: [{ type: 'reasoning', text: 'r' }], replayState: { blocks: ['signed'] } },
    ))
  it('keeps the replay state of the message and of each block', () =>
    check(
      [
        { type: 'block-start', index: 0, block: 'reasoning' },
        { type: 'block-end', index: 0, replayState: { data: 'x' } },
        ...textParts('a', 1),
        { type: 'finish', reason: { kind: 'stop' }, replayState: 'whole' },
      ],
      { content: [{ type: 'reasoning', text: '' }, text('a')], replayState: { blocks: [{ data: 'x' }, null], message: 'whole' } },
    ))
  it('leaves empty blocks out', () => check([...textParts(''), ...textParts('a', 1), stop], { content: [text('a')] }))
  it('ignores what comes after the finish, and takes the last usage before it', () => {
    const later = { ...someUsage, outputTokens: 99 }
    const assembly = assembled([
      ...textParts('a'), { type: 'usage', usage: someUsage }, { type: 'usage', usage: later }, stop,
      ...textParts('b', 1), { type: 'usage', usage: someUsage }, cut,
    ])
    expect([assembly.whole(), assembly.usage, assembly.finish]).toEqual([{ content: [text('a')] }, later, { kind: 'stop' }])
  })
})

describe('the rest of a cancelled answer', () => {
  const check = (parts: readonly StreamChunk[], prefix: ReturnType<AnswerAssembly['prefix']>) =>
    expect(assembled(parts).prefix()).toEqual(prefix)
  it('keeps text and reasoning, also of an open block', () =>
    check([...reasoningParts('r'), { type: 'text-delta', index: 1, delta: 'half' }], {
      content: [{ type: 'reasoning', text: 'r' }, { type: 'text', text: 'half' }],
    }))
  it('drops a half-streamed call and keeps the completed text before it', () =>
    check([...textParts('a'), { type: 'tool-call-delta', index: 1, id: 'c', name: 'n', argumentsDelta: '{"x' }], { content: [{ type: 'text', text: 'a' }] }))
  it('is nothing when there is only blank', () => check([...textParts(' \n'), ...reasoningParts('', 1)], null))
  it('is nothing when nothing came', () => check([], null))
})

describe('ids of calls', () => {
  const call = (id: string) => ({ type: 'tool-call' as const, id, name: 'n', arguments: '' })
  const ids = (given: CallIds, ...names: readonly string[]) =>
    given.unique(names.map(call)).map((block) => (block.type === 'tool-call' ? block.id : ''))
  it('stay as the model gave them while they are new', () => expect(ids(new CallIds(), 'a', 'b')).toEqual(['a', 'b']))
  it('become others when the session has them', () => {
    const given = new CallIds(['a'])
    expect([ids(given, 'a', 'a', 'b'), ids(given, 'a-2', 'b')]).toEqual([['a-2', 'a-3', 'b'], ['a-2-2', 'b-2']])
  })
})
