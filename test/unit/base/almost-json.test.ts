import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAlmostJson } from '../../../extension/base/almost-json.ts'
import type { Json } from '../../../extension/base/json.ts'

describe('almost-JSON', () => {
  const reads = (text: string, value: Json) => expect(readAlmostJson(text)).toEqual({ ok: true, value, isRepaired: true })
  it.each<[name: string, text: string, value: Json]>([
    ['a comma before the end of an object', '{"a": 1,}', { a: 1 }],
    ['a comma before the end of a list', '{"a": [1, 2, ]}', { a: [1, 2] }],
    ['single quotes', "{'a': 'it\\'s'}", { a: "it's" }],
    ['a double quote in single quotes', `{'a': 'say "x"'}`, { a: 'say "x"' }],
    ['typographic quotes', '{“a”: “x”}', { a: 'x' }],
    ['keys without quotes', '{file_path: "a", $x-1: 2}', { file_path: 'a', '$x-1': 2 }],
    ['the words of Python', '{"a": True, "b": False, "c": None}', { a: true, b: false, c: null }],
    ['a code fence', '```json\n{"a": 1}\n```', { a: 1 }],
    ['a code fence without its end', '```\n{"a": "```"}', { a: '```' }],
    ['comments', '{// one\n"a": 1, /* two */ "b": 2}', { a: 1, b: 2 }],
    ['an address in a string, which is no comment', "{'a': 'http://x/y'}", { a: 'http://x/y' }],
    ['raw line breaks and tabs in a string', '{"a": "x\n\ty"}', { a: 'x\n\ty' }],
    ['a missing brace after a whole string', '{"a": "x"', { a: 'x' }],
    ['missing brackets after a whole list', '{"a": [{"b": true', { a: [{ b: true }] }],
    ['brackets too many', '{"a": 1}}]', { a: 1 }],
    ['escapes of every kind', `{'a': '\\n\\t\\u00e9\\\\\\/'}`, { a: '\n\té\\/' }],
    ['a key that objects have of themselves', "{'__proto__': 1}", JSON.parse('{"__proto__": 1}') as Json],
  ])('may have %s', (_name, text, value) => reads(text, value))

  const refuses = (text: string, problem: string, isCut: boolean) => expect(readAlmostJson(text)).toEqual({ ok: false, problem, isCut })
  it.each<[name: string, text: string, problem: string]>([
    ['a string', '{"a": "b", "c": "d', 'stops inside of the string that begins at character 17'],
    ['an escape', '{"a": "b\\', 'stops inside of the string that begins at character 7'],
    ['a code point', '{"a": "\\u00', 'stops inside of the string that begins at character 7'],
    ['a number', '{"a": 12', 'stops inside of a number'],
    ['a word', '{"a": tru', 'stops inside of "tru"'],
    ['a value', '{"a":', 'stops where a value should be'],
    ['a key', '{"a": 1, "b', 'stops inside of the string that begins at character 10'],
    ['a pair', '{"a": 1, "b"', 'stops after the key "b"'],
    ['what a comma announced', '{"a": "b",', 'stops after a comma'],
    ['everything', '{', 'stops inside of an object that holds nothing yet'],
    ['a list', '{"a": [', 'stops inside of a list'],
  ])('that its end cut inside of %s is refused', (_name, text, problem) => refuses(text, problem, true))

  it.each<[name: string, text: string, problem: string]>([
    ['a text without quotes', '{"a": hello world}', 'has "hello" where a value should be, at character 7; a text needs double quotes'],
    ['no value', '{"a": }', 'has "}" where a value should be, at character 7; a text needs double quotes'],
    ['two readings of an apostrophe', "{'a': 'don't'}", `has "t" where a comma or } should be, at character 12`],
    ['an escape that is none', '{"a": "\\d+"}', 'has \\d at character 8, which is no escape of JSON; a backslash itself is written \\\\'],
    ['two objects', '{"a": 1} {"b": 2}', 'goes on after its end, at character 10'],
    ['no colon', '{"a" 1}', 'has no colon after the key "a", at character 6'],
    ['a number of another language', '{"a": 0x1f}', 'has "0x1f" where a value should be, at character 7'],
    ['numbers that JSON does not know', '{"a": NaN}', 'has "NaN" where a value should be, at character 7; a text needs double quotes'],
    ['words before it', 'Sure: {"a": 1}', 'has "Sure" where a value should be, at character 1; a text needs double quotes'],
    ['too many levels', '['.repeat(300), 'is nested more than 200 deep'],
  ])('with %s is refused', (_name, text, problem) => refuses(text, problem, false))

  it('that is JSON is read as JSON reads it', () =>
    fc.assert(fc.property(fc.json(), (text) => {
      expect(readAlmostJson(text)).toEqual({ ok: true, value: JSON.parse(text), isRepaired: false })
    })))
  it('never has a text or number in its value that is not in the text, wherever it is cut', () =>
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.oneof(fc.stringMatching(/^[a-z]{0,6}$/), fc.integer(), fc.boolean())), fc.nat(), (value, at) => {
        const text = JSON.stringify(value)
        const read = readAlmostJson(text.slice(0, at % (text.length + 1)))
        if (!read.ok) return
        expect(value).toMatchObject(read.value as object)
      }),
    ))
})
