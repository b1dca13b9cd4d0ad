import type { FileVersion } from '../../capabilities/file-system.ts'

/** Texts of files as sessions saw them last, by version: a version is the digest of its contents, so sessions and renames share them. */
export interface SeenTexts {
  keep(version: FileVersion, text: string): void
  /** Undefined when it was never kept, or had to give way. */
  get(version: FileVersion): string | undefined
}

/** At most `maxChars` UTF-16 units together; what was asked for or kept least recently gives way. */
export function createSeenTexts(maxChars: number): SeenTexts {
  const texts = new Map<FileVersion, string>()
  let chars = 0
  const drop = (version: FileVersion) => {
    chars -= texts.get(version)?.length ?? 0
    texts.delete(version)
  }
  const keep = (version: FileVersion, text: string) => {
    drop(version)
    if (text.length > maxChars) return
    texts.set(version, text)
    chars += text.length
    for (const oldest of texts.keys()) {
      if (chars <= maxChars) break
      drop(oldest)
    }
  }
  return {
    keep,
    get(version) {
      const text = texts.get(version)
      if (text !== undefined) keep(version, text)
      return text
    },
  }
}
