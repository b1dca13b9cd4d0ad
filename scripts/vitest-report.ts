import type { TestOutcome } from './second-try.ts'

/** What is read of the report of Vitest's JSON reporter. */
export interface VitestReport {
  readonly testResults: readonly {
    /** A path. */
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/** How each test ended; a file that did not load, or failed beside its tests, is told as a test with its path as its name. */
export const outcomesOf = ({ testResults }: VitestReport): readonly TestOutcome[] =>
  testResults.flatMap(({ name: file, status, assertionResults }): readonly TestOutcome[] => {
    const outcomes = assertionResults.map(({ status: ended, fullName }): TestOutcome => ({ file, name: fullName, outcome: ended === 'passed' || ended === 'failed' ? ended : 'skipped' }))
    const isBroken = status === 'failed' && !outcomes.some(({ outcome }) => outcome === 'failed')
    return isBroken ? [...outcomes, { file, name: file, outcome: 'failed' }] : outcomes
  })
