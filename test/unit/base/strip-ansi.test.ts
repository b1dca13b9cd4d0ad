import { expect, it } from 'vitest'
import { stripAnsi } from '../../../extension/base/strip-ansi.ts'

const check = (text: string, plain: string) => expect(stripAnsi(text)).toBe(plain)

it('drops colours', () => check('\u001b[1;31mred\u001b[0m', 'red'))
it('drops cursor moves', () => check('a\u001b[2K\u001b[1Gb', 'ab'))
it('drops a title ended by BEL', () => check('\u001b]0;title\u0007text', 'text'))
it('drops a link ended by ST', () => check('\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'))
it('drops short escapes', () => check('\u001b7a\u001b(Bb', 'ab'))
it('leaves plain text alone', () => check('a [31m b', 'a [31m b'))
it('drops the beginning of what has no end', () => check('a\u001b]0;title\u001b[1;b\u001b', 'a]0;title'))
