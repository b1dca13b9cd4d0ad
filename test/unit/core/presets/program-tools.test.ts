import { expect, it } from 'vitest'
import { isProgramTool } from '../../../../extension/core/presets/program-tools.ts'

it.each([
  ['bash', true],
  ['pwsh', true],
  ['terminal_open', true],
  ['job_output', true],
  ['read', false],
  ['bashful', false],
  ['my_job_list', false],
])('%s is about programs: %s', (name, isOne) => expect(isProgramTool(name)).toBe(isOne))
