import type { Json } from '../../base/json.ts'
import { utf8Length } from '../../base/text.ts'
import { newProblemsLine } from '../../core/tools/new-problems.ts'
import type { LspValue } from './lsp-value.ts'
import { shownUri } from './shown-uri.ts'

/** Places that a card may add to the log. */
const MAX_META_PLACES = 100
/** Bytes of changed regions that a card may add to the log. */
const MAX_META_BYTES = 65_536

/** Durable facts of the card: places by file, or what changed. */
export function lspMeta(value: LspValue): Json | undefined {
  if (value.kind === 'changes') return changesMeta(value)
  if (value.kind !== 'locations' && value.kind !== 'symbols') return undefined
  const places =
    value.kind === 'locations'
      ? value.locations.map(({ uri, range, text }) => ({ uri, line: range.start.line + 1, text: text ?? '' }))
      : value.symbols.map(({ uri, range, name, kind }) => ({ uri, line: range.start.line + 1, text: `${kind} ${name}` }))
  const files = new Map<string, { lineNumber: number; line: string }[]>()
  for (const { uri, line, text } of places.slice(0, MAX_META_PLACES)) {
    const path = shownUri(uri, value.resolvedWorkspaceUri)
    files.set(path, [...(files.get(path) ?? []), { lineNumber: line, line: text }])
  }
  return { files: [...files].map(([path, matches]) => ({ path, matches })), total: value.total, truncated: value.total > places.length }
}

function changesMeta({ made, files, newProblems }: Extract<LspValue, { kind: 'changes' }>): Json {
  let bytes = 0
  const kept = files.map(({ path, hunks }) => ({
    path,
    hunks: hunks.filter(({ oldText, newText }) => (bytes += utf8Length(oldText) + utf8Length(newText)) <= MAX_META_BYTES),
  }))
  const omitted = files.reduce((sum, { hunks }, index) => sum + hunks.length - (kept[index]?.hunks.length ?? 0), 0)
  const unsaved = files.filter(({ isUnsaved }) => isUnsaved === true).map(({ path }) => path)
  return {
    made,
    files: kept,
    ...(omitted > 0 && { omittedHunks: omitted }),
    ...(unsaved.length > 0 && { unsaved }),
    ...(newProblems && { newProblems: newProblemsLine(newProblems) }),
    fileChanges: files.map(({ target, beforeImage }) => ({ path: target, before: beforeImage })),
  }
}
