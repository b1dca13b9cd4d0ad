import { describe, expect, it } from 'vitest'
import { findKeyEcho, keyEchoIn } from '../../../../extension/platform/node/terminal-echo.ts'

describe('what a terminal does with a key', () => {
  it.each([
    ['of Linux', 'speed 38400 baud; rows 24; columns 80;\nisig icanon iexten echo echoe echok -echonl -noflsh', 'shown'],
    ['of a password’s question', '-parenb cs8\nisig icanon iexten -echo echoe echok -echonl', 'hidden'],
    ['of a line editor', 'isig -icanon iexten -echo echoe', 'program'],
    ['of macOS', 'lflags: icanon isig iexten echo echoe -echok echoke -echonl echoctl\n', 'shown'],
    ['of something else', 'not a terminal', null],
  ] as const)('flags %s', (_name, flags, expected) => expect(keyEchoIn(flags)).toBe(expected))
  it('is not known of a device that is gone, and on Windows', async () => {
    expect(await findKeyEcho('/dev/no-such-terminal')).toBe(null)
    expect(await findKeyEcho('/dev/null', 'win32')).toBe(null)
  })
})
