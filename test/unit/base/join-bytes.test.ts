import { expect, it } from 'vitest'
import { joinBytes } from '../../../extension/base/join-bytes.ts'

it('puts pieces one behind the other, in bytes of their own', () => {
  const piece = Uint8Array.of(1, 2)
  const whole = joinBytes([piece, new Uint8Array(0), Uint8Array.of(3)])
  piece.fill(9)
  expect([whole, joinBytes([])]).toEqual([Uint8Array.of(1, 2, 3), new Uint8Array(0)])
})
