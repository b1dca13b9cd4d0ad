import { describe, expect, it } from 'vitest'
import { firstHeading } from '../../../extension/base/first-heading.ts'

describe('the first heading', () => {
  const rows: readonly [text: string, heading: string | null][] = [
    ['# The plan\n\ntext', 'The plan'],
    ['text\n\n### Deep ###\n# Later', 'Deep'],
    ['#\tTabbed  \r\n', 'Tabbed'],
    ['# C#', 'C'],
    ['#no blank\n####### seven', null],
    ['# \n## ##\n## Second', 'Second'],
    ['', null],
  ]
  it.each(rows)('of %j is %j', (text, heading) => expect(firstHeading(text)).toBe(heading))

  it.each([' ', '#', ' #', '\t'])('of a line with very many %j is found at once', (sign) => {
    const begin = performance.now()
    expect(firstHeading(`# a${sign.repeat(60_000)}x\n`)).toMatch(/^a.*x$/s)
    expect(performance.now() - begin).toBeLessThan(10_000)
  })
})
