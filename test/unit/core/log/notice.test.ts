import { describe, expect, it } from 'vitest'
import { maxSummaryChars, noticeSummary, summaryProblem } from '../../../../extension/core/log/notice.ts'
import type { UserSource } from '../../../../extension/core/log/message.ts'

const notice = (summary: string): UserSource => ({ kind: 'plugin', plugin: 'p', form: 'notice', summary })

describe('a summary', () => {
  const check = (text: string, expected: string) => expect(noticeSummary(text)).toBe(expected)
  it('that fits stays', () => check('a'.repeat(120), 'a'.repeat(120)))
  it('that does not fit says that it was cut', () => check('a'.repeat(121), `${'a'.repeat(119)}…`))
  it('is never cut inside a character', () => check(`${'a'.repeat(118)}😀😀`, `${'a'.repeat(118)}…`))
})

describe('a message', () => {
  const check = (source: UserSource, blockSource: UserSource | undefined, expected: unknown) =>
    expect(summaryProblem({ source, content: [{ type: 'text', text: 'x', ...(blockSource && { source: blockSource }) }] })).toEqual(expected)
  it('of a person has none', () => check({ kind: 'user' }, undefined, null))
  it('with a summary of just the length may be written', () => check(notice('a'.repeat(maxSummaryChars)), undefined, null))
  it('with a longer one may not', () => check(notice('a'.repeat(121)), undefined, expect.stringMatching(/at most 120 characters, and "a{40}"… has 121/)))
  it('may not hold a part with a longer one', () => check({ kind: 'user' }, notice('a'.repeat(121)), expect.stringContaining('at most 120')))
})
