import { describe, expect, it } from 'vitest'
import { recommendation } from '../../../extension/base/recommendation.ts'
import { answersOf, emptyAnswer, isSettled, nextOpen, withChoice, withWords, type Question } from '../../../webview/store/question-form.ts'

const single: Question = { id: 'a', header: null, question: '?', isMultiSelect: false, options: [{ label: 'X', description: null }, { label: 'Y', description: null }] }
const several: Question = { ...single, id: 'b', isMultiSelect: true }

describe('a single choice', () => {
  it('takes one', () => expect(withChoice(single, withChoice(single, emptyAnswer, 'X'), 'Y')).toEqual({ selected: ['Y'], custom: '', isSkipped: false }))
  it('gives way to own words', () => expect(withWords(single, withChoice(single, emptyAnswer, 'X'), 'mine')).toEqual({ selected: [], custom: 'mine', isSkipped: false }))
  it('takes the place of own words', () => expect(withChoice(single, withWords(single, emptyAnswer, 'mine'), 'X')).toEqual({ selected: ['X'], custom: '', isSkipped: false }))
})

describe('a multiple choice', () => {
  it('keeps the order of the options', () => expect(withChoice(several, withChoice(several, emptyAnswer, 'Y'), 'X').selected).toEqual(['X', 'Y']))
  it('takes back', () => expect(withChoice(several, withChoice(several, emptyAnswer, 'Y'), 'Y').selected).toEqual([]))
  it('goes with own words', () => expect(withWords(several, withChoice(several, emptyAnswer, 'X'), 'mine')).toEqual({ selected: ['X'], custom: 'mine', isSkipped: false }))
})

it('answers in the order of the questions, skipped ones without a choice', () =>
  expect(answersOf([single, several], [{ selected: ['X (Recommended)'], custom: '', isSkipped: false }, { ...emptyAnswer, isSkipped: true }])).toEqual([
    { id: 'a', selected: ['X (Recommended)'] },
    { id: 'b', selected: [] },
  ]))

it('sends own words trimmed, and none that are blank', () =>
  expect(answersOf([single, several], [withWords(single, emptyAnswer, ' mine '), withWords(several, withChoice(several, emptyAnswer, 'Y'), '  ')])).toEqual([
    { id: 'a', selected: [], custom: 'mine' },
    { id: 'b', selected: ['Y'] },
  ]))

describe('the next open question', () => {
  const open = emptyAnswer
  const done = withChoice(single, emptyAnswer, 'X')
  const check = (filled: readonly (typeof emptyAnswer)[], after: number, next: number) => expect(nextOpen(filled, after)).toBe(next)
  it('follows', () => check([done, open, open], 0, 1))
  it('comes around', () => check([open, done, done], 2, 0))
  it('is none when all are settled', () => check([done, { ...open, isSkipped: true }], 0, -1))
  it('counts a blank answer as open', () => expect(isSettled(withWords(single, open, '  '))).toBe(false))
})

describe('a recommendation', () => {
  const check = (label: string, text: string, isRecommended: boolean) => expect(recommendation(label)).toEqual({ text, isRecommended })
  it('is read from the end', () => check('UTC (Recommended)', 'UTC', true))
  it('may be written wide', () => check('UTC（recommended）', 'UTC', true))
  it('may be Chinese', () => check('UTC（推荐）', 'UTC', true))
  it('is none in the middle', () => check('(Recommended) UTC', '(Recommended) UTC', false))
})
