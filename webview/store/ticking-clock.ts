import { signal, type ReadonlySignal } from '@preact/signals'

/** The time in epoch milliseconds as a signal that ticks once a second, and only while somebody looks at it. */
export function createTickingClock(readTime: () => number): ReadonlySignal<number> {
  let timer: ReturnType<typeof setInterval> | undefined
  const now = signal(readTime(), {
    watched() {
      now.value = readTime()
      timer = setInterval(() => (now.value = readTime()), 1_000)
    },
    unwatched() {
      clearInterval(timer)
    },
  })
  return now
}
