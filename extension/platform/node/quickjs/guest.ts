import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSContext, type QuickJSHandle, type QuickJSRuntime, type QuickJSWASMModule } from 'quickjs-emscripten-core'
import variant from '@jitl/quickjs-wasmfile-release-sync'
import { thrownText } from '../../../base/thrown-text.ts'
import type { CodeErrorCode, CodeLimits, CodeProgram } from '../../../capabilities/code-runtime.ts'
import { bootstrap } from './bootstrap.ts'
import { MAX_MESSAGE_CHARS, MAX_UNREAD, SLICE, STOP, UNREAD, weightOf, type Answer, type FromIsolate, type IsolateOutcome, type PrintLevel, type Said } from './isolate-protocol.ts'

export interface GuestProgram {
  /** JavaScript. */
  readonly source: string
  /** Of what it was written in: TypeScript is strict. */
  readonly language?: CodeProgram['language']
  readonly name: string
  readonly prelude: string
  readonly limits: CodeLimits
}

/** A machine for one program, with a memory of its own that goes with it. */
export interface Machine {
  readonly quickjs: QuickJSWASMModule
  readonly memory: WebAssembly.Memory
  readonly memoryBytes: number
  /** It asked for memory and got none: whatever a program does about that, it is at its cap. */
  readonly isRefused: () => boolean
}

const PAGE_BYTES = 65_536
/** What the machine is built for. */
const MIN_PAGES = 256

/** The cap is on all the memory of the machine: what QuickJS counts by itself leaves out most of it. */
export async function createMachine(wasm: WebAssembly.Module, memoryBytes: number): Promise<Machine> {
  const memory = new WebAssembly.Memory({ initial: MIN_PAGES, maximum: Math.max(MIN_PAGES, Math.floor(memoryBytes / PAGE_BYTES)) })
  let isRefused = false
  const grow = memory.grow.bind(memory)
  memory.grow = (pages) => {
    // The machine asks for more than it needs first, then for less.
    isRefused = true
    const before = grow(pages)
    isRefused = false
    return before
  }
  return { quickjs: await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule: wasm, wasmMemory: memory })), memory, memoryBytes, isRefused: () => isRefused }
}

/** What stands before a program on its first line, so that all line numbers are the program's own. */
const openings = { loose: '(async () => {', strict: "(async () => {'use strict';" } as const
const asFunction = (source: string, opening: string = openings.loose) => `${opening}${source}\n})`

/** Why it does not parse; null when it does. It does not run. */
export function syntaxProblem({ quickjs }: Machine, source: string): string | null {
  const context = quickjs.newContext()
  try {
    const parsed = context.evalCode(asFunction(source), 'program', { type: 'global', compileOnly: true })
    if (!parsed.error) {
      parsed.value.dispose()
      return null
    }
    return syntaxWords(context, parsed.error, { name: 'program', lineCount: lineCount(source), opening: openings.loose })
  } catch (error) {
    return `it is nested too deeply (${String(error)})`
  }
}

/** Jobs between two looks at whether the program has to end. */
const JOBS_AT_ONCE = 256
/** What each line counts for beside its text. */
const LINE_BYTES = 64
/** Weight of what is said to the host at once. */
const MAX_NEWS = 65_536
/** Between two looks at whether the program has to end, while it waits for the host to take what it said. */
const LOOK_MS = 20

/**
 * One program in its context, driven by its own jobs and the answers it waits for.
 *
 * A slice is all it does without waiting: its first run, or what follows an answer, with every promise callback. Whatever interrupts it is
 * kept here, since in a promise an interruption looks like a rejection that the program might catch.
 */
export class Guest {
  readonly #post: (message: FromIsolate) => void
  readonly #control: Int32Array
  readonly #limits: CodeLimits
  readonly #text: ProgramText
  readonly #machine: Machine
  readonly #runtime: QuickJSRuntime
  readonly #context: QuickJSContext
  #settle: QuickJSHandle | undefined
  #outcome: IsolateOutcome | undefined
  #deadline = Infinity
  /** Computed so far, over all slices. */
  #computedMs = 0
  #calls = 0
  #open = 0
  #printedBytes = 0
  #said: Said[] = []
  #saidWeight = 0

