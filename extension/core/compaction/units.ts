import { SUMMARY_PLUGIN } from '../projections/context-fold.ts'
import { estimateMessageTokens } from '../model/token-estimate.ts'
import type { Surface } from '../session/session.ts'

/** Neighbours on the surface that stay together or go together: a message, or an answer with the results of its calls. */
export interface Unit {
  /** Positions, inclusive. */
  readonly start: number
  readonly end: number
  /** An estimate. */
  readonly tokens: number
  readonly hasResults: boolean
}

/**
 * The surface in indivisible parts.
 *
 * What came in for the answer that is still to be given (the prompt with what was told beside it) is one part, at the end.
 */
export function unitsOf({ nodes }: Surface): readonly Unit[] {
  const units: Unit[] = []
  /** Calls of the newest answer that have no result yet. */
  const open = new Set<string>()
  for (const [position, { event }] of nodes.entries()) {
    const tokens = tokensOfNode(event)
    const last = units.at(-1)
    if (event.type === 'assistant/message') {
      open.clear()
      for (const block of event.data.message.content) if (block.type === 'tool-call') open.add(block.id)
    }
    const isAnswer = event.type === 'tool/result' && open.delete(event.data.message.content[0].callId)
    // Also what stands between a call and its result belongs to the pair.
    const isInside = last !== undefined && (isAnswer || (event.type === 'user/message' && open.size > 0))
    if (isInside) units[units.length - 1] = { ...last, end: position, tokens: last.tokens + tokens, hasResults: true }
    else units.push({ start: position, end: position, tokens, hasResults: false })
  }
  return joinedEnd(units, nodes)
}

function joinedEnd(units: readonly Unit[], nodes: Surface['nodes']): readonly Unit[] {
  let first = units.length
  while (first > 0 && isEntered(nodes[units[first - 1]!.start]!.event)) first--
  const [begin, ...rest] = units.slice(first)
  if (begin === undefined || rest.length === 0) return units
  const tokens = rest.reduce((sum, unit) => sum + unit.tokens, begin.tokens)
  return [...units.slice(0, first), { start: begin.start, end: rest.at(-1)!.end, tokens, hasResults: false }]
}

type NodeEvent = Surface['nodes'][number]['event']

const isEntered = (event: NodeEvent) => event.type === 'user/message' && !isSummary(event)

export const isSummary = (event: NodeEvent): boolean =>
  event.type === 'user/message' && event.data.source.kind === 'plugin' && event.data.source.plugin === SUMMARY_PLUGIN

export const messageOfNode = (event: NodeEvent) => (event.type === 'user/message' ? event.data : event.data.message)

const tokensOfNode = (event: NodeEvent): number => {
  const message = messageOfNode(event)
  return message.content.length === 0 ? 0 : estimateMessageTokens(message)
}
