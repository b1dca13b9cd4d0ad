import { isErrorOf, isHarnessError } from '../../base/harness-error.ts'
import type { Json } from '../../base/json.ts'
import { clipped } from '../../base/text.ts'
import { thrownText } from '../../base/thrown-text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { CodeError, type CodeRuntime } from '../../capabilities/code-runtime.ts'
import { HANDLER_MS, MAX_ASKS, MAX_LINE_CHARS, MAX_LINES, MAX_TASKS_AT_ONCE, MAX_WAITING_EVENTS, STOP_MS, hostLimits } from './caps.ts'
import { readDeclared, type Declared } from './declared.ts'
import { DynamicPluginError } from './error.ts'
import { observedEventNames } from './observed-events.ts'
import { CLOSING, OPENING, prelude } from './prelude.ts'

export interface HostRunParts {
  readonly codeRuntime: Pick<CodeRuntime, 'run'>
  readonly clock: Pick<Clock, 'schedule'>
  /** The body of the host half. */
  readonly code: string
  readonly onEmit: (name: string, payload: Json) => void
  /** `ctx.inspect`. Errors: thrown in the plugin. */
  readonly inspect: (provider: string, method: string, input: Json | undefined) => Promise<Json>
}

type Task = { readonly kind: 'handler' | 'tool' | 'event'; readonly id: number; readonly name: string; readonly value: Json }

/** What a tool may call while it runs. */
export type CallTool = (name: string, args: Json) => Promise<Json>

interface Open {
  readonly resolve: (value: Json) => void
  readonly reject: (error: Error) => void
  readonly callTool?: CallTool
}

/** The plugin itself failed at what it was asked; the message is its own. */
export class TaskError extends Error {
  override readonly name = 'TaskError'
}

/**
 * The host half of one run: one long-lived program in a machine of its own, which is given one task after the other.
 *
 * Everything that comes from it is looked at, since its body may do whatever the language can.
 */
export class HostRun {
  /** Why it ended; undefined when it was asked to. Never rejects. */
  readonly ended: Promise<string | undefined>
  readonly #parts: HostRunParts
  readonly #ending = new AbortController()
  readonly #declared = Promise.withResolvers<Declared>()
  readonly #open = new Map<number, Open>()
  readonly #lines: string[] = []
  #waiting: (Task | { readonly kind: 'stop' })[] = []
  #next: { readonly give: (task: Task | { readonly kind: 'stop' }) => void; readonly fail: (error: Error) => void } | undefined
  #isWatched = false
  #ids = 0
  #asks = 0
  #hasDeclared = false
  #missedEvents = 0
  #stopping: Promise<void> | undefined
  #reason: string | undefined

  constructor(parts: HostRunParts) {
    this.#parts = parts
    // Whoever starts it awaits it; when it ends before, `ended` says so too.
    this.#declared.promise.catch(() => undefined)
    this.ended = this.#run()
  }

  /** Resolves when the body and `apply` have run and said what they bring. Errors: `DynamicPluginError` `RUN_FAILED` with what happened. */
  get started(): Promise<Declared> {
    return this.#declared.promise
  }

  /** The last lines it wrote, oldest first. */
  get lines(): readonly string[] {
    return this.#lines
  }

  /** Errors: `TaskError` with the plugin's own words; `DynamicPluginError` `RUN_FAILED` when it takes too long, has too much to do or has ended. */
  async handle(method: string, payload: Json): Promise<Json> {
    const controller = new AbortController()
    const undo = this.#parts.clock.schedule(HANDLER_MS, () => controller.abort(new DynamicPluginError('RUN_FAILED', `${method} did not answer within ${HANDLER_MS} ms.`)))
    try {
      return await this.#ask('handler', method, payload, { signal: controller.signal })
    } finally {
      undo()
    }
  }

  /** Errors: as `handle`; the signal's reason. */
  async runTool(name: string, args: Json, { signal, callTool }: { readonly signal: AbortSignal; readonly callTool: CallTool }): Promise<Json> {
    return await this.#ask('tool', name, args, { signal, callTool })
  }

