import { stripAnsi } from '../../base/strip-ansi.ts'

/** A file's part of what git prints: from its head to the next head or commit. */
const head = /^diff --(?:git "?a\/(.+?)"? "?b\/(.+?)"?|(?:cc|combined) "?(.+?)"?)$/
const next = /^(?:diff --(?:git|cc|combined) |commit [0-9a-f]{7,64}\b)/
/** Paths that a line of `git grep` may begin with: a revision may stand before one, a number or a dash behind it. */
const pathsFound = (line: string): readonly string[] => [...line.split(':', 2), /^(?:[^:]*:)?(.+?)-\d+-/.exec(line)?.[1] ?? '']

/**
 * What git shows of secret-looking files that it keeps, left out: their parts of a diff, and lines found in them.
 *
 * Names are seen, texts are not. The same text when there is nothing to leave out.
 */
export function withoutSecretDiffs(text: string, isSecret: (path: string) => boolean, { isSearch }: { readonly isSearch: boolean }): string {
  if (!isSearch && !text.includes('diff --')) return text
  const kept: string[] = []
  let isCut = false
  let wasChanged = false
  for (const line of text.split('\n')) {
    const bare = line.includes('\u001b') ? stripAnsi(line) : line
    if (next.test(bare)) {
      const [, before, after, combined] = head.exec(bare) ?? []
      const paths = [before, after, combined].filter((path) => path !== undefined)
      isCut = paths.some((path) => isSecret(path))
      kept.push(line)
      if (isCut) kept.push('[changes of a file that looks like a secret left out]')
      wasChanged ||= isCut
    } else if (isSearch && pathsFound(bare).some(isSecret)) wasChanged = true
    else if (!isCut) kept.push(line)
  }
  return wasChanged ? kept.join('\n') : text
}
