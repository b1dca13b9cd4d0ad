import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { afterAll, describe, expect, it } from 'vitest'
import type { Json } from '../../../../../extension/base/json.ts'
import type { CodeProgram } from '../../../../../extension/capabilities/code-runtime.ts'
import { Isolate } from '../../../../../extension/platform/node/quickjs/isolate.ts'

const entry = new URL('../../../../../extension/platform/node/quickjs/isolate-main.ts', import.meta.url)
const wasm = await WebAssembly.compile(await readFile(createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm')))
const made: Isolate[] = []
const isolate = (): Isolate => {
  const one = new Isolate({ entry, wasm, graceMs: 2_000, beginMs: 30_000 })
  made.push(one)
  return one
}
afterAll(() => Promise.all(made.map((one) => one.end())))

const program = (source: string, call: CodeProgram['call'], signal = new AbortController().signal): CodeProgram => ({
  source,
  name: 'program.js',
  prelude: 'globalThis.ask = (value) => host("ask", value)',
  limits: { sliceMs: 20_000, memoryBytes: 64 * 1_048_576, stackBytes: 524_288, outputBytes: 8_388_608, calls: 0, callsAtOnce: 8 },
  signal,
  call,
})
const given = async (_name: string, [value]: readonly Json[]): Promise<Json> => value!
/** Answered at once, so that the thread waits for its next answer without its loop. */
const quickly = 'for (let n = 0; n < 20; n++) await ask(n);'
const untilStopped = (signal: AbortSignal) => new Promise<Json>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
/** Longer than a thread waits without its loop. */
const late = () => new Promise((resolve) => setTimeout(resolve, 50))

describe('a thread that waits for an answer', () => {
  const answers: readonly [what: string, source: string, call: CodeProgram['call'], value: Json][] = [
    ['a large one', `${quickly} return (await ask("")).length`, async (_, [value]) => (value === '' ? 'x'.repeat(3_000_000) : value!), 3_000_000],
    ['a late one, and quick ones behind it', `const all = []; for (let n = 0; n < 9; n++) all.push(await ask(n)); return all`, async (_, [value]) => {
      if (Number(value) % 3 === 0) await late()
      return value!
    }, [0, 1, 2, 3, 4, 5, 6, 7, 8]],
    ['many at once', 'let sum = 0; for (let n = 0; n < 50; n++) for (const one of await Promise.all(Array.from({ length: 40 }, (_, k) => ask(k)))) sum += one; return sum', given, 39_000],
    ['a failure', `${quickly} return await ask("no").catch((error) => error.message)`, async (_, [value]) => {
      if (value === 'no') throw new Error('refused')
      return value!
    }, 'refused'],
  ]
  it.each(answers)('gets %s', async (_, source, call, value) => expect((await isolate().run(program(source, call))).value).toEqual(value))

  it('gets answers in another order than it asked', async () => {
    // What is asked last is answered first.
    const open: (() => void)[] = []
    const call = async (_: string, [value]: readonly Json[]) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      open.push(resolve)
      if (open.length === 5) open.pop()!()
      await promise
      setImmediate(() => open.pop()?.())
      return value!
    }
    const source = 'const order = []; const values = await Promise.all([0, 1, 2, 3, 4].map((n) => ask(n).then((value) => { order.push(value); return value }))); return { order, values }'
    expect((await isolate().run(program(source, call))).value).toEqual({ values: [0, 1, 2, 3, 4], order: [4, 3, 2, 1, 0] })
  })

  it('is stopped where it waits, and takes the next program', async () => {
    const one = isolate()
    const stop = new AbortController()
    const call = async (_: string, [value]: readonly Json[], signal: AbortSignal) => {
      if (value !== 'wait') return value!
      setImmediate(() => stop.abort())
      return untilStopped(signal)
    }
    await expect(one.run(program(`${quickly} await ask("wait")`, call, stop.signal))).rejects.toMatchObject({ code: 'CODE_CANCELLED', message: 'The program was cancelled.' })
    expect(one.isAlive).toBe(true)
    expect((await one.run(program(`${quickly} return await ask(1)`, given))).value).toBe(1)
  })

  it('that is ended where it waits ends its program and what it called', async () => {
    const one = isolate()
    let isStopped = false
    const call = async (_: string, [value]: readonly Json[], signal: AbortSignal) => {
      if (value !== 'wait') return value!
      const stopped = untilStopped(signal).finally(() => (isStopped = true))
      setImmediate(() => void one.end())
      return stopped
    }
    await expect(one.run(program(`${quickly} await ask("wait")`, call))).rejects.toMatchObject({ code: 'CODE_CRASHED' })
    await one.end()
    expect({ isStopped, isAlive: one.isAlive }).toEqual({ isStopped: true, isAlive: false })
  })

  it('makes the machine of the next program all the same while one is answered without a pause', async () => {
    const one = isolate()
    for (let round = 0; round < 3; round++) expect((await one.run(program('for (let n = 0; n < 500; n++) await ask(n); return 1', given))).value).toBe(1)
    expect(await one.check('return }')).toContain('line 1')
  })
})
