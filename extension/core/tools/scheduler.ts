import { argumentsFrom } from '../../base/call-arguments.ts'
import type { EventDraft, EventType, SessionEvent } from '../log/event.ts'
import type { ToolCallBlock, UserMessage } from '../log/message.ts'
import type { Agent } from '../session/agent.ts'
import type { ExecutionRequest, ToolResult } from './definition.ts'
import type { StagedExecution, Tools } from './service.ts'

/** The calls of one answer of the model, and what running them needs. */
export interface ToolBatch {
  readonly tools: Pick<Tools, 'begin' | 'executionMode'>
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  readonly calls: readonly ToolCallBlock[]
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
 * Run the calls of one answer: exclusive unless declared otherwise, policy and results in the model's order.
 *
 * Calls start in the model's order. Neighbours that may overlap form a rolling pool; an exclusive call waits until the pool
 * is empty and everything before it is committed. Policy (and so approval) is awaited before the next call starts; only
 * bodies overlap. `tool/call` is written when a call starts, `tool/result` in order.
 *
 * Shape:  `concludesTurn` when a successful call asked for it.
 * Errors: on cancel nothing more starts, what started is committed, the rest gets a pair with `ABORTED_BEFORE_DISPATCH`.
 *         A defect of the machinery itself (not of a tool) stops new starts, waits for what runs and is thrown; no result is made up.
 * Source: runtime specification 6.
 */
export async function runToolBatch(batch: ToolBatch): Promise<{ readonly concludesTurn: boolean }> {
  const run = new BatchRun(batch)
  const started = await run.start()
  await run.drain()
  run.throwFailure()
  for (const call of batch.calls.slice(started)) skip(batch, call)
  return { concludesTurn: run.concludesTurn }
}

class BatchRun {
  readonly #batch: ToolBatch
  #runningBodies = 0
  /** Commits one after the other; the end of it is the end of everything that started. */
  #commits: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | null = null
  #onSlot: () => void = () => {}
  concludesTurn = false

  constructor(batch: ToolBatch) {
    this.#batch = batch
  }

  /** Start calls until all have started, the turn is cancelled or something broke. Gives how many started. */
  async start(): Promise<number> {
    const { calls } = this.#batch
    let next = 0
    /** Null between groups. */
    let groupCap: number | null = null
    try {
      for (let call = calls[next]; call && !this.#isStopped; call = calls[next]) {
        if (this.#mode(call) === 'exclusive') {
          groupCap = null
          await this.drain()
          // What was committed meanwhile may have changed the registration, and with it the answer.
          if (this.#isStopped || this.#mode(call) !== 'exclusive') continue
          next++
          await this.#begin(call)
          await this.drain()
          continue
        }
        groupCap ??= Math.max(1, this.#batch.maxParallel())
        if (this.#runningBodies >= groupCap) {
          await this.#slot()
          continue
        }
        next++
        await this.#begin(call)
      }
    } catch (error) {
      this.#fail(error)
    }
    return next
  }

  /** Wait until every body has ended and every commit is done. */
  async drain(): Promise<void> {
    await this.#commits
  }

  throwFailure(): void {
    if (this.#failure) throw this.#failure.error
  }

  get #isStopped(): boolean {
    return this.#failure !== null || this.#batch.signal.aborted
  }

  #mode(call: ToolCallBlock): 'parallel' | 'exclusive' {
    const { tools, agent } = this.#batch
    return tools.executionMode({ name: call.name, arguments: argumentsFrom(call.arguments), agent })
  }

  /** Write the call, settle policy, let the body go. Resolves when the next call may be looked at. */
  async #begin(call: ToolCallBlock): Promise<void> {
    const { tools, append, turn, step } = this.#batch
    append({ type: 'tool/call', data: { turn, step, callId: call.id, name: call.name, arguments: call.arguments } })
    const staged = tools.begin(this.#request(call))
    await staged.prepare()
    this.#runningBodies++
    const body = this.#body(staged)
    this.#commits = this.#commits.then(() => body).then((hasRun) => (hasRun ? this.#commit(call, staged) : undefined))
  }

  /** False when the machinery broke under the body, so that there is nothing to commit. */
  async #body(staged: StagedExecution): Promise<boolean> {
    try {
      await staged.run()
      return true
    } catch (error) {
      this.#fail(error)
      return false
    } finally {
      this.#runningBodies--
      this.#onSlot()
    }
  }

  async #commit(call: ToolCallBlock, staged: StagedExecution): Promise<void> {
    try {
      const result = await staged.commit()
      appendResult(this.#batch, call, result)
      if (result.additionalContexts?.length) this.#batch.addContexts(result.additionalContexts)
      if (!result.isError && result.concludesTurn) this.concludesTurn = true
    } catch (error) {
      this.#fail(error)
    }
  }

  #request(call: ToolCallBlock): ExecutionRequest {
    const { agent, signal, onProgress } = this.#batch
    return {
      callId: call.id,
      name: call.name,
      arguments: argumentsFrom(call.arguments),
      agent,
      signal,
      onProgress: (text) => onProgress(call.id, text),
    }
  }

  async #slot(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onSlot = resolve
    })
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
  }
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
  const { append, turn, step } = batch
  append({ type: 'tool/call', data: { turn, step, callId: call.id, name: call.name, arguments: call.arguments } })
  appendResult(batch, call, {
    isError: true,
    error: { message: skippedText.text, info: { name: 'ToolError', code: 'ABORTED_BEFORE_DISPATCH' } },
    content: [skippedText],
  })
}
