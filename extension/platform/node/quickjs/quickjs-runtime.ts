import { readFile } from 'node:fs/promises'
import { CodeError, type CodeRuntime } from '../../../capabilities/code-runtime.ts'
import { Isolate } from './isolate.ts'

export interface QuickJsOptions {
  /** The thread's program: `dist/quickjs.js`, or `isolate-main.ts` where the sources run as they are. */
  readonly entry: string | URL
  /** The WebAssembly of the machine. */
  readonly wasm: string | URL
  /** How long a thread may stay silent beyond what it was given before it is ended. Default: 1 s. */
  readonly graceMs?: number
  /** How long a thread may take to make a machine and to read a program, on a busy computer too. Default: 10 s. */
  readonly beginMs?: number
  /** How long a thread without a program is kept. Default: 60 s. */
  readonly idleMs?: number
}

const GRACE_MS = 1_000
const BEGIN_MS = 10_000
const IDLE_MS = 60_000

/**
 * Programs in QuickJS: each run has a thread to itself and a machine of its own in it, and one thread is kept warm for the next.
 *
 * Threads are not counted, since a program may wait for another program; whoever starts programs caps them. Nothing is loaded before the first.
 */
export function createQuickJsRuntime({ entry, wasm, graceMs = GRACE_MS, beginMs = BEGIN_MS, idleMs = IDLE_MS }: QuickJsOptions): CodeRuntime {
  const live = new Set<Isolate>()
  let compiled: Promise<WebAssembly.Module> | undefined
  let warm: { readonly isolate: Isolate; readonly timer: NodeJS.Timeout } | undefined
  let isDisposed = false

  const load = () =>
    (compiled ??= readFile(wasm)
      .then((bytes) => WebAssembly.compile(bytes))
      .catch((error: unknown) => {
        compiled = undefined
        throw new CodeError('CODE_UNAVAILABLE', `Programs cannot run here: ${String(error)}. Install Bosun again.`, { cause: error })
      }))

  async function take(): Promise<Isolate> {
    const module = await load()
    if (isDisposed) throw new CodeError('CODE_UNAVAILABLE', 'Bosun is shutting down; no program is started any more.')
    const kept = warm
    warm = undefined
    clearTimeout(kept?.timer)
    if (kept?.isolate.isAlive) return kept.isolate
    const isolate = new Isolate({ entry, wasm: module, graceMs, beginMs })
    live.add(isolate)
    return isolate
  }

  function giveBack(isolate: Isolate): void {
    if (isolate.isAlive && warm === undefined && !isDisposed) {
      warm = { isolate, timer: setTimeout(() => drop(isolate), idleMs).unref() }
      return
    }
    drop(isolate)
  }

  function drop(isolate: Isolate): void {
    if (warm?.isolate === isolate) warm = undefined
    // Until its thread has ended, whoever shuts down waits for it.
    void isolate.end().finally(() => live.delete(isolate))
  }

  async function using<T>(work: (isolate: Isolate) => Promise<T>): Promise<T> {
    const isolate = await take()
    try {
      return await work(isolate)
    } finally {
      giveBack(isolate)
    }
  }

  return {
    async run(program) {
      const cancelled = () => new CodeError('CODE_CANCELLED', 'The program was cancelled before it began.')
      if (program.signal.aborted) throw cancelled()
      return using(async (isolate) => {
        if (program.signal.aborted) throw cancelled()
        return isolate.run(program)
      })
    },
    check: (source) => using((isolate) => isolate.check(source)),
    async dispose() {
      isDisposed = true
      clearTimeout(warm?.timer)
      warm = undefined
      await Promise.all([...live].map((isolate) => isolate.end(new CodeError('CODE_CANCELLED', 'Bosun is shutting down, so the program was ended.'))))
      live.clear()
    },
  }
}
