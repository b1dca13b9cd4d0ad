import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AnswerAssembly } from '../../../../extension/core/loop/answer.ts'
import { ChunkLog } from '../../../../extension/core/loop/chunk-log.ts'
import type { StreamChunk } from '../../../../extension/core/model/contract.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

function setUp() {
  const clock = createManualClock()
  const written: StreamChunk[] = []
  let fails = false
  const log = new ChunkLog(clock, (chunk) => {
    if (fails) throw new Error('the log is closed')
    return written.push(chunk) - 1
  })
  return { clock, written, log, fail: () => (fails = true) }
}
const delta = (text: string, index = 0): StreamChunk => ({ type: 'text-delta', index, delta: text })

it('writes the first delta of a block at once', () => {
  const { log, written } = setUp()
  log.add(delta('a'))
  expect(written).toEqual([delta('a')])
})
it('joins what follows within 50 ms and lets a timer write it when the stream stands still', () => {
  const { log, written, clock } = setUp()
  for (const text of ['a', 'b', 'c']) log.add(delta(text))
  clock.advance(49)
  expect(written).toEqual([delta('a')])
  clock.advance(1)
  expect(written).toEqual([delta('a'), delta('bc')])
})
it('writes sooner when 1 024 characters wait', () => {
  const { log, written } = setUp()
  log.add(delta('a'))
  log.add(delta('b'.repeat(1000)))
  expect(written).toHaveLength(1)
  log.add(delta('c'.repeat(24)))
  expect(written).toHaveLength(2)
})
it('writes what waits before any other part', () => {
  const { log, written } = setUp()
  const end: StreamChunk = { type: 'block-end', index: 0 }
  log.add(delta('a'))
  log.add(delta('b'))
  log.add(end)
  expect(written).toEqual([delta('a'), delta('b'), end])
})
it('keeps each block to its own time', () => {
  const { log, written, clock } = setUp()
  log.add(delta('a', 0))
  clock.advance(30)
  log.add(delta('x', 1))
  log.add(delta('b', 0))
  log.add(delta('y', 1))
  clock.advance(20)
  expect(written).toEqual([delta('a', 0), delta('x', 1), delta('b', 0)])
  clock.advance(30)
  expect(written.at(-1)).toEqual(delta('y', 1))
})
it('joins the parts of a call and keeps its id and name', () => {
  const { log, written, clock } = setUp()
  const part = (argumentsDelta: string, more: object = {}): StreamChunk => ({ type: 'tool-call-delta', index: 0, argumentsDelta, ...more })
  log.add(part('{'))
  log.add(part('"a"', { id: 'c' }))
  log.add(part(':1', { name: 'n' }))
  log.add(part('}'))
  clock.advance(50)
  expect(written).toEqual([part('{'), part('"a":1}', { id: 'c', name: 'n' })])
})
it('gives the places of all parts at its end and leaves no timer', () => {
  const { log, clock } = setUp()
  log.add(delta('a'))
  log.add(delta('b'))
  expect([log.end(), clock.waiting]).toEqual([[0, 1], 0])
})
it('tells the stream when a write by the timer failed', () => {
  const { log, clock, fail } = setUp()
  log.add(delta('a'))
  log.add(delta('b'))
  fail()
  clock.advance(50)
  expect(() => log.add(delta('c'))).toThrow('the log is closed')
})
it('loses no delta, whatever the stream and its pace', () => {
  const part = fc.record({ index: fc.nat(2), text: fc.string({ maxLength: 700 }), waitMs: fc.nat(60), kind: fc.constantFrom('text', 'reasoning', 'call') })
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const { log, written, clock } = setUp()
      const direct = new AnswerAssembly()
      for (const { index, text, waitMs, kind } of parts) {
        const chunk: StreamChunk =
          kind === 'call'
            ? { type: 'tool-call-delta', index, id: `c${index}`, name: 'n', argumentsDelta: text }
            : { type: kind === 'text' ? 'text-delta' : 'reasoning-delta', index, delta: text }
        log.add(chunk)
        direct.add(chunk)
        clock.advance(waitMs)
      }
      log.end()
      const fromLog = new AnswerAssembly()
      for (const chunk of written) fromLog.add(chunk)
      const sorted = (assembly: AnswerAssembly) => JSON.stringify(assembly.whole().content.map((block) => JSON.stringify(block)).sort())
      expect(sorted(fromLog)).toBe(sorted(direct))
    }),
  )
})
