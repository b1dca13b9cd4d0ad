/**
 * The outcome of `work`, or the signal's reason as soon as it fires.
 *
 * Only for work that takes no signal of its own: it goes on unobserved after an abort, so it must have no effect then.
 */
export async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const onAbort = () => reject(signal.reason as Error)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  work.then(resolve, reject)
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
