import { TeamError } from './error.ts'

const scopeLimits = { maxScopes: 64, pathChars: 1_024 } as const

/**
 * Write scopes as the board keeps them: `/` between steps, no leading `./`, no trailing `/`, none twice, in the order given.
 *
 * Errors: `TeamError` `TEAM_INVALID_WRITE_SCOPE` for a path that is empty, absolute, on a drive, or has `.`, `..` or empty steps, and for more or
 * longer ones than fit.
 */
export function normalisedScopes(scopes: readonly string[]): readonly string[] {
  if (scopes.length > scopeLimits.maxScopes) throw new TeamError('TEAM_INVALID_WRITE_SCOPE', `${scopes.length} write scopes are too many; ${scopeLimits.maxScopes} is the most. Name the folders that hold them.`)
  return [...new Set(scopes.map(normalised))]
}

function normalised(scope: string): string {
  const path = scope.trim().replaceAll('\\', '/').replace(/^(?:\.\/)+/, '').replace(/(?<=[^/])\/$/, '')
  if (path.length > scopeLimits.pathChars) throw new TeamError('TEAM_INVALID_WRITE_SCOPE', `A write scope has ${path.length} characters; ${scopeLimits.pathChars} is the most.`)
  const problem =
    path === '' ? 'it is empty' : path.startsWith('/') ? 'it is absolute' : /^[a-z]:/i.test(path) ? 'it names a drive' : path.split('/').some((step) => step === '' || step === '.' || step === '..') ? 'it has an empty step, “.” or “..”' : null
  if (problem === null) return path
  throw new TeamError('TEAM_INVALID_WRITE_SCOPE', `The write scope ${JSON.stringify(scope)} cannot be used: ${problem}. Give a path relative to the working folder, such as “src/parser”.`)
}

/** Whether one of them holds the other, step by step. */
export function scopesOverlap(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`)
}

/** Whether a path relative to the working folder lies in one of the scopes. */
export const isInScopes = (path: string, scopes: readonly string[]): boolean => scopes.some((scope) => path === scope || path.startsWith(`${scope}/`))
