import { describe, expect, it } from 'vitest'
import { SCROLLBACK_LINES, type TerminalScreen } from '../../../../extension/capabilities/terminal-screen.ts'
import { createXtermScreen } from '../../../../extension/platform/node/xterm-screen.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const screenWith = async (text: string, size = { columns: 20, rows: 5 }): Promise<TerminalScreen> => {
  const screen = await createXtermScreen(size)
  screen.write(bytes(text))
  await screen.settled()
  return screen
}
const more = async (screen: TerminalScreen, text: string) => {
  screen.write(bytes(text))
  await screen.settled()
}

describe('the screen', () => {
  const shown: readonly (readonly [name: string, output: string, text: string])[] = [
    ['plain lines', 'a\r\nb\r\n', 'a\nb'],
    ['a progress bar as it stands at the end', '10%\r50%\r100%\r\ndone', '100%\ndone'],
    ['colours and titles without their sequences', '\u001b]0;title\u0007\u001b[31mred\u001b[0m\u0007', 'red'],
    ['a line that is written over from the cursor', 'one\r\ntwo\u001b[1A\rONE', 'ONE\ntwo'],
    ['characters of several bytes', 'é日本😀', 'é日本😀'],
  ]
  it.each(shown)('shows %s', async (_name, output, text) => expect((await screenWith(output)).snapshot()).toEqual({ text, isFullScreen: false }))
  it('takes sequences and characters that are cut between two chunks', async () => {
    const screen = await createXtermScreen({ columns: 20, rows: 5 })
    for (const byte of bytes('\u001b[3')) screen.write(Uint8Array.of(byte))
    for (const byte of bytes('1mré\u001b[0md')) screen.write(Uint8Array.of(byte))
    await screen.settled()
    expect(screen.snapshot().text).toBe('réd')
    expect(screen.pendingBytes).toBe(0)
  })
  it('replaces what is no UTF-8', async () => {
    const screen = await createXtermScreen({ columns: 20, rows: 5 })
    screen.write(Uint8Array.of(0x61, 0xff, 0x62))
    await screen.settled()
    expect(screen.snapshot().text).toMatch(/^a.?b$/u)
  })
  it('shows a full-screen program, and the lines before it once it is over', async () => {
    const screen = await screenWith('before\r\n\u001b[?1049h\u001b[2J\u001b[3;5Hmiddle')
    expect(screen.snapshot()).toEqual({ text: '\n\n    middle', isFullScreen: true })
    await more(screen, '\u001b[?1049l')
    expect(screen.snapshot()).toEqual({ text: 'before', isFullScreen: false })
  })
  it('shows rows without the blanks that a program filled them with', async () =>
    expect((await screenWith(`\u001b[?1049h~${' '.repeat(79)}\u001b[2;1Ha  b   \u001b[3;1Hc`)).snapshot().text).toBe('~\na  b\nc'))
  it('has a new size', async () => {
    const screen = await screenWith('0123456789012345678901234567890\r\n')
    screen.resize({ columns: 40, rows: 5 })
    expect(screen.snapshot().text).toBe('0123456789012345678901234567890')
  })
})

describe('text since a mark', () => {
  it('begins behind what stood there', async () => {
    const screen = await screenWith('$ ')
    const mark = screen.mark()
    await more(screen, 'ls\r\na\r\nb\r\n$ ')
    expect(screen.since(mark)).toEqual({ text: 'ls\na\nb\n$ ', isLost: false })
  })
  it('joins what the screen wrapped', async () => {
    const screen = await screenWith('')
    const mark = screen.mark()
    await more(screen, `${'x'.repeat(45)}\r\ny`)
    expect(screen.since(mark).text).toBe(`${'x'.repeat(45)}\ny`)
  })
  it('says when its beginning left the scrollback', async () => {
    const screen = await screenWith('$ ')
    const mark = screen.mark()
    await more(screen, 'line\r\n'.repeat(SCROLLBACK_LINES + 10))
    const { text, isLost } = screen.since(mark)
    expect([isLost, text.split('\n').length]).toEqual([true, SCROLLBACK_LINES + 5])
  })
  it('from within a full-screen program on is what stands behind the line where that was started', async () => {
    const screen = await screenWith('before\r\n$ less\r\n\u001b[?1049h\u001b[Hpage')
    const mark = screen.mark()
    screen.write(new TextEncoder().encode('\u001b[?1049l$ next\r\nout'))
    await screen.settled()
    expect(screen.since(mark)).toEqual({ text: '$ next\nout', isLost: false })
  })
  it('is the screen of a full-screen program', async () => {
    const screen = await screenWith('$ ')
    const mark = screen.mark()
    await more(screen, 'vi\r\n\u001b[?1049h\u001b[1;1H~\r\n~')
    expect(screen.since(mark)).toEqual({ text: '~\n~', isLost: false })
  })
})

describe('lines', () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => `n${index + 1}`).join('\r\n')
  it('are counted from the newest', async () => {
    const screen = await screenWith(numbers(12))
    expect(screen.lines({ offset: 0, count: 3 })).toEqual({ text: 'n10\nn11\nn12', total: 12, first: 10, last: 12, isLost: false })
    expect(screen.lines({ offset: 10, count: 500 })).toEqual({ text: 'n1\nn2', total: 12, first: 1, last: 2, isLost: false })
    expect(screen.lines({ offset: 99, count: 5 })).toEqual({ text: '', total: 12, first: 0, last: 0, isLost: false })
  })
  it('count once however often the screen wraps them', async () =>
    expect((await screenWith(`${'x'.repeat(50)}\r\ny`)).lines({ offset: 0, count: 9 })).toEqual({ text: `${'x'.repeat(50)}\ny`, total: 2, first: 1, last: 2, isLost: false }))
  it('say when older ones are gone', async () => expect((await screenWith('a\r\n'.repeat(SCROLLBACK_LINES + 9))).lines({ offset: 0, count: 1 }).isLost).toBe(true))
})

it('gives our own sequences in their place and answers what programs ask', async () => {
  const screen = await screenWith('')
  const seen: string[] = []
  const undo = [screen.onMessage((data) => seen.push(`message ${data}`)), screen.onReply((text) => seen.push(`reply ${JSON.stringify(text)}`))]
  await more(screen, 'a\u001b]7137;x;1\u0007\u001b[6n')
  for (const one of undo) one()
  await more(screen, '\u001b]7137;y\u0007\u001b[6n')
  expect(seen).toEqual(['message x;1', 'reply "\\u001b[1;2R"'])
  expect(screen.snapshot().text).toBe('a')
  screen.dispose()
})
