import type { LanguageProblem } from '../../extension/capabilities/languages.ts'
import type { ProblemFeed, Publication } from '../../extension/capabilities/problem-feed.ts'

export interface FakeProblemFeed extends ProblemFeed {
  /** Paths that were opened, in order. */
  readonly opened: string[]
  /** The services publish this for a file, for its text in that version. */
  publish(path: string, problems: readonly LanguageProblem[], version: number, language?: string): void
  /** The file is open already, with a text of that version. */
  setOpen(path: string, version: number): void
  /** The editor cannot open it as text. */
  refuse(path: string): void
}

/** Language services that speak when a test says so. */
export function createFakeProblemFeed(): FakeProblemFeed {
  const listeners = new Set<(news: Publication) => void>()
  const problems = new Map<string, readonly LanguageProblem[]>()
  const versions = new Map<string, number>()
  const refused = new Set<string>()
  const opened: string[] = []
  return {
    opened,
    all: () => new Map([...problems].filter(([, found]) => found.length > 0)),
    problemsOf: (path) => problems.get(path) ?? [],
    async open(path, signal) {
      signal.throwIfAborted()
      if (refused.has(path)) return null
      opened.push(path)
      const version = versions.get(path)
      versions.set(path, version ?? 1)
      return { language: path.replace(/.*\./, ''), version: version ?? 1, wasOpen: version !== undefined }
    },
    onDidPublish(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    publish(path, found, version, language = path.replace(/.*\./, '')) {
      problems.set(path, found)
      versions.set(path, version)
      for (const listener of listeners) listener({ path, open: { language, version } })
    },
    setOpen: (path, version) => void versions.set(path, version),
    refuse: (path) => void refused.add(path),
  }
}

/** An error on a 1-based line, or what `more` says. */
export const problemAt = (line: number, message: string, more: Partial<LanguageProblem> = {}): LanguageProblem => ({
  range: { start: { line: line - 1, character: 0 }, end: { line: line - 1, character: 1 } },
  severity: 'error',
  message,
  ...more,
})