  constructor({ machine, program, control, post }: { machine: Machine; program: GuestProgram; control: Int32Array; post: (message: FromIsolate) => void }) {
    this.#post = post
    this.#control = control
    this.#limits = program.limits
    this.#text = { name: program.name, lineCount: lineCount(program.source), opening: program.language === undefined ? openings.loose : openings.strict }
    this.#machine = machine
    this.#runtime = machine.quickjs.newRuntime()
    this.#runtime.setMaxStackSize(program.limits.stackBytes)
    this.#runtime.setInterruptHandler(() => this.#mustEnd())
    this.#context = this.#runtime.newContext()
    this.#slice(() => this.#begin(program))
  }

  get isOver(): boolean {
    return this.#outcome !== undefined
  }

  answer(answers: readonly Answer[]): void {
    this.#slice(() => {
      const context = this.#context
      for (const { call, ok, text } of answers) {
        if (this.#mustEnd()) return
        this.#open -= 1
        this.#called(this.#settle!, context.newNumber(call), ok ? context.true : context.false, context.newString(text))
      }
    })
  }

  /** The host wants it to end, and says why in the control. */
  stop(): void {
    this.#slice(() => void this.#mustEnd())
  }

  #begin({ source, name, prelude }: GuestProgram): void {
    const context = this.#context
    const send = context.newFunction('send', (call, name_, text) => this.#send(context.getNumber(call), context.getString(name_), context.getString(text)))
    const print = context.newFunction('print', (level, text) => this.#print(context.getString(level) as PrintLevel, context.getString(text)))
    const end = context.newFunction('end', (kind, text) => this.#end(context.getString(kind), context.getString(text)))
    const make = this.#evaluated(bootstrap, 'bootstrap')
    if (make === null) return
    const { outputBytes, callsAtOnce } = this.#limits
    const tools = this.#called(make, send, print, end, context.newNumber(callsAtOnce), context.newNumber(outputBytes))
    if (tools === null) return
    this.#settle = context.getProp(tools, 'settle')
    const names = this.#evaluated(`(function (host) {'use strict';${prelude}\n})`, 'prelude')
    if (names === null) return
    const explain = this.#called(names, context.getProp(tools, 'host'))
    if (explain === null) return
    const program = this.#evaluated(asFunction(source, this.#text.opening), name)
    if (program !== null) this.#called(context.getProp(tools, 'start'), program, explain)
  }

  #evaluated(source: string, name: string): QuickJSHandle | null {
    const result = this.#context.evalCode(source, name, { type: 'global' })
    if (!result.error) return result.value
    this.#failed(result.error)
    return null
  }

  #called(callee: QuickJSHandle, ...args: QuickJSHandle[]): QuickJSHandle | null {
    const result = this.#context.callFunction(callee, this.#context.undefined, ...args)
    for (const arg of args) if (arg.alive) arg.dispose()
    if (!result.error) return result.value
    this.#failed(result.error)
    return null
  }

  /** `work` and every job that follows from it. Never throws. */
  #slice(work: () => void): void {
    if (this.isOver) return
    const { sliceMs, computeMs = Infinity } = this.#limits
    const begun = performance.now()
    const allowedMs = Math.min(sliceMs, computeMs - this.#computedMs)
    this.#deadline = begun + allowedMs
    Atomics.add(this.#control, SLICE, 1)
    try {
      work()
      while (!this.isOver && !this.#mustEnd()) {
        const jobs = this.#runtime.executePendingJobs(JOBS_AT_ONCE)
        const done = jobs.error ? JOBS_AT_ONCE : jobs.value
        jobs.dispose()
        if (done === 0) break
      }
      if (!this.isOver && this.#open === 0) this.#stuck()
    } catch (error) {
      // The machine's own stack is full, or it has aborted; it is thrown away after this run in any case.
      const isStack = error instanceof RangeError
      if (!isStack && this.#isFull()) this.#finish('CODE_MEMORY', memoryWords(this.#limits))
      this.#finish(isStack ? 'CODE_STACK' : 'CODE_CRASHED', isStack ? stackWords : `The program broke its machine: ${String(error)}`)
    } finally {
      Atomics.add(this.#control, SLICE, 1)
      // The deadline has moved by what it waited for the host.
      this.#computedMs += performance.now() - begun - (this.#deadline - begun - allowedMs)
      this.#deadline = Infinity
    }
    this.#tell()
  }

  /** Asked from within the program, every few thousand of its instructions: what it has said until then goes out too. */
  #mustEnd(): boolean {
    if (this.isOver) return true
    if (this.#said.length > 0) this.#pass()
    // Who ran out of memory may have caught it, or be a promise that nobody waits for.
    if (this.#machine.isRefused()) this.#finish('CODE_MEMORY', memoryWords(this.#limits))
    if (Atomics.load(this.#control, STOP) !== 0) this.#finish('CODE_CANCELLED', 'The program was cancelled.')
    else if (performance.now() > this.#deadline) this.#finish('CODE_TIME', this.#computedMs === 0 ? sliceWords(this.#limits) : computeWords(this.#limits, this.#computedMs))
    return this.isOver
  }

  #send(call: number, name: string, text: string): void {
    if (this.isOver) return
    this.#calls += 1
    if (this.#limits.calls > 0 && this.#calls > this.#limits.calls) {
      this.#finish('CODE_CALLS', `The program made more than ${this.#limits.calls} calls. Let it make fewer, or split the work over several runs.`)
      return
    }
    this.#open += 1
    this.#say({ kind: 'call', call, name, text })
  }

  #print(level: PrintLevel, text: string): void {
    if (this.isOver) return
    this.#printedBytes += Buffer.byteLength(text) + LINE_BYTES
    if (this.#printedBytes > this.#limits.outputBytes) this.#finish('CODE_OUTPUT', outputWords(this.#limits))
    else this.#say({ kind: 'print', level, text })
  }

  #say(said: Said): void {
    this.#said.push(said)
    this.#saidWeight += weightOf(said)
    if (this.#saidWeight >= MAX_NEWS) this.#pass()
  }

  /** Hand on what was said. The program goes on when the host has taken enough of it; meanwhile it does not compute. */
  #pass(): void {
    const weight = this.#saidWeight
    const news: FromIsolate = { kind: 'news', said: this.#said, ...(this.#outcome && { end: { outcome: this.#outcome, calls: this.#calls } }) }
    this.#said = []
    this.#saidWeight = 0
    Atomics.add(this.#control, UNREAD, weight)
    this.#post(news)
    if (this.isOver) return
    const since = performance.now()
    for (let unread = Atomics.load(this.#control, UNREAD); unread > MAX_UNREAD && Atomics.load(this.#control, STOP) === 0; unread = Atomics.load(this.#control, UNREAD)) Atomics.wait(this.#control, UNREAD, unread, LOOK_MS)
    this.#deadline += performance.now() - since
  }

  #end(kind: string, text: string): void {
    const left = this.#open > 0 && ({ hasLeftCalls: true } as const)
    if (kind === 'nothing') this.#outcome ??= { text, isNothing: true, ...left }
    else if (kind === 'value') {
      if (this.#printedBytes + Buffer.byteLength(text) > this.#limits.outputBytes) this.#finish('CODE_OUTPUT', outputWords(this.#limits))
      else this.#outcome ??= { text, ...left }
    } else if (kind === 'loss') this.#finish('CODE_RESULT', `What the program returns is no plain JSON: ${text}`)
    else this.#thrown(text)
  }

  /** What left the context as an exception, before the program had a promise to reject. */
  #failed(error: QuickJSHandle): void {
    if (this.#mustEnd()) return
    const { name, message, stack } = thrownParts(this.#context, error)
    if (message === 'stack overflow') this.#finish('CODE_STACK', stackWords)
    else if (name === 'SyntaxError') this.#finish('CODE_SYNTAX', syntaxWords(this.#context, error, this.#text))
    else this.#thrown(JSON.stringify([name, message, stack]))
  }

  #thrown(text: string): void {
    // Written by the bootstrap: three strings.
    const [name, message, stack] = JSON.parse(text) as [string, string, string]
    if (name === 'InternalError' && message === 'out of memory') this.#finish('CODE_MEMORY', memoryWords(this.#limits))
    else if (name === 'InternalError' && message === 'stack overflow') this.#finish('CODE_STACK', stackWords)
    else this.#finish('CODE_THROWN', `${name === '' ? message : `${name}: ${message}`}${placesOf(stack, this.#text)}`)
  }

  #stuck(): void {
    this.#finish('CODE_THROWN', 'The program waits for a promise that nothing will settle. Await only calls, and promises that resolve.')
  }

  /** A machine that broke for want of memory need not have asked for more. */
  #isFull(): boolean {
    return this.#machine.isRefused() || this.#machine.memory.buffer.byteLength > this.#limits.memoryBytes * 0.9
  }

  #finish(code: CodeErrorCode, message: string): void {
    this.#outcome ??= { code, message: message.slice(0, MAX_MESSAGE_CHARS * 2).toWellFormed() }
  }

  #tell(): void {
    if (this.#said.length > 0 || this.isOver) this.#pass()
  }
}

const stackWords = 'The program calls itself too deeply. Use a loop, or less recursion.'
const memoryWords = ({ memoryBytes }: CodeLimits) => `The program takes more than ${Math.round(memoryBytes / 1_048_576)} MB of memory. Let it hold less at once.`
const outputWords = ({ outputBytes }: CodeLimits) => `The program prints and returns more than ${outputBytes} bytes. Let it return only what is needed.`
const computeWords = (limits: CodeLimits, before: number): string =>
  limits.computeMs === undefined || limits.computeMs - before > limits.sliceMs ? sliceWords(limits) : `The program computed for more than ${limits.computeMs} ms in all, waiting for calls not counted. Let it do less, or in several runs.`
export const sliceWords = ({ sliceMs }: Pick<CodeLimits, 'sliceMs'>): string => `The program computed for more than ${sliceMs} ms without waiting for anything. Look for an endless loop, or do less at once.`

function thrownParts(context: QuickJSContext, error: QuickJSHandle): { name: string; message: string; stack: string } {
  const dumped: unknown = context.dump(error)
  const part = (key: string) => {
    const value: unknown = typeof dumped === 'object' && dumped !== null ? (dumped as Record<string, unknown>)[key] : undefined
    return typeof value === 'string' ? value.slice(0, MAX_MESSAGE_CHARS) : ''
  }
  if (typeof dumped !== 'object' || dumped === null) return { name: '', message: thrownText(dumped) ?? 'a value without text', stack: '' }
  return { name: part('name'), message: part('message'), stack: part('stack') }
}

/** How the places of an error become places in the program. */
interface ProgramText {
  readonly name: string
  readonly lineCount: number
  readonly opening: string
}

function syntaxWords(context: QuickJSContext, error: QuickJSHandle, { name, lineCount: lines, opening }: ProgramText): string {
  const { name: kind, message, stack } = thrownParts(context, error)
  const place = /:(\d+)(?::(\d+))?/.exec(stack.slice(stack.indexOf(name) + name.length))
  if (place === null) return `${kind}: ${message}`
  // Behind the last line stands what closes the program around it.
  if (Number(place[1]) > lines) return `line ${lines}, at the end: ${kind}: a bracket is left open or closed too often`
  return `line ${place[1]}${place[2] === undefined ? '' : `, column ${column(place[1]!, place[2], opening)}`}: ${kind}: ${message}`
}

const lineCount = (source: string): number => source.split('\n').length

/** Where in the program it happened, the innermost place first; what is not the program is left out. */
function placesOf(stack: string, { name, opening }: ProgramText): string {
  const places = [...stack.matchAll(/\(([^()\n]*):(\d+):(\d+)\)/g)].filter(([, file]) => file === name).slice(0, 4)
  return places.length === 0 ? '' : ` (${places.map(([, file, line, at]) => `${file}:${line}:${column(line!, at!, opening)}`).join(', from ')})`
}

/** The opening stands before the first line only. */
const column = (line: string, at: string, opening: string): number => (line === '1' ? Math.max(1, Number(at) - opening.length) : Number(at))
