import { expect, it } from 'vitest'
import { earlyValue } from '../../../../extension/core/settings/early-value.ts'
import { settings as specs } from '../../../../extension/core/settings/specs.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

it.each<[string, unknown, string | null, number]>([
  ['that nobody set', undefined, null, 0],
  ['that is set', '/usr/bin/rg', '/usr/bin/rg', 0],
  ['that is wrong, with a word in the log', 'rg', null, 1],
])('an early value of a setting %s', (_name, raw, value, warnings) => {
  const logger = createRecordingLogger()
  expect(earlyValue(specs.searchRipgrepPath, { settings: { get: () => raw }, logger })).toBe(value)
  expect(logger.lines.length).toBe(warnings)
})
