/**
 * Base of every failure that Bosun itself reports: one subclass per domain, a code to route on.
 *
 * Shape: `name` is the domain's class name, `code` a stable upper-case word, `message` says what to do next.
 */
export abstract class HarnessError<Code extends string = string> extends Error {
  readonly code: Code

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/** True when `error` is one of Bosun's own failures, so its `name` and `code` may be shown and logged. */
export function isHarnessError(error: unknown): error is HarnessError {
  return error instanceof HarnessError
}

/** A failure of the given class, and of the given code when one is named. */
export function isErrorOf<E extends HarnessError>(
  domain: abstract new (...args: never[]) => E,
  error: unknown,
  code?: E['code'],
): error is E {
  return error instanceof domain && (code === undefined || error.code === code)
}
