import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../../extension/base/json.ts'
import { JsonLines, MAX_LINE, MAX_STRAY_LINES, type LineFault } from '../../../../../extension/features/subagents/clis/json-lines.ts'

const read = (...chunks: readonly (string | Uint8Array)[]) => {
  const lines = new JsonLines()
  const messages = chunks.flatMap((chunk) => lines.push(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk))
  return { messages, fault: lines.fault }
}
const check = (messages: readonly JsonObject[], fault: LineFault | null, ...chunks: readonly (string | Uint8Array)[]) => expect(read(...chunks)).toEqual({ messages, fault })

describe('lines of JSON', () => {
  it('are one message each', () => check([{ a: 1 }, { b: 2 }], null, '{"a":1}\n{"b":2}\n'))
  it('may end in CR and LF', () => check([{ a: 1 }], null, '{"a":1}\r\n'))
  it('are whole only with their end', () => check([], null, '{"a":1}'))
  it('may come in pieces, cut inside a character too', () => {
    const bytes = new TextEncoder().encode('{"a":"€"}\n')
    check([{ a: '€' }], null, bytes.slice(0, 7), bytes.slice(7, 8), bytes.slice(8))
  })
  it('may stand between blank ones and ones that are none', () => check([{ a: 1 }], null, '\n  \nwarning: old\n[1]\n{"a":1}\n'))
  it('are at fault when one begins and does not end well', () => check([{ a: 1 }], 'broken-message', '{"a":1}\n{"b":\n{"c":3}\n'))
  it('are not the protocol when most are something else', () => check([], 'not-the-protocol', 'x\n'.repeat(MAX_STRAY_LINES + 1)))
  it('are at fault when one does not end', () => check([], 'line-too-long', '{"a":"', 'x'.repeat(MAX_LINE)))
  it('are not read any more after a fault', () => check([], 'broken-message', '{x}\n', '{"a":1}\n'))
})
