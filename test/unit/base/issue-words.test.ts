import { expect, it } from 'vitest'
import { issueWords } from '../../../extension/base/issue-words.ts'

it('says the first issues with their places, and how many more there are', () => {
  const issues = Array.from({ length: 100_000 }, (_, index) => ({ path: ['args', index], message: 'is none' }))
  expect(issueWords(issues)).toBe('args.0: is none; args.1: is none; args.2: is none; and 99997 more like that')
  expect(issueWords([{ path: [], message: 'It is nothing' }])).toBe('It is nothing')
})
