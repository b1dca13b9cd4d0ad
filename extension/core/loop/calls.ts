import type { SessionEvent } from '../log/event.ts'
import type { ToolCallBlock } from '../log/message.ts'
import { runToolBatch } from '../tools/scheduler.ts'
import type { TurnContext } from './turn-context.ts'

/**
 * Run the calls of one answer.
 *
 * Errors: a defect of the machinery, after every call has got a result that says what is known.
 */
export async function runCalls(
  context: TurnContext,
  { step, calls, startedBefore }: { readonly step: number; readonly calls: readonly ToolCallBlock[]; readonly startedBefore?: ReadonlyMap<string, boolean> },
): Promise<{ readonly concludesTurn: boolean }> {
  const { loop, agent, log, turn, signal, inbox } = context
  const from = log.session.length
  try {
    return await runToolBatch({
      tools: loop.tools,
      agent,
      turn,
      step,
      calls,
      ...(startedBefore && { startedBefore }),
      signal,
      maxParallel: loop.maxParallelToolCalls,
      append: (draft) => log.append(draft),
      newMessageId: loop.newId,
      addContexts: (contexts) => {
        for (const message of contexts) inbox.insert('next-step', message)
      },
      onProgress: (callId, progress) => loop.dispatch.emit('agent/progress', agent.scope, [{ agent, callId, progress }]),
    })
  } catch (error) {
    if (!log.isSuspended) closeOpenCalls(context, step, { calls, from, startedBefore })
    throw error
  }
}

/**
 * The machinery broke in the middle of a batch. The talk can only go on when each call has a result, so the open ones get
 * one that says what is known: as crash repair would, had the host died here.
 */
function closeOpenCalls(context: TurnContext, step: number, { calls, from, startedBefore }: { readonly calls: readonly ToolCallBlock[]; readonly from: number; readonly startedBefore: ReadonlyMap<string, boolean> | undefined }): void {
  const { log, turn, loop } = context
  const events = log.session.events(from)
  const idsOf = (pick: (event: SessionEvent) => string | undefined) => new Set(events.map(pick))
  const started = idsOf((event) => (event.type === 'tool/call' ? event.data.callId : undefined))
  const answered = idsOf((event) => (event.type === 'tool/result' ? event.data.message.source.callId : undefined))
  try {
    for (const { id, name, arguments: args } of calls.filter((call) => !answered.has(call.id))) {
      const isStarted = started.has(id) || startedBefore?.has(id) === true
      if (!isStarted) log.append({ type: 'tool/call', data: { turn, step, callId: id, name, arguments: args } })
      const text = isStarted
        ? 'Error: The application failed while this call ran. It may have had its effect, in whole or in part. Look before you call it again.'
        : 'Error: The application failed before this call began. It had no effect.'
      log.append({
        type: 'tool/result',
        surfaceOp: 'append',
        data: {
          turn,
          step,
          message: {
            id: loop.newId(),
            role: 'tool',
            content: [{ type: 'tool-result', callId: id, isError: true, content: [{ type: 'text', text }] }],
            source: { kind: 'tool', callId: id },
          },
          error: { name: 'ToolError', code: isStarted ? 'TOOL_OUTCOME_UNKNOWN' : 'TOOL_NOT_STARTED' },
        },
      })
    }
  } catch (error) {
    // The log itself takes nothing more; loading it again repairs it. The first failure is the one to report.
    loop.logger.error('Open calls could not be closed.', { session: log.session.id, error: String(error) })
  }
}
