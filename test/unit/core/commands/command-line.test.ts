import { describe, expect, it } from 'vitest'
import { parseCommandLine, typedLine } from '../../../../extension/core/commands/command-line.ts'

describe('what a person typed', () => {
  const command = (line: string) => ({ kind: 'command', line })
  const prompt = (text: string) => ({ kind: 'prompt', text })

  it.each([
    ['/compact', command('/compact')],
    ['/rename A better name', command('/rename A better name')],
    ['/feedback two\nlines', command('/feedback two\nlines')],
    ['/Compact', command('/Compact')],
    ['/', command('/')],
    ['/ compact', command('/ compact')],
    ['//compact', prompt('/compact')],
    ['///', prompt('//')],
    ['fix /compact', prompt('fix /compact')],
    [' /compact', prompt(' /compact')],
    ['/usr/bin/env is missing', prompt('/usr/bin/env is missing')],
    ['/etc/', prompt('/etc/')],
    ['/file.txt is empty', prompt('/file.txt is empty')],
    ['', prompt('')],
  ])('%j', (text, typed) => expect(typedLine(text)).toEqual(typed))
})

describe('a command line', () => {
  it.each([
    ['/compact', { name: 'compact', args: '' }],
    ['  /compact  ', { name: 'compact', args: '' }],
    ['/model  deep high ', { name: 'model', args: 'deep high' }],
    ['/feedback one\n\ntwo', { name: 'feedback', args: 'one\n\ntwo' }],
    ['/a-b_2', { name: 'a-b_2', args: '' }],
  ])('%j', (line, parsed) => expect(parseCommandLine(line)).toEqual(parsed))

  it.each([
    ['compact', 'A command is a slash and a name'],
    ['/', 'A command is a slash and a name'],
    ['/ compact', 'A command is a slash and a name'],
    ['/Compact', 'lower case: /compact'],
    ['/größe', '/größe is no command'],
    [`/feedback ${'x'.repeat(100_001)}`, 'too long for a command: 100001 characters'],
  ])('refuses %.20j', (line, problem) => expect(() => parseCommandLine(line)).toThrow(problem))
})
