import { clipped } from '../base/text.ts'
import type { CardContent, FileDiff, ToolCallView, ToolResultView } from '../protocol/cards.ts'

/*
 * What a card in the chat may hold. Cards show a few lines and open the rest in an editor, so a row never carries
 * a whole file: the log keeps everything, the view stays small. UTF-16 units, lines and entries.
 */
const MAX_CARD_TEXT = 24_000
const MAX_CARD_LINES = 300
const MAX_CARD_ENTRIES = 300
const MAX_CARD_LINE_LENGTH = 1_000

/** The pending card, small enough to send. */
export function clampCallView(view: ToolCallView): ToolCallView {
  switch (view.card) {
    case 'generic':
      return view.content === undefined ? view : { ...view, content: clampContent(view.content) }
    case 'terminal':
      return view.title.length <= MAX_CARD_TEXT ? view : { ...view, title: cutEnd(view.title) }
    case 'diff':
      return { ...view, diffs: clampDiffs(view.diffs).diffs }
  }
}

/** The completed card, small enough to send. `cutNote` says in the person's words that a diff is not shown whole. */
export function clampResultView(view: ToolResultView, cutNote: string): ToolResultView {
  switch (view.card) {
    case 'generic':
      return view.content === undefined ? view : { ...view, content: clampContent(view.content) }
    case 'terminal':
      return view.output === undefined ? view : { ...view, output: cutMiddle(view.output) }
    case 'diff': {
      const { diffs, wasCut } = clampDiffs(view.diffs)
      return wasCut ? { ...view, diffs, note: view.note === undefined ? cutNote : `${view.note} ${cutNote}` } : view
    }
    case 'search':
      return clampSearch(view)
    case 'read':
      return {
        ...view,
        lines: view.lines.slice(0, MAX_CARD_LINES).map((line) => ({ ...line, text: cutLine(line.text) })),
        ...(view.content === undefined ? {} : { content: clampContent(view.content) }),
      }
    case 'web':
      return view.kind === 'search' ? { ...view, sources: view.sources.slice(0, MAX_CARD_ENTRIES) } : view
    case 'question':
      return view
  }
}

/** Keep the start and the end of a long text, cut at line ends where one is near. */
export function cutMiddle(text: string): string {
  if (text.length <= MAX_CARD_TEXT) return text
  const head = cutAtLineEnd(text.slice(0, MAX_CARD_TEXT / 4))
  const tail = text.slice(text.length - (MAX_CARD_TEXT * 3) / 4)
  const tailFromLine = tail.slice(tail.indexOf('\n') + 1)
  return `${head}\n…\n${tailFromLine}`
}

function clampSearch(view: Extract<ToolResultView, { card: 'search' }>): ToolResultView {
  if (view.shape === 'paths') {
    return view.paths.length <= MAX_CARD_ENTRIES ? view : { ...view, paths: view.paths.slice(0, MAX_CARD_ENTRIES), truncated: true }
  }
  let room = MAX_CARD_ENTRIES
  let wasCut = false
  const files = []
  for (const file of view.files) {
    if (room === 0) {
      wasCut = true
      break
    }
    const matches = file.matches.slice(0, room).map((match) => ({ ...match, line: cutLine(match.line) }))
    wasCut ||= matches.length < file.matches.length
    room -= matches.length
    files.push({ ...file, matches })
  }
  return { ...view, files, truncated: view.truncated || wasCut }
}

function clampDiffs(diffs: readonly FileDiff[]): { diffs: readonly FileDiff[]; wasCut: boolean } {
  let room = MAX_CARD_TEXT
  let wasCut = false
  const kept: FileDiff[] = []
  for (const diff of diffs) {
    const size = (diff.oldText?.length ?? 0) + diff.newText.length
    if (size <= room) {
      kept.push(diff)
      room -= size
      continue
    }
    wasCut = true
    // The first region is shown in part; a later one that does not fit is left to the diff editor.
    if (kept.length === 0) {
      kept.push({
        ...diff,
        oldText: diff.oldText === null ? null : cutAtLineEnd(diff.oldText.slice(0, MAX_CARD_TEXT / 2)),
        newText: cutAtLineEnd(diff.newText.slice(0, MAX_CARD_TEXT / 2)),
      })
    }
    break
  }
  return { diffs: kept, wasCut }
}

const clampContent = (content: readonly CardContent[]): readonly CardContent[] =>
  content.map((part) => (part.type === 'text' ? { ...part, text: cutMiddle(part.text) } : part))

const cutLine = (line: string) => clipped(line, MAX_CARD_LINE_LENGTH)

const cutEnd = (text: string) => `${text.slice(0, MAX_CARD_TEXT)}…`

function cutAtLineEnd(text: string): string {
  const end = text.lastIndexOf('\n')
  return end > 0 ? text.slice(0, end + 1) : text
}
