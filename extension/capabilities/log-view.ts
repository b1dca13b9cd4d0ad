/** Text for the person that grows at its end, such as the log of a program: read-only, in the editor's own place for output. */
export interface LogViews {
  /** Not shown before it is revealed. */
  open(title: string): LogView
}

export interface LogView {
  /** The whole text from now on. */
  replace(text: string): void
  append(text: string): void
  /** Bring it before the person, who asked for it, without the focus. */
  reveal(): void
  dispose(): void
}
