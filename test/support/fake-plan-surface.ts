import type { PlanSurface, ShownComment } from '../../extension/capabilities/plan-surface.ts'

export interface FakePlanSurface extends PlanSurface {
  /** What it was asked to do, in order: `open name`, `quiet name`, `settle name`, `close name`. */
  readonly done: string[]
  readonly waiting: readonly string[]
  readonly mode: { readonly text: string; readonly tooltip: string } | null
  /** Comments it was told to show, by name. */
  readonly shown: ReadonlyMap<string, readonly ShownComment[]>
  /** The person comments. */
  comment(name: string, comments: readonly ShownComment[]): void
  /** Runs when a document is settled, as saving does. */
  onSettle: (name: string) => void
}

/** Documents that nobody sees. */
export function createFakePlanSurface(): FakePlanSurface {
  const done: string[] = []
  const shown = new Map<string, readonly ShownComment[]>()
  const listeners = new Set<(name: string, comments: readonly ShownComment[]) => void>()
  let waiting: readonly string[] = []
  let mode: FakePlanSurface['mode'] = null
  const surface: FakePlanSurface = {
    done,
    shown,
    onSettle: () => {},
    get waiting() {
      return waiting
    },
    get mode() {
      return mode
    },
    comment(name, comments) {
      for (const listener of listeners) listener(name, comments)
    },
    async open({ name, comments, isQuiet }) {
      done.push(`${isQuiet ? 'quiet' : 'open'} ${name}`)
      shown.set(name, comments)
    },
    async settle(name) {
      done.push(`settle ${name}`)
      surface.onSettle(name)
    },
    async close(name) {
      done.push(`close ${name}`)
    },
    setWaiting: (names) => void (waiting = names),
    showMode: (next) => void (mode = next),
    onDidComment(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  return surface
}
