import { expect, it } from 'vitest'
import { completionAt } from '../../../webview/text/completion-place.ts'

/** `|` stands for the caret. */
const check = (typed: string, expected: ReturnType<typeof completionAt>) => expect(completionAt(typed.replace('|', ''), typed.indexOf('|'))).toEqual(expected)
const at = (start: number, end: number, query: string) => ({ kind: '@', start, end, query }) as const

it('opens for a slash at the very start', () => check('/|', { kind: '/', start: 0, end: 1, query: '' }))
it('follows the name of a command', () => check('/com|', { kind: '/', start: 0, end: 4, query: 'com' }))
it('takes the rest of the name along', () => check('/co|mpact now', { kind: '/', start: 0, end: 8, query: 'co' }))
it('closes once the name is over', () => check('/compact |', null))
it('leaves a slash within words alone', () => check('either/|', null))
it('leaves a slash in the second line alone', () => check('a\n/|', null))
it('opens for an at sign at the start', () => check('@|', at(0, 1, '')))
it('opens for an at sign after a blank', () => check('see @src/da|', at(4, 11, 'src/da')))
it('opens in the second line', () => check('see\n@a|', at(4, 6, 'a')))
it('opens within brackets', () => check('(@a|)', at(1, 3, 'a')))
it('is no address', () => check('ada@example|', null))
it('takes the rest of the word along', () => check('@sr|c/a.ts now', at(0, 9, 'sr')))
it('holds blanks within quotes', () => check('@"my no|', at(0, 7, 'my no')))
it('takes a closing quote along', () => check('@"my no|tes.md" now', at(0, 14, 'my no')))
it('closes after the closing quote', () => check('@"my notes.md"|', null))
it('closes at a blank', () => check('@src |', null))
it('gives up on what nobody names', () => check(`@${'x'.repeat(201)}|`, null))
