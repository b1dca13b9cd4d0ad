import { sharedPrefixLength } from './model-server.ts'

/** Bytes shown on each side of the first difference. */
const AROUND = 80

/**
 * Where a request does not begin with the one before it, or null. `tail`: what closes a request, which the next one moves on.
 *
 * The words name the first byte that differs and show both surroundings.
 */
export function prefixProblem(before: string, after: string, tail = ']}'): string | null {
  const expected = Buffer.byteLength(before) - Buffer.byteLength(tail)
  const shared = sharedPrefixLength(before, after)
  if (shared >= expected) return null
  return [`byte ${shared} of ${expected} is the first that differs:`, `  before: ${surroundings(before, shared)}`, `  after:  ${surroundings(after, shared)}`].join('\n')
}

/** The problems of a row of requests, each with the place of the later one. */
export const prefixProblems = (bodies: readonly string[], tail?: string): readonly string[] =>
  bodies.slice(1).flatMap((body, at) => {
    const problem = prefixProblem(bodies[at] ?? '', body, tail)
    return problem === null ? [] : [`request ${at + 1}: ${problem}`]
  })

function surroundings(text: string, at: number): string {
  const bytes = Buffer.from(text)
  const part = (from: number, to: number) => JSON.stringify(bytes.subarray(Math.max(0, from), to).toString()).slice(1, -1)
  return `…${part(at - AROUND, at)}▸${part(at, at + AROUND)}…`
}
