import { basename } from 'node:path'
import type { Counts } from './test-results.ts'

/** How one test of a file ended. A file that did not load, or was ended from outside, is told as a test with the path as its name. */
export type TestOutcome = { readonly file: string; readonly name: string; readonly outcome: 'passed' | 'failed' | 'skipped' }

export type TotalOutcome = Counts & {
  /** What failed at first, then passed alone: `file: name` each. */
  readonly passedOnSecondTry: readonly string[]
}

/** Where more files failed than these, it is no accident, and the time is better spent on looking. */
const maxFiles = 4

/**
 * Run every group; then each file in which a test failed once more, with nothing beside it. A test that passes then counts as passed and is
 * named: windows on a starved machine may miss a moment, and one that fails twice is wrong. What passed at first is not undone.
 */
export async function runWithSecondTry({
  groups,
  runFiles,
  hasSecondTry,
}: {
  readonly groups: readonly { readonly files: readonly string[]; readonly atOnce: number }[]
  readonly runFiles: (files: readonly string[], atOnce: number) => Promise<readonly TestOutcome[]>
  readonly hasSecondTry: boolean
}): Promise<TotalOutcome> {
  const first: TestOutcome[] = []
  for (const { files, atOnce } of groups) if (files.length > 0) first.push(...(await runFiles(files, atOnce)))

  const failedFiles = [...new Set(first.filter(isFailure).map(({ file }) => file))]
  if (!hasSecondTry || failedFiles.length > maxFiles) return { ...counted(first), passedOnSecondTry: [] }
  const last = first.filter(({ file }) => !failedFiles.includes(file))
  const passedOnSecondTry: string[] = []
  for (const file of failedFiles) {
    const before = first.filter((outcome) => outcome.file === file)
    const again = await runFiles([file], 1)
    const passedNow = new Set(again.filter(({ outcome }) => outcome === 'passed').map(({ name }) => name))
    // What the file was to show at first is not known: it all counts as it is now.
    const isWhole = before.some((outcome) => isFailure(outcome) && outcome.name === file)
    for (const outcome of isWhole ? again : before) {
      const isMended = isFailure(outcome) && passedNow.has(outcome.name)
      last.push(isMended ? { ...outcome, outcome: 'passed' } : outcome)
      if (isMended) passedOnSecondTry.push(`${basename(file)}: ${outcome.name}`)
    }
    if (isWhole && again.length > 0 && !again.some(isFailure)) passedOnSecondTry.push(basename(file))
    if (isWhole && again.length === 0) last.push(...before.filter(isFailure))
  }
  return { ...counted(last), passedOnSecondTry }
}

const isFailure = ({ outcome }: TestOutcome) => outcome === 'failed'

const counted = (outcomes: readonly TestOutcome[]): Counts => {
  const count = (wanted: TestOutcome['outcome']) => outcomes.filter(({ outcome }) => outcome === wanted).length
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
}
