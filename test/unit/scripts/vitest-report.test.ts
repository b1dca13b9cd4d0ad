import { expect, it } from 'vitest'
import { outcomesOf, type VitestReport } from '../../../scripts/vitest-report.ts'

/** Each test as `status name`. */
const report = (status: string, tests: readonly string[]): VitestReport => ({
  testResults: [{ name: '/t/a.test.ts', status, assertionResults: tests.map((test) => ({ status: test.slice(0, test.indexOf(' ')), fullName: test.slice(test.indexOf(' ') + 1) })) }],
})

it.each([
  ['each test', report('failed', ['passed a one', 'failed a two', 'pending a three', 'skipped a four', 'todo a five']), ['passed a one', 'failed a two', 'skipped a three', 'skipped a four', 'skipped a five']],
  ['a file that did not load', report('failed', []), ['failed /t/a.test.ts']],
  ['a file that failed beside its tests', report('failed', ['passed a one']), ['passed a one', 'failed /t/a.test.ts']],
  ['nothing', { testResults: [] }, []],
])('tells of %s how it ended', (_what, given, told) => {
  expect(outcomesOf(given).map(({ file, name, outcome }) => (file === '/t/a.test.ts' ? `${outcome} ${name}` : file))).toEqual(told)
})
