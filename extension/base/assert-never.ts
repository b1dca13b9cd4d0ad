/**
 * End a switch over a tagged union; the compiler complains when a member is missing.
 *
 * Errors: `TypeError` when a value outside the union arrives at run time.
 */
export function assertNever(value: never, what = 'value'): never {
  throw new TypeError(`Unexpected ${what}: ${JSON.stringify(value)}`)
}
