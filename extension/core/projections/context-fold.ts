import type { SessionEvent } from '../log/event.ts'
import type { ContentBlock, UserMessage } from '../log/message.ts'
import { estimateBlockTokens, estimateRequestTokens, roleTokens } from '../model/token-estimate.ts'
import { RUNTIME_CONTEXT_PLUGIN } from '../prompt/runtime-context.ts'

/** What a request is made of. `notices` are messages to the model that no person typed and nothing else here names. */
export const contextParts = [
  'system', 'tools', 'instructions', 'runtimeContext', 'prompts', 'notices', 'assistantText', 'reasoning', 'toolCalls', 'toolResults', 'summary',
] as const
export type ContextPart = (typeof contextParts)[number]

/** Plugin of a message that stands for a part of the talk. */
export const SUMMARY_PLUGIN = 'compaction'

/**
 * How much the next request holds, by part.
 *
 * The nodes of the surface are a chain from the newest to the oldest, so that an append costs the same however long the talk
 * is, and a replacement only what lies behind it.
 */
export interface ContextState {
  readonly newest: ContextNode | null
  /** Estimates, as all tokens here that are not said to be counted. */
  readonly tokens: Readonly<Record<ContextPart, number>>
  readonly byTool: ReadonlyMap<string, number>
  readonly total: number
  /** Tokens the provider counted for the newest request and its answer, null before it counted any. */
  readonly counted: number | null
  /** What the estimate `of` was really worth. */
  readonly anchor: { readonly tokens: number; readonly of: number } | null
  readonly contextWindow: number | null
  /** Names by call id, of the newest answer. */
  readonly calls: ReadonlyMap<string, string>
}

interface ContextNode {
  readonly position: number
  readonly below: ContextNode | null
  readonly shares: readonly Share[]
}

interface Share {
  readonly part: ContextPart
  /** Of tool results. */
  readonly tool?: string
  readonly tokens: number
}

const nothing = Object.fromEntries(contextParts.map((part) => [part, 0])) as Readonly<Record<ContextPart, number>>

export const startContext = (): ContextState => ({
  newest: null, tokens: nothing, byTool: new Map(), total: 0, counted: null, anchor: null, contextWindow: null, calls: new Map(),
})

/** Take one event in. The same state for events that change nothing of what the model sees. */
export function stepContext(state: ContextState, event: SessionEvent): ContextState {
  switch (event.type) {
    case 'request/header': {
      const { system, tools = [] } = event.data.header
      const alone = { tools: estimateRequestTokens({ tools, messages: [] }), system: system === undefined ? 0 : estimateRequestTokens({ system, tools: [], messages: [] }) }
      if (alone.tools === state.tokens.tools && alone.system === state.tokens.system) return state
      return withTotal({ ...state, tokens: { ...state.tokens, ...alone } })
    }
    case 'request/context':
      return { ...state, contextWindow: event.data.contextWindow ?? null }
    case 'user/message':
      return placed(state, event, [{ part: partOf(event.data), tokens: tokensOf(event.data.content) }])
    case 'assistant/message':
      return answered(state, event)
    case 'tool/result': {
      const [block] = event.data.message.content
      return placed(state, event, [{ part: 'toolResults', tool: state.calls.get(block.callId) ?? 'unknown', tokens: tokensOf([block]) }])
    }
    default:
      return state
  }
}

/** What the next request fills: counted as far as the provider has counted, and an estimate of what came after. */
export function projectedTokens({ anchor, total }: ContextState): number {
  return anchor === null ? total : Math.max(0, Math.round(anchor.tokens + total - anchor.of))
}

function answered(state: ContextState, event: SessionEvent<'assistant/message'>): ContextState {
  const { content } = event.data.message
  const shares: Share[] = []
  for (const block of content) {
    const part = block.type === 'text' ? 'assistantText' : block.type === 'reasoning' ? 'reasoning' : 'toolCalls'
    shares.push({ part, tokens: estimateBlockTokens(block) })
  }
  if (content.length > 0) shares.push({ part: 'assistantText', tokens: roleTokens })
  const calls = new Map(content.flatMap((block) => (block.type === 'tool-call' ? [[block.id, block.name] as const] : [])))
  const next = { ...placed(state, event, shares), calls }
  const { usage } = event.data
  if (usage === undefined || event.surfaceOp !== 'append') return next
  const counted = usage.inputTokens + usage.cacheRead + usage.cacheWrite + usage.outputTokens + usage.reasoning
  // A server that counts nothing says nothing.
  return counted === 0 ? next : { ...next, counted, anchor: { tokens: counted, of: next.total } }
}

/** Put a message where its event says. */
function placed(state: ContextState, { surfaceOp }: SessionEvent, shares: readonly Share[]): ContextState {
  if (typeof surfaceOp !== 'object') {
    const newest = { position: (state.newest?.position ?? -1) + 1, below: state.newest, shares }
    return withTotal(added({ ...state, newest }, shares, 1))
  }
  const later: ContextNode[] = []
  let next = state
  let node = state.newest
  for (; node !== null && node.position >= surfaceOp.start; node = node.below) {
    if (node.position > surfaceOp.end) later.push(node)
    else next = added(next, node.shares, -1)
  }
  // Who rewrites a result keeps its tool, whose call may be long gone.
  const kept = shares.map((share) => (share.part === 'toolResults' ? { ...share, tool: toolAt(state, surfaceOp.start) ?? share.tool ?? 'unknown' } : share))
  let newest: ContextNode = { position: surfaceOp.start, below: node, shares: kept }
  for (const { shares: own } of later.reverse()) newest = { position: newest.position + 1, below: newest, shares: own }
  return rescaled(state, withTotal(added({ ...next, newest }, kept, 1)))
}

function toolAt(state: ContextState, position: number): string | undefined {
  let node = state.newest
  while (node !== null && node.position > position) node = node.below
  return node?.shares[0]?.tool
}

function added(state: ContextState, shares: readonly Share[], sign: 1 | -1): ContextState {
  const tokens = { ...state.tokens }
  let { byTool } = state
  for (const share of shares) {
    tokens[share.part] += sign * share.tokens
    if (share.tool !== undefined) byTool = new Map(byTool).set(share.tool, (byTool.get(share.tool) ?? 0) + sign * share.tokens)
  }
  return { ...state, tokens, byTool }
}

const withTotal = (state: ContextState): ContextState => ({ ...state, total: contextParts.reduce((sum, part) => sum + state.tokens[part], 0) })

/** What was taken away was worth as much, for each token of the estimate, as what stays. */
function rescaled(before: ContextState, after: ContextState): ContextState {
  if (before.anchor === null || before.total === 0) return after
  return { ...after, anchor: { tokens: (projectedTokens(before) * after.total) / before.total, of: after.total } }
}

const tokensOf = (content: readonly ContentBlock[]) => content.reduce((sum, block) => sum + estimateBlockTokens(block), roleTokens)

function partOf({ source }: UserMessage): ContextPart {
  if (source.kind === 'user') return 'prompts'
  // Features name kinds of their own, which this file cannot know by type.
  const kind: string = source.kind
  if (kind === 'user-rpc') return 'prompts'
  if (kind === 'agent-instructions') return 'instructions'
  if (source.kind !== 'plugin') return 'notices'
  if (source.plugin === SUMMARY_PLUGIN) return 'summary'
  if (source.plugin === RUNTIME_CONTEXT_PLUGIN) return 'runtimeContext'
  return source.form === 'instructions' ? 'instructions' : 'notices'
}
