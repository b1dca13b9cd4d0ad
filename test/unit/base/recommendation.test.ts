import { describe, expect, it } from 'vitest'
import { recommendation } from '../../../extension/base/recommendation.ts'

describe('what a label says of itself', () => {
  const rows: readonly [label: string, text: string, isRecommended: boolean][] = [
    ['SQLite (Recommended)', 'SQLite', true],
    ['SQLite(recommended) ', 'SQLite', true],
    ['SQLite（推荐）', 'SQLite', true],
    ['SQLite (推薦)', 'SQLite', true],
    ['Recommended', 'Recommended', false],
    ['(Recommended) SQLite', '(Recommended) SQLite', false],
    ['(Recommended)', '(Recommended)', true],
  ]
  it.each(rows)('%j', (label, text, isRecommended) => expect(recommendation(label)).toEqual({ text, isRecommended }))
})
