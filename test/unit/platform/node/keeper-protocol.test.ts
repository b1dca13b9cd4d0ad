import fc from 'fast-check'
import { expect, it } from 'vitest'
import { frameHeader, frameKind, FrameReader, messageFrame } from '../../../../extension/platform/node/keeper-protocol.ts'

it('frames come out as they went in, however the bytes are cut', () =>
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(1000), fc.uint8Array({ maxLength: 300 })), { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1 }), (frames, sizes) => {
      const whole = Buffer.concat(frames.flatMap(([id, body]) => [frameHeader(frameKind.stdout, id, body.length), Buffer.from(body)]))
      const reader = new FrameReader()
      const read: [number, number[]][] = []
      for (let at = 0, turn = 0; at < whole.length; turn++) {
        const size = sizes[turn % sizes.length]!
        for (const { id, body, kind } of reader.push(whole.subarray(at, at + size))) {
          expect(kind).toBe(frameKind.stdout)
          read.push([id, [...body]])
        }
        at += size
      }
      expect(read).toEqual(frames.map(([id, body]) => [id, [...body]]))
    }),
  ))

it('a message is JSON', () => {
  const [frame] = new FrameReader().push(messageFrame(7, { op: 'reply', request: 3 }))
  expect({ id: frame?.id, kind: frame?.kind, message: JSON.parse(String(frame?.body)) }).toEqual({ id: 7, kind: frameKind.message, message: { op: 'reply', request: 3 } })
})
