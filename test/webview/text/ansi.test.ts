import { describe, expect, it } from 'vitest'
import { ansiLines, plainText } from '../../../webview/text/ansi.ts'

const esc = '\u001b['

describe('looks', () => {
  const check = (text: string, ...spans: readonly object[]) => expect(ansiLines(text)).toEqual([spans])

  it('are none in plain text', () => check('plain', { text: 'plain' }))
  it('use the names of the theme', () => check(`${esc}31mred${esc}0m ${esc}92mgreen`, { text: 'red', color: 'red' }, { text: ' ' }, { text: 'green', color: 'bright-green' }))
  it('add up and end one by one', () =>
    check(`${esc}1;4;33ma${esc}22mb${esc}24;39mc`, { text: 'a', color: 'yellow', isBold: true, isUnderlined: true }, { text: 'b', color: 'yellow', isUnderlined: true }, { text: 'c' }))
  it('have backgrounds', () => check(`${esc}30;107mx${esc}49my`, { text: 'x', color: 'black', background: 'bright-white' }, { text: 'y', color: 'black' }))
  it('take the first sixteen of 256 from the theme', () => check(`${esc}38;5;9mx`, { text: 'x', color: 'bright-red' }))
  it('compute the other of 256', () => check(`${esc}38;5;208mx${esc}48;5;240my`, { text: 'x', color: '#ff8700' }, { text: 'y', color: '#ff8700', background: '#585858' }))
  it('take any colour, in both ways of writing', () => check(`${esc}38;2;1;2;255mx${esc}38:2::16:17:18my`, { text: 'x', color: '#0102ff' }, { text: 'y', color: '#101112' }))
  it('know dim, italic, inverse and struck', () => check(`${esc}2;3;7;9mx`, { text: 'x', isDim: true, isItalic: true, isInverse: true, isStruck: true }))
  it('reset with no number', () => check(`${esc}31mx${esc}my`, { text: 'x', color: 'red' }, { text: 'y' }))
  it('ignore what they do not know', () => check(`${esc}58;5;3;73mx`, { text: 'x' }))
})

describe('movements', () => {
  const check = (text: string, plain: string) => expect(plainText(text)).toBe(plain)

  it('split lines', () => check('a\nb\n', 'a\nb'))
  it('take CRLF as one end', () => check('a\r\nb', 'a\nb'))
  it('write over a line after a carriage return', () => check('10%\r100%', '100%'))
  it('leave the rest of a longer line', () => check('abcdef\rxy', 'xycdef'))
  it('erase to the end of the line', () => check(`abcdef\rxy${esc}K`, 'xy'))
  it('erase the whole line', () => check(`abc${esc}2K\rx`, 'x'))
  it('go back one character', () => check('abc\b\bx', 'axc'))
  it('leave out titles, links and unknown controls', () => check(`\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b\u001b]8;;\u001b\\${esc}2Jc\u0000\u001b(Bd`, 'abcd'))
  it('keep tabs and characters of any length', () => check('\t日本 🎉 e\u0301', '\t日本 🎉 e\u0301'))
  it('keep empty lines', () => check('a\n\nb', 'a\n\nb'))
  it('survive a cut sequence', () => check(`a${esc}3`, 'a'))
})
