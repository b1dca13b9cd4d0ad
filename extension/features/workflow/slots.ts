import type { Undo } from '../../base/undo.ts'

/** A number of places, given in order of asking. Errors of `enter`: the signal's reason. */
export interface Slots {
  enter(signal: AbortSignal): Promise<Undo>
}

export function createSlots(count: number): Slots {
  let free = count
  const queue: (() => void)[] = []
  const release = (): Undo => {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const next = queue.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
  return {
    async enter(signal) {
      signal.throwIfAborted()
      if (free > 0) {
        free -= 1
        return release()
      }
      return new Promise((resolve, reject) => {
        const take = () => {
          signal.removeEventListener('abort', leave)
          resolve(release())
        }
        const leave = () => {
          queue.splice(queue.indexOf(take), 1)
          reject(signal.reason as Error)
        }
        queue.push(take)
        signal.addEventListener('abort', leave, { once: true })
      })
    },
  }
}
