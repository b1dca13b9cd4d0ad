import type { ContentBlock, Message } from '../log/message.ts'
import type { ToolDeclaration, Usage } from './contract.ts'

/*
 * Tokens, roughly: a quarter of the characters, 4 for each block, 4 for each role.
 * Source: runtime specification 16.5. Images: pixels / 750, as providers bill them, 1 000 where the size is unknown.
 */

/** Of each message, beside its blocks. */
export const roleTokens = 4

export function estimateMessageTokens(message: Message): number {
  return roleTokens + message.content.reduce((sum, block) => sum + estimateBlockTokens(block), 0)
}

export function estimateRequestTokens(request: {
  readonly system?: string
  readonly tools: readonly ToolDeclaration[]
  readonly messages: readonly Message[]
}): number {
  const system = request.system === undefined ? 0 : 8 + textTokens(request.system)
  const tools = request.tools.reduce((sum, tool) => sum + 4 + textTokens(JSON.stringify(tool)), 0)
  return system + tools + request.messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
}

/**
 * The same estimate for one request after the other of the same talks, at the cost of what is new: a message or a declaration that was
 * counted is known again as the same object. Only for frozen ones, as a request's are.
 */
export function createRequestEstimate(): typeof estimateRequestTokens {
  const known = new WeakMap<object, number>()
  const once = <T extends object>(part: T, estimate: (part: T) => number): number => {
    const tokens = known.get(part) ?? estimate(part)
    known.set(part, tokens)
    return tokens
  }
  return ({ system, tools, messages }) => {
    const fixed = once(tools, (declarations) => estimateRequestTokens({ tools: declarations, messages: [] })) + (system === undefined ? 0 : estimateRequestTokens({ system, tools: [], messages: [] }))
    return messages.reduce((sum, message) => sum + once(message, estimateMessageTokens), fixed)
  }
}

/** What the next request fills: what the provider counted for the last one and its answer, and an estimate of what came after. */
export function projectTokens(lastUsage: Usage, added: readonly Message[]): number {
  const { inputTokens, cacheRead, cacheWrite, outputTokens, reasoning } = lastUsage
  const counted = inputTokens + cacheRead + cacheWrite + outputTokens + reasoning
  return counted + added.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
}

export function estimateBlockTokens(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return 4 + textTokens(block.text)
    case 'tool-call':
      return 4 + textTokens(block.name) + textTokens(block.arguments)
    case 'tool-result':
      return 4 + block.content.reduce((sum, part) => sum + estimateBlockTokens(part), 0)
    case 'image': {
      const { width, height } = block.attachment
      return 4 + (width !== undefined && height !== undefined ? Math.ceil((width * height) / 750) : 1000)
    }
  }
}

const textTokens = (text: string) => Math.ceil(text.length / 4)
