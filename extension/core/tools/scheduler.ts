import { argumentsFrom } from '../../base/call-arguments.ts'
import type { EventDraft, EventType, SessionEvent } from '../log/event.ts'
import type { ToolCallBlock, UserMessage } from '../log/message.ts'
import type { Agent } from '../session/agent.ts'
import type { ExecutionRequest, ToolResult } from './definition.ts'
import { CallLane } from './call-lane.ts'
import type { Tools } from './service.ts'

/** The calls of one answer of the model, and what running them needs. */
export interface ToolBatch {
  readonly tools: Pick<Tools, 'begin' | 'executionMode' | 'get'>
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  readonly calls: readonly ToolCallBlock[]
  /** Calls whose `tool/call` stands in the log from before: they waited for the person when their window closed. True for those that waited to be allowed. */
  readonly startedBefore?: ReadonlyMap<string, boolean>
  readonly signal: AbortSignal
  /** Read once for each group of overlapping calls; below 1 counts as 1. */
  readonly maxParallel: () => number
  readonly append: <T extends EventType>(draft: EventDraft<T>) => SessionEvent<T>
  readonly newMessageId: () => string
  /** Context for the model's next request, after the result it belongs to. */
  readonly addContexts: (contexts: readonly UserMessage[]) => void
  readonly onProgress: (callId: string, text: string) => void
}

/**
 * Run the calls of one answer through a lane, in the model's order: `tool/call` is written when a call starts, `tool/result` in order.
 *
 * Shape:  `concludesTurn` when a successful call asked for it.
 * Errors: on cancel nothing more starts, what started is committed, the rest gets a pair with `ABORTED_BEFORE_DISPATCH`.
 *         A defect of the machinery itself (not of a tool) stops new starts, waits for what runs and is thrown; no result is made up.
 * Source: runtime specification 6.
 */
export async function runToolBatch(batch: ToolBatch): Promise<{ readonly concludesTurn: boolean }> {
  const { tools, calls, maxParallel, signal } = batch
  const lane = new CallLane({ tools, maxParallel, signal })
  let started = 0
  let concludesTurn = false
  for (const call of calls) {
    const onStart = () => {
      started++
      logStart(batch, call)
    }
    const onResult = (result: ToolResult) => {
      appendResult(batch, call, result)
      if (result.additionalContexts?.length) batch.addContexts(result.additionalContexts)
      if (!result.isError && result.concludesTurn) concludesTurn = true
    }
    if (!(await lane.start({ request: requestOf(batch, call), onStart, onResult }))) break
  }
  await lane.drain()
  lane.throwFailure()
  for (const call of calls.slice(started)) skip(batch, call)
  return { concludesTurn }
}

function requestOf({ agent, signal, onProgress, startedBefore }: ToolBatch, call: ToolCallBlock): ExecutionRequest {
  return {
    wasAsked: startedBefore?.get(call.id) === true,
    callId: call.id,
    name: call.name,
    arguments: argumentsFrom(call.arguments),
    agent,
    signal,
    onProgress: (text) => onProgress(call.id, text),
  }
}

function logStart({ tools, agent, append, turn, step, startedBefore }: ToolBatch, { id: callId, name, arguments: args }: ToolCallBlock): void {
  if (startedBefore?.has(callId) === true) return
  const from = tools.get(name, agent.scope)?.from
  append({ type: 'tool/call', data: { turn, step, callId, name, arguments: args, ...(from !== undefined && { from }) } })
}

function appendResult({ append, turn, step, newMessageId }: ToolBatch, call: ToolCallBlock, result: ToolResult): void {
  const info = result.isError ? result.error.info : undefined
  append({
    type: 'tool/result',
    surfaceOp: 'append',
    data: {
      turn,
      step,
      message: {
        id: newMessageId(),
        role: 'tool',
        content: [{ type: 'tool-result', callId: call.id, content: result.content, isError: result.isError }],
        source: { kind: 'tool', callId: call.id },
      },
      ...(info && { error: info }),
      ...(result.meta !== undefined && { meta: result.meta }),
      ...(result.policy && { policy: result.policy }),
    },
  })
}

const skippedText = { type: 'text', text: 'Error: The turn was stopped before this call began; nothing was done.' } as const

/** A call that never started still gets its pair, so that every call of the model has a result. */
function skip(batch: ToolBatch, call: ToolCallBlock): void {
  logStart(batch, call)
  appendResult(batch, call, {
    isError: true,
    error: { message: skippedText.text, info: { name: 'ToolError', code: 'ABORTED_BEFORE_DISPATCH' } },
    content: [skippedText],
  })
}
