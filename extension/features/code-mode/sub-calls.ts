import type { Json } from '../../base/json.ts'
import type { ToolContent, UserMessage } from '../../core/log/message.ts'
import { CallLane } from '../../core/tools/call-lane.ts'
import { argumentsOf, failureOf } from '../../core/tools/pipeline.ts'
import { ToolError, type BodyExecution, type ToolResult } from '../../core/tools/definition.ts'
import type { Tools } from '../../core/tools/service.ts'
import type { DispatchPlace } from '../../core/tools/code-dispatch.ts'

export interface SubCallParts {
  readonly tools: Pick<Tools, 'begin' | 'executionMode' | 'get'>
  /** The call that runs the program. */
  readonly exec: BodyExecution
  /** Read for each group of calls that overlap. */
  readonly maxParallel: () => number
  readonly newId: () => string
  /** A call begins. */
  readonly onStart: (place: DispatchPlace) => void
  /** Its body has ended. */
  readonly onRan?: (subCallId: string) => void
  /** Write down how a call ended. Nobody waits for it but the end of the program, and calls when too many are behind. */
  readonly record: (place: DispatchPlace, result: ToolResult) => Promise<void>
  /** Live output of the body of a call. */
  readonly onProgress: (subCallId: string, text: string) => void
}

/**
 * The calls of one program: each goes through the whole pipeline, as a call of the model would.
 *
 * They start and settle in the order in which the program made them; those that are declared safe overlap. The program has a value as soon
 * as it stands; writing it down follows. What still runs when the program ends is stopped and waited for, what waits never begins.
 * Source: runtime specification 7.3.
 */
export class SubCalls {
  readonly #parts: SubCallParts
  readonly #ending = new AbortController()
  readonly #lane: CallLane
  #count = 0
  #begun = 0
  /** One after the other, as they were made. */
  #starts: Promise<unknown> = Promise.resolve()
  /** What is being written down, in order, and how many. */
  #records: Promise<void> = Promise.resolve()
  #behind = 0
  #recordFailure: { readonly error: unknown } | undefined

  constructor(parts: SubCallParts) {
    this.#parts = parts
    const { tools, maxParallel, exec } = parts
    // One signal for all of them: joining signals for each call would keep every call alive.
    const stop = () => this.#ending.abort(exec.signal.reason)
    if (exec.signal.aborted) stop()
    else exec.signal.addEventListener('abort', stop, { once: true })
    this.#ending.signal.addEventListener('abort', () => exec.signal.removeEventListener('abort', stop), { once: true })
    this.#lane = new CallLane({ tools, maxParallel, signal: this.#ending.signal })
  }

  /** Calls that began; those that waited for their turn to the end are none. */
  get begun(): number {
    return this.#begun
  }

  /** The canonical value. `over` fires when the program has ended. Errors: whatever the call failed with. */
  async call(name: string, given: Json, over: AbortSignal): Promise<Json> {
    // Once for all who take it over: the classifier, the pipeline, the log.
    const args = argumentsOf(name, given)
    if (over.aborted) this.#stop()
    else if (this.#count === 0) over.addEventListener('abort', () => this.#stop(), { once: true })
    const { tools, exec, newId, onStart, onRan, onProgress, maxParallel } = this.#parts
    const from = tools.get(name, exec.agent?.scope ?? null)?.from
    const subCallId = `${exec.callId}:code:${++this.#count}`
    const place: DispatchPlace = { rootCallId: exec.rootCallId, parentCallId: exec.callId, subCallId, name, arguments: args, ...(from !== undefined && { from }) }
    const { promise, resolve, reject } = Promise.withResolvers<Json>()
    let isRecorded = false
    const record = (result: ToolResult) => {
      if (!isRecorded) this.#record(place, result)
      isRecorded = true
    }
    const started = this.#starts.then(async () => {
      if (this.#behind > Math.max(1, maxParallel())) await this.#records
      return await this.#lane.start({
        request: {
          callId: subCallId,
          rootCallId: exec.rootCallId,
          name,
          arguments: args,
          ...(exec.agent && { agent: exec.agent }),
          parent: exec.token,
          hasCard: true,
          signal: this.#ending.signal,
          onProgress: (text) => onProgress(subCallId, text),
        },
        onStart: () => {
          this.#begun += 1
          onStart(place)
        },
        onRan: () => onRan?.(subCallId),
        onResult: (result) => {
          record(result)
          this.#passOn(result, newId)
          if (result.isError) reject(new Error(result.error.message))
          else resolve(result.value)
        },
        onFailure: (error) => {
          // What has begun has an end in the log, also where the machinery broke.
          record(failureOf(error))
          reject(error)
        },
      })
    })
    this.#starts = started
    if (!(await started)) reject(new ToolError('ABORTED_BEFORE_DISPATCH', 'The program has ended, so this call was not made.'))
    return await promise
  }

  /** Stop what runs; resolves when every call has ended and all is written down. Errors: a defect of the machinery, the first. */
  async end(): Promise<void> {
    this.#stop()
    await this.#starts
    await this.#lane.drain()
    await this.#records
    this.#lane.throwFailure()
    if (this.#recordFailure) throw this.#recordFailure.error
  }

  #stop(): void {
    this.#ending.abort(new ToolError('ABORTED', 'The program that made this call has ended.'))
  }

  #record(place: DispatchPlace, result: ToolResult): void {
    this.#behind += 1
    this.#records = this.#records
      .then(() => this.#parts.record(place, result))
      .catch((error: unknown) => void (this.#recordFailure ??= { error }))
      .finally(() => void (this.#behind -= 1))
  }

  /** What the model is to see of a call beside the program's own result. */
  #passOn(result: ToolResult, newId: () => string): void {
    const { exec } = this.#parts
    const images = result.isError ? [] : result.content.filter(({ type }) => type === 'image')
    if (images.length > 0) exec.deferContext(pictureMessage(newId(), images))
    for (const message of result.additionalContexts ?? []) exec.deferContext(message)
    if (!result.isError && result.concludesTurn) exec.concludeTurn()
  }
}

const pictureMessage = (id: string, images: readonly ToolContent[]): UserMessage => ({
  id,
  role: 'user',
  content: images,
  source: { kind: 'plugin', plugin: 'tools-code-mode', form: 'notice', summary: images.length === 1 ? 'A picture that the program read' : `${images.length} pictures that the program read` },
})
