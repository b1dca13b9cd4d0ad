import { expect, it } from 'vitest'
import { parseReferences, pathReference } from '../../../../extension/features/references/parse-references.ts'

const check = (text: string, raw: readonly string[]) => expect(parseReferences(text).map((reference) => reference.raw)).toEqual(raw)

it('each fact of the editor', () => check('@selection @problems @terminal @changes', ['@selection', '@problems', '@terminal', '@changes']))
it('a symbol by its name', () => expect(parseReferences('see @symbol:parseDate')).toEqual([{ kind: 'symbol', raw: '@symbol:parseDate', name: 'parseDate' }]))
it('a name with blanks in quotes', () => expect(parseReferences('@session:"Fix the date"')).toEqual([{ kind: 'session', raw: '@session:"Fix the date"', name: 'Fix the date' }]))
it('without the sign that ends a sentence', () => check('Look at @problems. Or at @symbol:parse? (@changes)', ['@problems', '@symbol:parse', '@changes']))
it('each once', () => check('@problems and @problems, @symbol:a @symbol:a', ['@problems', '@symbol:a']))
it('no files: the model reads those', () => check('@src/a.ts @"my notes.md" @src/ @a.ts:10-20', []))
it('no longer words', () => check('@problems-page @selections @changes/log @terminal:1', []))
it('no addresses and no quotes of code', () => check('ada@problems.org `@selection`', []))
it('no names that are empty', () => check('@symbol: @session:""', []))
it('quotes a path only where it must', () => expect([pathReference('src/a.ts'), pathReference('my notes.md'), pathReference('a(1).ts')]).toEqual(['@src/a.ts', '@"my notes.md"', '@"a(1).ts"']))
