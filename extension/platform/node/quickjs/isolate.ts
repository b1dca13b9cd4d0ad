import { Worker } from 'node:worker_threads'
import { parseSnapshot, type JsonArray } from '../../../base/json.ts'
import { isHarnessError } from '../../../base/harness-error.ts'
import { messageOf } from '../../../base/message-of.ts'
import { thrownText } from '../../../base/thrown-text.ts'
import { CodeError, type CodeProgram, type CodeRuntime } from '../../../capabilities/code-runtime.ts'
import { CONTROL_WORDS, POSTED, SLICE, STOP, UNREAD, weightOf, type Answer, type FromIsolate, type IsolateData, type Said, type ToIsolate } from './isolate-protocol.ts'

/** Of the thread: the machine of a program takes about 32 times the stack that the program may use. */
const STACK_MB = 16
/** Highest stack of a program that the thread's own can carry. */
export const MAX_STACK_BYTES = 524_288
/** Of the thread beside the program's own memory, which is counted there. */
const HEAP_MB = 128
/** Between two looks at a thread that runs a program. */
const LOOK_MS = 100
/** UTF-16 units. */
const LARGE_CHARS = 131_072
/** A port hands over up to a thousand messages before the loop comes round, and each may be answered without ever waiting. */
const MESSAGES_A_TURN = 8

/** A thread that runs one program at a time. It holds up no exit of the process. */
export class Isolate {
  readonly #thread: Worker
  readonly #control = new Int32Array(new SharedArrayBuffer(4 * CONTROL_WORDS))
  readonly #graceMs: number
  readonly #beginMs: number
  #onMessage: (message: FromIsolate) => void = () => undefined
  #onDeath: (reason: CodeError) => void = () => undefined
  #death: CodeError | undefined
  /** Came in one turn of the loop behind as many as it takes, in order. */
  #later: FromIsolate[] = []
  #received = 0
  /** Of what the host has looked at in this turn; the thread may say more once the loop has come round. */
  #takenWeight = 0
  #turn: NodeJS.Immediate | undefined

  constructor({ entry, wasm, graceMs, beginMs }: { entry: string | URL; wasm: WebAssembly.Module; graceMs: number; beginMs: number }) {
    this.#graceMs = graceMs
    this.#beginMs = beginMs
    const workerData: IsolateData = { wasm, control: this.#control }
    this.#thread = new Worker(entry, { workerData, execArgv: [], env: {}, stdout: true, stderr: true, resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB } })
    this.#thread.unref()
    // Posted by our own program.
    this.#thread.on('message', (message: FromIsolate) => this.#receive(message))
    this.#thread.on('error', (error) => this.#died(crashed(messageOf(error))))
    this.#thread.on('exit', () => this.#died(crashed('its thread ended')))
  }

  #receive(message: FromIsolate): void {
    if (this.#received < MESSAGES_A_TURN && this.#later.length === 0) {
      this.#received += 1
      this.#onMessage(message)
    } else this.#later.push(message)
    this.#turn ??= setImmediate(() => this.#goOn())
  }

  #goOn(): void {
    this.#turn = undefined
    this.#received = 0
    if (this.#takenWeight > 0) {
      Atomics.sub(this.#control, UNREAD, this.#takenWeight)
      Atomics.notify(this.#control, UNREAD)
      this.#takenWeight = 0
    }
    for (const message of this.#later.splice(0)) this.#receive(message)
  }

  /** It can take another program. */
  get isAlive(): boolean {
    return this.#death === undefined
  }

  /** Errors: `CodeError` when the thread died, or does not come to an end of it. */
  async check(source: string): Promise<string | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
    this.#onMessage = (message) => message.kind === 'checked' && resolve(message.problem ?? undefined)
    this.#onDeath = reject
    if (this.#death !== undefined) this.#onDeath(this.#death)
    const watch = this.#watch({ sliceMs: this.#beginMs, waitsForUs: () => false }, () => {
      reject(new CodeError('CODE_TIME', `The program could not be read within ${this.#beginMs} ms. Write less of it, or in a simpler way.`))
      void this.end()
    })
    this.#thread.ref()
    try {
      this.#post({ kind: 'check', source })
      return await promise
    } finally {
      watch.stop()
      this.#onMessage = () => undefined
      this.#onDeath = () => undefined
      this.#thread.unref()
    }
  }

