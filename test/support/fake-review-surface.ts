import type { ReviewSurface, ShownReview } from '../../extension/capabilities/review-surface.ts'

export interface FakeReviewSurface extends ReviewSurface {
  /** What it shows now. */
  readonly shown: ShownReview
  readonly followed: readonly { readonly path: string; readonly line: number }[]
  cursorAt: { readonly path: string; readonly line: number } | null
  change(path: string): void
}

/** A surface that nobody sees. */
export function createFakeReviewSurface(): FakeReviewSurface {
  const listeners = new Set<(path: string) => void>()
  const followed: { readonly path: string; readonly line: number }[] = []
  let shown: ShownReview = { files: [], hasMarks: false }
  return {
    get shown() {
      return shown
    },
    followed,
    cursorAt: null,
    show: (review) => void (shown = review),
    onDidChangeFile(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    cursor() {
      return this.cursorAt
    },
    follow: async (path, line) => void followed.push({ path, line }),
    change(path) {
      for (const listener of listeners) listener(path)
    },
  }
}