  /** Nobody waits for it. When it is behind, the oldest that wait are left out, and its lines say how many. */
  tell(event: string, facts: Json): void {
    if (this.#stopping !== undefined || this.#ending.signal.aborted) return
    const behind = this.#waiting.filter(({ kind }) => kind === 'event')
    if (behind.length >= MAX_WAITING_EVENTS) {
      this.#waiting = this.#waiting.filter((task) => task !== behind[0])
      this.#missedEvents += 1
      if (this.#missedEvents === 1 || this.#missedEvents % 100 === 0) this.#note('warn', `${this.#missedEvents} events were left out, since the plugin is behind.`)
    }
    this.#put({ kind: 'event', id: ++this.#ids, name: event, value: facts })
  }

  /** Runs its undos, for `STOP_MS` at most, then takes the machine away. What it was at fails with `why`. Resolves when it has ended; never rejects. */
  stop(why: string): Promise<void> {
    this.#stopping ??= this.#stop(why)
    return this.#stopping
  }

  async #stop(why: string): Promise<void> {
    this.#declared.reject(new DynamicPluginError('RUN_FAILED', why))
    this.#failOpen(why)
    // A body that still runs hears of nothing; its machine goes at once.
    if (!this.#hasDeclared) this.#ending.abort()
    const undo = this.#parts.clock.schedule(STOP_MS, () => this.#ending.abort())
    this.#waiting = []
    this.#put({ kind: 'stop' })
    await this.ended
    undo()
  }

  async #run(): Promise<string | undefined> {
    const { codeRuntime, code } = this.#parts
    try {
      await codeRuntime.run({
        source: `${OPENING}${code}${CLOSING}`,
        name: 'host.js',
        prelude: prelude(observedEventNames),
        limits: hostLimits,
        signal: this.#ending.signal,
        call: (name, args, over) => this.#answer(name, args, over),
      })
      if (this.#stopping === undefined) this.#reason ??= 'The plugin ended by itself.'
    } catch (error) {
      if (this.#stopping === undefined || !isErrorOf(CodeError, error, 'CODE_CANCELLED')) this.#reason ??= placesOfBody(thrownText(error) ?? 'It failed without a reason.')
    }
    const why = this.#reason ?? 'The plugin was stopped.'
    this.#ending.abort()
    this.#declared.reject(new DynamicPluginError('RUN_FAILED', `The host half did not start: ${why}`))
    this.#failOpen(why)
    return this.#stopping === undefined ? this.#reason : undefined
  }

  async #ask(kind: 'handler' | 'tool', name: string, value: Json, { signal, callTool }: { readonly signal: AbortSignal; readonly callTool?: CallTool }): Promise<Json> {
    if (this.#stopping !== undefined || this.#ending.signal.aborted) throw new DynamicPluginError('RUN_FAILED', 'The plugin does not run any more.')
    if (this.#open.size >= MAX_TASKS_AT_ONCE) throw new DynamicPluginError('RUN_FAILED', `The plugin is at ${MAX_TASKS_AT_ONCE} tasks already. Wait for some of them to end.`)
    signal.throwIfAborted()
    const id = ++this.#ids
    const { promise, resolve, reject } = Promise.withResolvers<Json>()
    this.#open.set(id, { resolve, reject, ...(callTool && { callTool }) })
    const stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
    this.#put({ kind, id, name, value })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', stop)
      this.#open.delete(id)
      this.#waiting = this.#waiting.filter((task) => task.kind === 'stop' || task.id !== id)
    }
  }

  #put(task: Task | { readonly kind: 'stop' }): void {
    const next = this.#next
    if (next === undefined) {
      this.#waiting.push(task)
      return
    }
    this.#next = undefined
    this.#asks = 0
    next.give(task)
  }

  /** Whatever comes from the machine. Errors: thrown in the plugin. */
  async #answer(name: string, args: readonly Json[], over: AbortSignal): Promise<Json> {
    // It is the same signal each time, and the plugin may live long. What a tool had called would else hold up the end of a dead machine.
    if (!this.#isWatched) over.addEventListener('abort', () => this.#cutOff(), { once: true })
    this.#isWatched = true
    if (name === 'next') return await this.#nextTask()
    if (name === 'reply') return this.#reply(args)
    this.#asks += 1
    if (this.#asks > MAX_ASKS) {
      this.#reason ??= `It asked more than ${MAX_ASKS} things of the host without being given anything to do. Look for a loop that never ends, or let it do less.`
      this.#ending.abort()
      throw new TaskError(this.#reason)
    }
    const [first, second, third] = args
    switch (name) {
      case 'declared':
        if (this.#hasDeclared) throw new TaskError('A plugin says once what it brings.')
        this.#hasDeclared = true
        try {
          this.#declared.resolve(readDeclared(first))
        } catch (error) {
          this.#declared.reject(error)
        }
        return null
      case 'log':
        this.#note(wordOf(first), wordOf(second))
        return null
      case 'emit':
        this.#parts.onEmit(wordOf(first), second ?? null)
        return null
      case 'inspect':
        return await this.#parts.inspect(wordOf(first), wordOf(second), third)
      case 'call': {
        const callTool = typeof first === 'number' ? this.#open.get(first)?.callTool : undefined
        if (callTool === undefined) throw new TaskError('Tools are called only while a tool of the plugin runs, and this one has ended.')
        return await callTool(wordOf(second), third ?? {})
      }
      default:
        throw new TaskError(`There is nothing named ${name} to ask for.`)
    }
  }

  async #nextTask(): Promise<Json> {
    if (this.#next !== undefined) throw new TaskError('It waits for a task already.')
    const task = this.#waiting.shift()
    if (task !== undefined) {
      this.#asks = 0
      return task
    }
    return await new Promise<Json>((give, fail) => {
      this.#next = { give, fail }
    })
  }

  #reply([id, ok, value]: readonly Json[]): Json {
    const open = typeof id === 'number' ? this.#open.get(id) : undefined
    if (open !== undefined) {
      if (ok === true) open.resolve(value ?? null)
      else open.reject(new TaskError(wordOf(value)))
    } else if (ok !== true) this.#note('error', `A listener, or a call that nobody waits for any more, failed: ${wordOf(value)}`)
    return null
  }

  /** The machine is gone. */
  #cutOff(): void {
    this.#next?.fail(new TaskError('The plugin has ended.'))
    this.#next = undefined
    this.#failOpen('The plugin has ended.')
  }

  #failOpen(why: string): void {
    for (const { reject } of this.#open.values()) reject(new DynamicPluginError('RUN_FAILED', why))
  }

  #note(level: string, line: string): void {
    this.#lines.push(clipped(`${level}: ${line}`, MAX_LINE_CHARS))
    if (this.#lines.length > MAX_LINES) this.#lines.shift()
  }
}

/** What should be a text: the prelude sends one, and whatever else comes is no word. */
const wordOf = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

/** What stands before the body on its first line is none of it. */
const placesOfBody = (text: string): string => text.replace(/\bhost\.js:1:(\d+)/g, (_, column: string) => `host.js:1:${Math.max(1, Number(column) - OPENING.length)}`)

/** What a plugin may be told of a failure: ours by their words, others likewise. */
export const wordsOf = (error: unknown): string => (isHarnessError(error) || error instanceof Error ? error.message : (thrownText(error) ?? 'It failed without a reason.'))