  /** Errors: `CodeError`; every call has ended then. */
  async run(program: CodeProgram): ReturnType<CodeRuntime['run']> {
    const { source, language, name, prelude, limits, signal } = program
    const { promise, resolve, reject } = Promise.withResolvers<{ text: string; isNothing?: true; hasLeftCalls?: true; calls: number }>()
    const ending = new AbortController()
    const open = new Set<Promise<void>>()
    // A program that waits for one answer alone gets it at once; where more are under way they are sent together.
    const answers = this.#answers(() => open.size > 1)
    let before: Promise<unknown> | undefined
    Atomics.store(this.#control, STOP, 0)
    Atomics.store(this.#control, UNREAD, 0)
    this.#takenWeight = 0
    this.#onMessage = (message) => {
      if (message.kind !== 'news') return
      for (const said of message.said) {
        if (said.kind === 'print') program.print?.(said.level, said.text)
        else {
          const turn = this.#inTurn(said, before)
          before = turn
          const answer = (turn === undefined ? this.#answer(said, program, ending.signal) : turn.then(() => this.#answer(said, program, ending.signal)))
            .then(answers.add)
            .finally(() => open.delete(answer))
          open.add(answer)
        }
      }
      this.#takenWeight += message.said.reduce((sum, one) => sum + weightOf(one), 0)
      if (message.end === undefined) return
      const { outcome, calls } = message.end
      if ('text' in outcome) resolve({ ...outcome, calls })
      else reject(new CodeError(outcome.code, outcome.message))
    }
    this.#onDeath = reject
    if (this.#death !== undefined) this.#onDeath(this.#death)

    const watch = this.#watch({ sliceMs: limits.sliceMs, waitsForUs: () => open.size > 0 }, (error) => {
      reject(error)
      void this.end()
    })
    const cancel = () => {
      Atomics.store(this.#control, STOP, 1)
      Atomics.notify(this.#control, UNREAD)
      this.#post({ kind: 'stop' })
      watch.expectEnd(cancelled)
    }
    signal.addEventListener('abort', cancel, { once: true })
    this.#thread.ref()
    try {
      this.#post({ kind: 'run', source, ...(language && { language }), name, prelude, limits: { ...limits, stackBytes: Math.min(limits.stackBytes, MAX_STACK_BYTES) } })
      const { text, isNothing, hasLeftCalls, calls: made } = await promise
      // The text was written by the bootstrap within the program's context.
      return { value: parseSnapshot(text), ...(isNothing && { isNothing }), ...(hasLeftCalls && { hasLeftCalls }), calls: made }
    } finally {
      watch.stop()
      signal.removeEventListener('abort', cancel)
      this.#onMessage = () => undefined
      this.#onDeath = () => undefined
      this.#thread.unref()
      ending.abort(signal.aborted ? (signal.reason as Error) : cancelled())
      await Promise.all(open)
      answers.stop()
    }
  }

  /** `why` is what a program that runs is told. */
  async end(why: CodeError = crashed('it was ended')): Promise<void> {
    this.#died(why)
    await this.#thread.terminate()
  }

  /**
   * Tells when the thread is silent for longer than it may: in one slice, before its first, or after it was told to end.
   *
   * A program that waits for answers of ours may wait as long as those take. Time counts as it is looked at, so that a computer that slept holds nothing against it.
   */
  #watch({ sliceMs, waitsForUs }: { readonly sliceMs: number; readonly waitsForUs: () => boolean }, onSilence: (error: CodeError) => void): { stop: () => void; expectEnd: (error: () => CodeError) => void } {
    const first = Atomics.load(this.#control, SLICE)
    let seen = first
    let silentMs = 0
    let expected: { leftMs: number; readonly error: () => CodeError } | undefined
    const timer = setInterval(() => {
      const slice = Atomics.load(this.#control, SLICE)
      const isWaiting = slice % 2 === 0 && waitsForUs()
      silentMs = slice !== seen || isWaiting ? 0 : silentMs + LOOK_MS
      seen = slice
      if (expected !== undefined) expected.leftMs -= LOOK_MS
      if (expected !== undefined && expected.leftMs < 0) onSilence(expected.error())
      else if (silentMs > (slice === first ? Math.max(this.#beginMs, sliceMs) : sliceMs) + this.#graceMs) {
        onSilence(new CodeError('CODE_TIME', `The program computed for more than ${sliceMs} ms without waiting for anything, in a way that nothing could interrupt. Do less at once.`))
      }
    }, LOOK_MS)
    return { stop: () => clearInterval(timer), expectEnd: (error) => (expected ??= { leftMs: this.#graceMs, error }) }
  }

  /** What is answered in one turn of the loop crosses together. */
  #answers(areMore: () => boolean): { readonly add: (answer: Answer) => void; readonly stop: () => void } {
    let answers: Answer[] = []
    let next: NodeJS.Immediate | undefined
    const send = () => {
      clearImmediate(next)
      next = undefined
      const all = answers
      answers = []
      this.#post({ kind: 'answers', answers: all })
    }
    return {
      add(answer) {
        answers.push(answer)
        if (!areMore()) send()
        else next ??= setImmediate(send)
      },
      stop: () => clearImmediate(next),
    }
  }

  /** A large text is read in a turn of its own, and what was said behind it no sooner: calls stay in their order. */
  #inTurn({ text }: Said, before: Promise<unknown> | undefined): Promise<unknown> | undefined {
    return text.length > LARGE_CHARS ? (before ?? Promise.resolve()).then(() => new Promise((resolve) => setImmediate(resolve))) : before
  }

  async #answer({ call, name, text }: Said & { kind: 'call' }, program: CodeProgram, signal: AbortSignal): Promise<Answer> {
    try {
      // The program may have ended while this waited for its turn.
      signal.throwIfAborted()
      // Written by the bootstrap: always an array.
      const value = await program.call(name, parseSnapshot(text) as JsonArray, signal)
      return { call, ok: true, text: JSON.stringify(value) }
    } catch (error) {
      const known = isHarnessError(error) ? { name: error.name, code: error.code } : { name: error instanceof Error ? error.name : 'Error' }
      return { call, ok: false, text: JSON.stringify({ ...known, message: thrownText(error) ?? 'The call failed without a reason.' }) }
    }
  }

  #post(message: ToIsolate): void {
    if (this.#death !== undefined) return
    this.#thread.postMessage(message, [])
    Atomics.add(this.#control, POSTED, 1)
    Atomics.notify(this.#control, POSTED)
  }

  #died(reason: CodeError): void {
    if (this.#death !== undefined) return
    // What it said before it ended counts.
    for (const message of this.#later.splice(0)) this.#onMessage(message)
    clearImmediate(this.#turn)
    this.#death = reason
    this.#onDeath(reason)
  }
}

const cancelled = () => new CodeError('CODE_CANCELLED', 'The program was cancelled.')
const crashed = (reason: string) => new CodeError('CODE_CRASHED', `The program broke what it ran in (${reason.replace(/\.$/, '')}). Let it do less at once.`)
