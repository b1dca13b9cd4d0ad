import type { Failure } from '../model/contract.ts'
import type { Route } from './model-routes.ts'

/** A route that did not answer, and why. */
export interface FailedRoute {
  readonly route: Route
  readonly failure: Failure
}

/**
 * What is told when no route answered: the first failure, which is what to put right, and in its words why no fallback could stand in.
 *
 * Shape:  the first failure itself when it stands alone.
 * Errors: `RangeError` where none failed.
 */
export function failureOfRoutes([first, ...fallbacks]: readonly FailedRoute[]): Failure {
  if (first === undefined) throw new RangeError('No route failed, so there is no failure to tell.')
  if (fallbacks.length === 0) return first.failure
  const reasons = fallbacks.map(({ route, failure }) => `The fallback ${route.provider}/${route.model} could not be used: ${failure.message}`)
  return { ...first.failure, message: [first.failure.message, ...reasons].join(' ') }
}
