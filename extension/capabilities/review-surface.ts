import type { Undo } from '../base/undo.ts'

/** Where the person sees in the editor what waits for them: a tree of files, marks in the gutter, Keep and Undo over each region. */
export interface ReviewSurface {
  /** All that waits, in the place of what was shown. */
  show(review: ShownReview): void
  /** The person typed in a file, or something changed it on the disk while it waits. */
  onDidChangeFile(listener: (path: string) => void): Undo
  /** Where the cursor stands; `line` is 1-based. Null outside of a file. */
  cursor(): { readonly path: string; readonly line: number } | null
  /** Show a changed line as a preview, and leave the focus where it is. Errors: none; a file that cannot be shown is not. */
  follow(path: string, line: number): Promise<void>
}

export interface ShownReview {
  readonly files: readonly ShownFile[]
  /** Marks in the editor too, not in the tree alone. */
  readonly hasMarks: boolean
}

export interface ShownFile {
  readonly path: string
  readonly kind: 'created' | 'changed' | 'deleted'
  /** The text without what waits, to mark the difference to; null where there is none. */
  readonly baseline: string | null
  readonly added: number
  readonly removed: number
  /** None of what is no text. */
  readonly regions: readonly ShownRegion[]
}

export interface ShownRegion {
  /** 1-based first and last line now; where lines were only taken away, the line before them, and `hasLines` false. */
  readonly startLine: number
  readonly endLine: number
  readonly hasLines: boolean
  /** Its first line that says something. */
  readonly label: string
  readonly added: number
  readonly removed: number
  /** Given back when the person means this region: it is the same one only as long as the file is. */
  readonly place: RegionPlace
}

/** Lines are 0-based and exclusive, in the text without what waits and in the file now. */
export interface RegionPlace {
  readonly baseFrom: number
  readonly baseTo: number
  readonly from: number
  readonly to: number
}

/** What a person pointed at: a region as it was shown, or lines of the file (1-based, both ends inclusive). */
export type PointedAt = { readonly place: RegionPlace } | { readonly startLine: number; readonly endLine: number }
