import type { ExecutionRequest, ToolResult } from './definition.ts'
import type { StagedExecution, Tools } from './service.ts'

/** One call that goes through a lane. What the two callbacks throw is a defect of the machinery and stops the lane. */
export interface LaneCall {
  readonly request: ExecutionRequest
  /** It starts now: nothing of it has happened yet. */
  readonly onStart: () => void
  /** Its result stands. Awaited before the next result is committed. */
  readonly onResult: (result: ToolResult) => void | Promise<void>
  /** Its body has ended; the result may wait for those before it. */
  readonly onRan?: () => void
  /** It has started and will have no result, since the machinery broke under it. */
  readonly onFailure?: (error: unknown) => void
}

export interface LaneParts {
  readonly tools: Pick<Tools, 'begin' | 'executionMode'>
  /** Read once for each group of overlapping calls; below 1 counts as 1. */
  readonly maxParallel: () => number
  /** Nothing more starts while it fires; what runs is waited for all the same. */
  readonly signal: AbortSignal
}

/**
 * Runs calls as they come: exclusive unless declared otherwise, policy and results in the order of the calls.
 *
 * Neighbours that may overlap form a rolling pool; an exclusive call waits until the pool is empty and everything before it is committed.
 * Policy (and so approval) is awaited before the next call starts; only bodies overlap.
 * Shape:  `start` is called for one call after the other, each awaited.
 * Errors: a defect of the machinery itself (not of a tool) stops new starts and is thrown by `throwFailure`, once everything has ended.
 * Source: runtime specification 6, 7.3.
 */
export class CallLane {
  readonly #parts: LaneParts
  #runningBodies = 0
  /** Commits one after the other; the end of it is the end of everything that started. */
  #commits: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | null = null
  #onSlot: () => void = () => {}
  /** Null between groups. */
  #groupCap: number | null = null

  constructor(parts: LaneParts) {
    this.#parts = parts
  }

  /** Start a call as soon as it may. Resolves when the next one may be looked at; false when the lane stopped before this one began. */
  async start(call: LaneCall): Promise<boolean> {
    try {
      while (!this.isStopped) {
        if (this.#mode(call) === 'exclusive') {
          this.#groupCap = null
          await this.drain()
          // What was committed meanwhile may have changed the registration, and with it the answer.
          if (this.isStopped || this.#mode(call) !== 'exclusive') continue
          await this.#begin(call)
          await this.drain()
          return true
        }
        this.#groupCap ??= Math.max(1, this.#parts.maxParallel())
        if (this.#runningBodies >= this.#groupCap) {
          await this.#slot()
          continue
        }
        await this.#begin(call)
        return true
      }
    } catch (error) {
      this.#fail(error)
    }
    return false
  }

  get isStopped(): boolean {
    return this.#failure !== null || this.#parts.signal.aborted
  }

  /** Wait until every body has ended and every commit is done. */
  async drain(): Promise<void> {
    await this.#commits
  }

  throwFailure(): void {
    if (this.#failure) throw this.#failure.error
  }

  #mode({ request }: LaneCall): 'parallel' | 'exclusive' {
    return this.#parts.tools.executionMode(request)
  }

  /** Write the call, settle policy, let the body go. */
  async #begin(call: LaneCall): Promise<void> {
    call.onStart()
    const staged = this.#parts.tools.begin(call.request)
    await staged.prepare()
    this.#runningBodies++
    const body = this.#body(call, staged)
    this.#commits = this.#commits.then(() => body).then((hasRun) => (hasRun ? this.#commit(call, staged) : undefined))
  }

  /** False when the machinery broke under the body, so that there is nothing to commit. */
  async #body({ onRan, onFailure }: LaneCall, staged: StagedExecution): Promise<boolean> {
    try {
      await staged.run()
      return true
    } catch (error) {
      this.#fail(error)
      onFailure?.(error)
      return false
    } finally {
      this.#runningBodies--
      onRan?.()
      this.#onSlot()
    }
  }

  async #commit(call: LaneCall, staged: StagedExecution): Promise<void> {
    try {
      await call.onResult(await staged.commit())
    } catch (error) {
      this.#fail(error)
      call.onFailure?.(error)
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
