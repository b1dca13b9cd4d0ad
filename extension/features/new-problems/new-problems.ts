import type { LanguageProblem } from '../../capabilities/languages.ts'
import { MAX_NEW_PROBLEMS, type NewProblems } from '../../core/tools/new-problems.ts'

/**
 * What stands in `after` and not in `before`: errors first, then by line; null when there is nothing.
 *
 * A problem is known by its words, not by its place, because a change moves what stands below it; of two that say the same,
 * one is new when there was only one before.
 */
export function newProblems(before: readonly LanguageProblem[], after: readonly LanguageProblem[]): NewProblems | null {
  const known = new Map<string, number>()
  for (const problem of before) known.set(keyOf(problem), (known.get(keyOf(problem)) ?? 0) + 1)
  const fresh = after.filter((problem) => {
    const left = known.get(keyOf(problem)) ?? 0
    known.set(keyOf(problem), left - 1)
    return left <= 0 && (problem.severity === 'error' || problem.severity === 'warning')
  })
  if (fresh.length === 0) return null
  const errors = fresh.filter(({ severity }) => severity === 'error').length
  const sorted = fresh.toSorted((one, other) => one.severity.localeCompare(other.severity) || one.range.start.line - other.range.start.line)
  return {
    errors,
    warnings: fresh.length - errors,
    first: sorted.slice(0, MAX_NEW_PROBLEMS).map(({ range, severity, message, source }) => ({
      line: range.start.line + 1,
      severity: severity === 'error' ? ('error' as const) : ('warning' as const),
      message,
      ...(source !== undefined && { source }),
    })),
  }
}

/** What was found in each of several files, as one; a null path is of a call that changed one file. Null when there is nothing. */
export function allProblems(found: readonly { readonly path: string | null; readonly problems: NewProblems }[]): NewProblems | null {
  if (found.length === 0) return null
  const sum = (count: (problems: NewProblems) => number) => found.reduce((total, { problems }) => total + count(problems), 0)
  const first = found.flatMap(({ path, problems }) => problems.first.map((problem) => (path === null ? problem : { ...problem, path })))
  return {
    errors: sum(({ errors }) => errors),
    warnings: sum(({ warnings }) => warnings),
    first: first.toSorted((one, other) => one.severity.localeCompare(other.severity)).slice(0, MAX_NEW_PROBLEMS),
  }
}

const keyOf = ({ severity, source, message }: LanguageProblem) => JSON.stringify([severity, source ?? '', message])
