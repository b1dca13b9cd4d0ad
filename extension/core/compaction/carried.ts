import { fitEnds } from '../../base/text.ts'
import type { SessionEvent } from '../log/event.ts'
import type { UserMessage } from '../log/message.ts'
import type { Session } from '../session/session.ts'
import type { CarriedFacts } from './words.ts'

/** File reads that stay known after their text went. */
const maxReads = 10
const maxLaterRequests = 20

/**
 * What has to outlive the messages before position `cut` of the surface, whatever the model writes: the person's words and the
 * newest file reads.
 *
 * Units:  `maxTokens` for the first request, and as much again for all later ones together.
 */
export function carriedFacts(session: Session, cut: number, maxTokens: number): CarriedFacts {
  const events = session.milestones()
  const kept = session.surface().nodes.slice(cut)
  const keptSeqs = new Set(kept.map(({ seq }) => seq))
  const requests = events.filter(isRequest)
  const [first, ...later] = requests
  const isGone = (event: SessionEvent | undefined) => event !== undefined && !keptSeqs.has(event.seq)
  return {
    firstRequest: first !== undefined && isGone(first) ? fitted(wordsOf(first.data), maxTokens) : null,
    laterRequests: newest(later.filter(isGone).map(({ data }) => wordsOf(data)), maxTokens),
    reads: readsGone(events, kept),
  }
}

const isRequest = (event: SessionEvent): event is SessionEvent<'user/message'> =>
  event.type === 'user/message' && event.surfaceOp === 'append' && ['user', 'user-rpc'].includes(event.data.source.kind)

const wordsOf = ({ content }: UserMessage) => content.map((block) => (block.type === 'text' ? block.text : `[image ${block.attachment.name ?? block.attachment.mediaType}]`)).join('\n')

/** A token is taken as four bytes here. */
function fitted(text: string, maxTokens: number): string {
  const { head, tail, omittedBytes } = fitEnds(text, { headBytes: maxTokens * 3, tailBytes: maxTokens })
  return omittedBytes === 0 ? head : `${head}\n[${omittedBytes} bytes of this message were left out]\n${tail}`
}

/** The newest that fit together, oldest first. */
function newest(requests: readonly string[], maxTokens: number): readonly string[] {
  const found: string[] = []
  let left = maxTokens
  for (const request of requests.toReversed()) {
    const text = fitted(request, Math.floor(maxTokens / 4))
    left -= Math.ceil(text.length / 4)
    if (left < 0 || found.length === maxLaterRequests) break
    found.push(text)
  }
  return found.reverse()
}

/** Of the newest reads those whose text is no longer whole before the model. */
function readsGone(events: readonly SessionEvent[], kept: ReturnType<Session['surface']>['nodes']): readonly string[] {
  const whole = new Set(kept.flatMap(({ event }) => (event.type === 'tool/result' && event.surfaceOp === 'append' ? [event.data.message.source.callId] : [])))
  const succeeded = new Set<string>()
  /** By what was read, newest first. */
  const reads = new Map<string, boolean>()
  for (let index = events.length - 1; index >= 0 && reads.size < maxReads; index--) {
    const event = events[index]!
    if (event.type === 'tool/result' && !event.data.message.content[0].isError) succeeded.add(event.data.message.source.callId)
    if (event.type !== 'tool/call' || event.data.name !== 'read' || !succeeded.has(event.data.callId)) continue
    const read = readFrom(event.data.arguments)
    if (read !== null && !reads.has(read)) reads.set(read, whole.has(event.data.callId))
  }
  return [...reads].flatMap(([read, isWhole]) => (isWhole ? [] : [read])).reverse()
}

function readFrom(text: string): string | null {
  const args = argumentsFrom(text)
  const path = args['file_path']
  if (typeof path !== 'string' || path === '') return null
  const shown = path.replaceAll(/\s+/g, ' ')
  const [offset, limit] = [args['offset'], args['limit']]
  if (typeof limit === 'number') return `${shown}, lines ${typeof offset === 'number' ? offset : 1} to ${(typeof offset === 'number' ? offset : 1) + limit - 1}`
  return typeof offset === 'number' ? `${shown}, from line ${offset}` : shown
}

function argumentsFrom(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    // A model may write what is no JSON; then no file was read.
    return {}
  }
}
