import { expect, it } from 'vitest'
import { markedCode, withoutMarks } from '../../../extension/base/marked-code.ts'

it.each([
  ['Run `npm test`', { before: 'Run ', code: 'npm test', after: '' }, 'Run npm test'],
  ['Run `rm -rf dist` in web/: deletes 2 files', { before: 'Run ', code: 'rm -rf dist', after: ' in web/: deletes 2 files' }, 'Run rm -rf dist in web/: deletes 2 files'],
  ['Run `echo `date``', { before: 'Run ', code: 'echo `date`', after: '' }, 'Run echo `date`'],
  ['Run ``', { before: 'Run ', code: '', after: '' }, 'Run '],
  ['Say it`s so', null, 'Say it`s so'],
  ['', null, ''],
])('%s', (text, marked, plain) => {
  expect(markedCode(text)).toEqual(marked)
  expect(withoutMarks(text)).toBe(plain)
})
