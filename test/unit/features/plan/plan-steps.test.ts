import { expect, it } from 'vitest'
import { MAX_STEPS, stepsOf } from '../../../../extension/features/plan/plan-steps.ts'

const rows: readonly [name: string, plan: string, steps: readonly string[]][] = [
  ['the numbered list under the heading that speaks of steps', '# P\n## Goals\n1. a\n2. b\n3. c\n## Steps\n1. one\n2. two', ['one', 'two']],
  ['the longest numbered list, where no heading speaks of steps', '# P\n## Goals\n1. a\n## How\n1. one\n2) two', ['one', 'two']],
  ['bullets under such a heading, where nothing is numbered', '# P\n- not me\n## Changes\n- one\n- [ ] two\n* three', ['one', 'two', 'three']],
  ['top-level items only', '## Steps\n1. one\n   - a\n   1. b\n2. two', ['one', 'two']],
  ['nothing in code', '## Steps\n1. one\n```md\n2. not me\n```\n2. two', ['one', 'two']],
  ['each once, without emphasis', '## Steps\n1. **one**\n2. one\n3. __two__ of `x`', ['one', 'two of `x`']],
  ['none of a plan without a list', '# P\n\nJust do it.', []],
  ['a step of several lines by its first', '## Steps\n1. one\n   and more\n2. two', ['one', 'two']],
  ['an open fence to the end', '## Steps\n1. one\n~~~\n2. two', ['one']],
]
it.each(rows)('%s', (_name, plan, steps) => expect(stepsOf(plan)).toEqual(steps))
it('at most so many', () => expect(stepsOf(`## Steps\n${Array.from({ length: 90 }, (_, index) => `${index + 1}. step ${index}`).join('\n')}`)).toHaveLength(MAX_STEPS))
it('none longer than a line', () => expect(stepsOf(`## Steps\n1. ${'x'.repeat(900)}`)[0]).toHaveLength(200))
