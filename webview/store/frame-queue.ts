/** Calls `work` before the next repaint, or soon when nothing is painted. */
export type NextFrame = (work: () => void) => void

/** A hidden page gets no frames, so a timer stands in; what came meanwhile is then still applied. */
export const nextFrame: NextFrame = (work) => {
  let isDone = false
  const once = () => {
    if (isDone) return
    isDone = true
    work()
  }
  requestAnimationFrame(once)
  setTimeout(once, 100)
}

/**
 * Hand on what arrives at most once a frame, in order.
 *
 * `flush` is called with at least one value, and may add more for the following frame.
 */
export function createFrameQueue<T>(flush: (values: readonly T[]) => void, schedule: NextFrame): (value: T) => void {
  let waiting: T[] = []
  return (value) => {
    waiting.push(value)
    if (waiting.length > 1) return
    schedule(() => {
      const values = waiting
      waiting = []
      flush(values)
    })
  }
}
