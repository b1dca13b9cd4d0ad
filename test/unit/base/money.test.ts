import { expect, it } from 'vitest'
import { formatDollars } from '../../../extension/base/money.ts'

it.each([
  [0, '$0.00'],
  [0.00001, '<$0.0001'],
  [0.0042, '$0.0042'],
  [0.125, '$0.13'],
  [12.3, '$12.30'],
  [1204.4, '$1,204'],
])('%d dollars read %s', (amount, text) => expect(formatDollars(amount)).toBe(text))
