import type { EventDraft, SessionEvent } from '../log/event.ts'
import type { ToolContent } from '../log/message.ts'
import { estimateMessageTokens } from '../model/token-estimate.ts'
import type { Session, Surface } from '../session/session.ts'

/** Units: code points. */
export interface PruneCaps {
  /** Results with more text are shortened. */
  readonly trigger: number
  readonly head: number
  readonly tail: number
}

/**
 * Shorten the large tool results at positions before `end` of the surface, each replaced by itself with other content.
 *
 * Gives the number of results that were shortened. A second pass finds nothing left to do.
 * Source: runtime specification 13.
 */
export function pruneResults(session: Session, caps: PruneCaps, end = Number.POSITIVE_INFINITY): number {
  let count = 0
  for (const { position, draft, tokens } of prunable(session.surface(), caps, end)) {
    const [seq] = draft.sourceEventSeqs ?? []
    const shadowedRange = { start: position, end: position }
    session.append({ type: 'compaction/prune', data: { shadowedRange, shadowedSeqs: seq === undefined ? [] : [seq], shadowedTokenCount: tokens } })
    session.append(draft)
    count++
  }
  return count
}

function prunable({ nodes }: Surface, caps: PruneCaps, end: number) {
  return nodes.slice(0, end).flatMap(({ seq, event }, position) => {
    if (event.type !== 'tool/result') return []
    const content = shortenedContent(event.data.message.content[0].content, caps)
    return content === null ? [] : [{ position, draft: replacement(event, content, { seq, position }), tokens: estimateMessageTokens(event.data.message) }]
  })
}

function replacement(
  { data }: SessionEvent<'tool/result'>,
  content: readonly ToolContent[],
  { seq, position }: { readonly seq: number; readonly position: number },
): EventDraft<'tool/result'> {
  const [block] = data.message.content
  return {
    type: 'tool/result',
    surfaceOp: { op: 'replace', start: position, end: position },
    sourceEventSeqs: [seq],
    data: { ...data, message: { ...data.message, content: [{ ...block, content }] } },
  }
}

/** Text of a result as its beginning, a mark and its end, everything else as it is; null when it is short enough. */
export function shortenedContent(content: readonly ToolContent[], caps: PruneCaps): readonly ToolContent[] | null {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  const short = shortenedText(texts.join('\n'), caps)
  if (short === null) return null
  const at = content.findIndex(({ type }) => type === 'text')
  return content.flatMap((block, index): readonly ToolContent[] => (block.type !== 'text' ? [block] : index === at ? [{ type: 'text', text: short }] : []))
}

/** Null when `text` is no longer than the trigger. What is given is never longer than that, so that it stays as it is in the next pass. */
export function shortenedText(text: string, { trigger, head, tail }: PruneCaps): string | null {
  // A code point has one or two units.
  if (text.length <= trigger) return null
  const points = codePoints(text)
  if (points <= trigger) return null
  const room = Math.max(0, trigger - markRoom)
  const keptHead = Math.min(head, room)
  const keptTail = Math.min(tail, room - keptHead)
  const end = unitsOf(text, keptHead)
  const start = text.length - unitsFromEnd(text, keptTail)
  return `${text.slice(0, end)}\n[${points - keptHead - keptTail} characters were left out here to save room. Call the tool again if they are needed.]\n${text.slice(start)}`
}

/** Code points of the mark, at most. */
const markRoom = 128

function codePoints(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index += widthAt(text, index)) count++
  return count
}

/** Units of the first `count` code points. */
function unitsOf(text: string, count: number): number {
  let index = 0
  for (let left = count; left > 0 && index < text.length; left--) index += widthAt(text, index)
  return index
}

/** Units of the last `count` code points. */
function unitsFromEnd(text: string, count: number): number {
  let index = text.length
  for (let left = count; left > 0 && index > 0; left--) index -= index > 1 && widthAt(text, index - 2) === 2 ? 2 : 1
  return text.length - index
}

const widthAt = (text: string, index: number) => ((text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1)
