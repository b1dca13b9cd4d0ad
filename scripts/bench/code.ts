import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import variant from '@jitl/quickjs-wasmfile-release-sync'
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSDeferredPromise, type QuickJSWASMModule } from 'quickjs-emscripten-core'
import { compose } from '../../extension/compose.ts'
import type {} from '../../extension/core/policy/permissions.ts'
import type {} from '../../extension/core/presets/preset.ts'
import type {} from '../../extension/core/session/session.ts'
import { defineTool } from '../../extension/core/tools/define-tool.ts'
import type {} from '../../extension/core/tools/service.ts'
import type {} from '../../extension/features/code-mode/service.ts'
import { createHeadlessWorld } from '../../extension/headless-world.ts'
import { createQuickJsRuntime } from '../../extension/platform/node/quickjs/quickjs-runtime.ts'
import { median } from './agent-runs.ts'
import type { Figure } from './table.ts'

const CALLS = 1_000
const oneByOne = `for (let n = 0; n < ${CALLS}; n++) await tools.nothing({ n })`
const atOnce = `await Promise.all(Array.from({ length: ${CALLS} }, (_, n) => tools.nothing({ n })))`

/** Programs of a model: how long one waits to begin, and what its calls cost with policy and log beside the same calls that only leave the machine. */
export async function codeFigures(dist: string, repeat: number): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bosun-bench-code-'))
  const bare = await bareMachine(join(dist, 'quickjs.wasm'))
  const { run, dispose } = await openApplication(folder, dist)
  try {
    await run('return (await tools.nothing({ n: 0 })).n')
    const starts: number[] = []
    for (let round = 0; round < 20; round++) {
      // Between two programs stands an answer of the model.
      await new Promise((resolve) => setTimeout(resolve, 50))
      starts.push(await timed(() => run('return 1')))
    }
    const times = { bareOneByOne: [] as number[], oneByOne: [] as number[], bareAtOnce: [] as number[], atOnce: [] as number[] }
    for (let round = -1; round < Math.max(5, repeat); round++) {
      const took = {
        bareOneByOne: await timed(() => bare(oneByOne)),
        oneByOne: await timed(() => run(oneByOne)),
        bareAtOnce: await timed(() => bare(atOnce)),
        atOnce: await timed(() => run(atOnce)),
      }
      if (round < 0) continue
      for (const name of Object.keys(times) as (keyof typeof times)[]) times[name].push(took[name])
    }
    const stalls = await longestWaits(run)
    return [
      { name: 'run_code, warm start', unit: 'ms', value: median(starts), goal: 10 },
      { name: `${CALLS} calls of a program, one by one, beside bare calls of the machine`, unit: 'ms', value: median(times.oneByOne), floor: median(times.bareOneByOne), goal: 6 },
      { name: `${CALLS} calls of a program, all at once, beside bare calls of the machine`, unit: 'ms', value: median(times.atOnce), floor: median(times.bareAtOnce), goal: 6 },
      ...stalls,
    ]
  } finally {
    await dispose()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Programs that load the host as much as the default caps let them, and such as load only themselves. */
const heavy: Readonly<Record<string, string>> = {
  'an endless loop': 'const end = Date.now() + 1_000; while (Date.now() < end);',
  'calls, 10 000 at once': 'await Promise.all(Array.from({ length: 10_000 }, (_, n) => tools.nothing({ n })))',
  'short lines without end': 'for (;;) console.log("x")',
  'long lines without end': 'for (;;) console.log("x".repeat(1e6))',
  'a large argument': 'await tools.nothing({ n: 1, more: "x".repeat(3e7) }).catch(() => 1)',
  'an argument of many parts': 'await tools.nothing({ n: Array.from({ length: 1e6 }, (_, n) => n) }).catch(() => 1)',
  'a large result': 'return "x".repeat(3e7)',
  'a result of many parts': 'return Array.from({ length: 3e5 }, (_, n) => ({ n }))',
  'memory without end': 'const a = []; for (;;) a.push(new Array(1e6).fill(1))',
}

/** While each of them runs: what the thread of the host waits for, at the longest. */
async function longestWaits(run: (code: string) => Promise<void>): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const [name, code] of Object.entries(heavy)) {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    // Most of them end at a cap.
    await run(code).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 20))
    delay.disable()
    figures.push({ name: `host's thread, longest wait: ${name}`, unit: 'ms', value: delay.max / 1e6, goal: 50 })
  }
  return figures
}

async function openApplication(folder: string, dist: string) {
  const world = await createHeadlessWorld({ cwd: folder, storage: join(folder, 'home'), settings: { 'sandbox.use': 'off' } })
  const codeRuntime = createQuickJsRuntime({ entry: join(dist, 'quickjs.js'), wasm: join(dist, 'quickjs.wasm') })
  const { ctx, dispose } = compose({ ...world, codeRuntime })
  await ctx.plugin({ name: 'bench', inject: ['codeMode', 'agents', 'presets', 'tools', 'permissions'], apply: () => {} }).ready
  const agent = await ctx.agents.create({ cwd: folder, preset: 'code' })
  ctx.scoped(agent.scope).tools.register(
    defineTool({
      name: 'nothing',
      description: 'Gives back its number.',
      parameters: { n: { type: 'integer', required: true } },
      output: { schema: { type: 'object', properties: { n: { type: 'integer', required: true } }, additionalProperties: false }, render: (_args, { n }) => [{ type: 'text', text: String(n) }] },
      isConcurrencySafe: () => true,
      execute: ({ n }) => ({ n }),
    }),
  )
  ctx.permissions.declare('nothing', () => ({ kind: 'none' }), agent.scope)
  let count = 0
  return {
    async run(code: string): Promise<void> {
      const result = await ctx.tools.execute({ callId: `bench-${++count}`, name: 'run_code', arguments: { code, description: 'Measures what calls cost' }, agent, signal: AbortSignal.timeout(120_000) })
      if (result.isError) throw new Error(result.error.message)
    },
    async dispose(): Promise<void> {
      await dispose()
      await codeRuntime.dispose()
      await world.dispose()
    },
  }
}

/** The machine by itself, in this thread: a fresh context each time, and calls that are answered by promises with nothing behind them. */
async function bareMachine(wasm: string): Promise<(code: string) => Promise<void>> {
  const wasmBinary = await readFile(wasm)
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmBinary: new Uint8Array(wasmBinary).buffer }))
  return (code) => bareRun(quickjs, code)
}

async function bareRun(quickjs: QuickJSWASMModule, code: string): Promise<void> {
  const runtime = quickjs.newRuntime()
  const context = runtime.newContext()
  const open: QuickJSDeferredPromise[] = []
  const send = context.newFunction('send', (args) => {
    const value: unknown = context.dump(args)
    const answer = context.newPromise()
    open.push(answer)
    void Promise.resolve(value).then((given) => {
      const handle = context.unwrapResult(context.evalCode(`(${JSON.stringify(given)})`))
      answer.resolve(handle)
      handle.dispose()
      runtime.executePendingJobs()
    })
    return answer.handle
  })
  context.setProp(context.global, 'send', send)
  const end = Promise.withResolvers<void>()
  const done = context.newFunction('done', () => end.resolve())
  context.setProp(context.global, 'done', done)
  context.unwrapResult(context.evalCode(`const tools = { nothing: (args) => send(args) };(async () => {${code}})().then(done)`)).dispose()
  runtime.executePendingJobs()
  await end.promise
  for (const answer of open) answer.dispose()
  send.dispose()
  done.dispose()
  context.dispose()
  runtime.dispose()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}
