import { appendFile, mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { root } from './root.ts'

export type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number }

const file = join(root, 'out', 'test-results.jsonl')

/** Forget what earlier runs have counted. */
export const clearResults = () => rm(file, { force: true })

/** What a runner counted. */
export type Results = Counts & { readonly suite: string; readonly passedOnSecondTry?: readonly string[] }

/** Every runner adds what it counted, so that `npm test` can print one total. */
export async function recordResults(suite: string, { passed, failed, skipped, passedOnSecondTry = [] }: Omit<Results, 'suite'>): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await appendFile(file, `${JSON.stringify({ suite, passed, failed, skipped, passedOnSecondTry } satisfies Results)}\n`)
}

/** What the runners have recorded since `clearResults`. */
export async function readResults(): Promise<readonly Results[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Results)
}

/** The closing line of a run: `N passed, M failed`, and the skipped ones where there are any. */
export const closingLine = ({ passed, failed, skipped }: Counts) =>
  `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`
