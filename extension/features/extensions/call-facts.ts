import { deepFreeze } from '../../base/json.ts'
import type { ToolContent } from '../../core/log/message.ts'
import type { Execution, ToolResult } from '../../core/tools/definition.ts'
import type { Content, ToolCall, ToolResult as ResultFacts } from '../../../bosun.d.ts'

/** What another extension is told of a call: facts, and nothing to act with. */
export function callFacts({ callId, rootCallId, name, arguments: args, agent }: Execution, extensionOf: (tool: string) => string | null): ToolCall {
  return Object.freeze({
    callId,
    rootCallId,
    tool: name,
    // Frozen by the pipeline.
    arguments: args,
    sessionId: agent?.id ?? null,
    cwd: agent?.session.header.cwd ?? null,
    extensionId: extensionOf(name),
  })
}

/** What another extension is told of a result: what the model reads of it. */
export function resultFacts(result: ToolResult): ResultFacts {
  const code = result.isError ? result.error.info?.code : undefined
  return deepFreeze({ isError: result.isError, content: contentFacts(result.content), ...(code !== undefined && { errorCode: code }) })
}

/** Pictures are told by their kind: their bytes are the session's. */
export const contentFacts = (content: readonly ToolContent[]): readonly Content[] =>
  content.map((part): Content => (part.type === 'text' ? { type: 'text', text: part.text } : { type: 'image', mediaType: part.attachment.mediaType }))
