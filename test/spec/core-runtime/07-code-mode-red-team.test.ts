import { createRequire } from 'node:module'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import { defineTool } from '../../../extension/core/tools/define-tool.ts'
import { settings } from '../../../extension/core/settings/specs.ts'
import { createCodeMode, type ProgramCaps } from '../../../extension/features/code-mode/code-mode.ts'
import { createQuickJsRuntime } from '../../../extension/platform/node/quickjs/quickjs-runtime.ts'
import { createRunCode } from '../../../extension/tools/code/run-code.ts'
import { realClock } from '../../support/real-clock.ts'
import { hostilePrograms } from '../../support/hostile-programs.ts'
import { createPipelineBench, type PipelineBench } from '../../support/pipeline-bench.ts'

/* Programs that mean harm: each is contained, and the thread of the host goes on all the while. */

/** CPU time of the host's own thread between two looks: what other work of a busy machine takes from it is not its own blocking. */
const MAX_BLOCKED_MS = 50

const runtime = createQuickJsRuntime({
  entry: new URL('../../../extension/platform/node/quickjs/isolate-main.ts', import.meta.url),
  wasm: createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm'),
  graceMs: 500,
})
afterAll(() => runtime.dispose())

/** What is to be caught by another cap than time has time on a busy machine. */
let computeMs = 400
/** As the person set it, where all of it is to be printed. */
let outputBytes = 100_000
const caps: ProgramCaps = { computeMs: 400, maxWallMs: 8_000, memoryBytes: 32 * 1_048_576, outputBytes, calls: 2_000 }
/** What reached the tools, in order. */
const reached: Json[] = []
let bench: PipelineBench

/** `echo` gives back what it got; `fail` fails; `slow` waits until it is stopped. */
const open = { type: 'object', properties: {}, additionalProperties: true } as const
const tools = [
  defineTool({
    name: 'echo', description: 'Says it back.', parameters: {}, output: { schema: { type: 'json' }, render: (_args, value) => [{ type: 'text', text: JSON.stringify(value) }] }, isConcurrencySafe: () => true,
    execute: (args) => {
      reached.push(args)
      return args
    },
  }),
  defineTool({ name: 'fail', description: 'Fails.', parameters: {}, output: { schema: { type: 'null' }, render: () => [] }, execute: () => { throw Object.assign(new Error('no luck'), { secret: 'host' }) } }),
  defineTool({
    name: 'slow', description: 'Waits.', parameters: {}, output: { schema: open, render: () => [] },
    execute: (_args, { signal }) => new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })),
  }),
]

let blockedMs = 0
let watch: NodeJS.Timeout
beforeAll(async () => {
  bench = createPipelineBench()
  for (const tool of tools) bench.tools.register(tool)
  const codeMode = createCodeMode({ codeRuntime: runtime, tools: bench.tools, dispatch: bench.kernel.dispatch, machine: { randomId: () => 'id' }, clock: realClock, waits: { follow: () => () => {}, holds: () => false }, caps: () => ({ ...caps, computeMs, outputBytes }), maxParallelSubCalls: () => 10 })
  bench.tools.registerCode(createRunCode(codeMode))
  // What is loaded with the first program is no part of what programs do.
  await run('return (await tools.echo({ warm: 1 })).warm')
})
beforeEach(() => {
  reached.length = 0
  blockedMs = 0
  let before = process.threadCpuUsage()
  watch = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    blockedMs = Math.max(blockedMs, (user + system) / 1_000)
    before = process.threadCpuUsage()
  }, 5)
})
afterEach(() => {
  clearInterval(watch)
  expect(blockedMs).toBeLessThan(MAX_BLOCKED_MS)
  // Nothing of the host changed.
  expect([Object.keys(Object.prototype), ({} as { polluted?: unknown }).polluted, Array.prototype.length, globalThis.JSON.parse('[1]')]).toEqual([[], undefined, 0, [1]])
})

/** What it returned, or the kind of its failure. */
async function run(code: string): Promise<Json | { readonly failed: string }> {
  const result = await bench.tools.execute(bench.request('run_code', { code, description: 'Means harm to the host' }))
  if (!result.isError) return (result.value as { result?: Json }).result ?? null
  return { failed: /^The program failed \(([a-z-]+)\)/.exec(result.error.message)?.[1] ?? result.error.message }
}
for (const [goal, rows] of Object.entries(hostilePrograms)) {
  describe(`a program that wants ${goal}`, () => {
    it.each(rows)('by %s', async (_name, code, outcome) => {
      computeMs = goal === 'too much' || (outcome as { failed?: string } | null)?.failed === 'call-limit' ? 20_000 : 400
      expect(await run(code)).toEqual(outcome)
      // The next one finds a world as new.
      expect(await run('return [Object.keys(Object.prototype), typeof escaped, (await tools.echo({ ok: 1 })).ok]')).toEqual([[], 'undefined', 1])
    })
  })
}

describe('a program that would compute for ever computes in its own thread: the host goes round its loop and stops it when it likes', () => {
  beforeAll(() => void (computeMs = 60_000))
  it.each(hostilePrograms['for ever']!.filter(([, , outcome]) => (outcome as { failed?: string }).failed === 'timeout'))('%s', async (_name, code) => {
    const stop = new AbortController()
    let turns = 0
    const turn = () => {
      turns += 1
      if (turns < 500) setImmediate(turn)
      else stop.abort(new Error('Enough.'))
    }
    setImmediate(turn)
    const result = await bench.tools.execute(bench.request('run_code', { code, description: 'Computes for ever' }, { signal: stop.signal }))
    expect([turns, result.isError]).toEqual([500, true])
  })
})

describe('a program that prints as much as may be printed by default', () => {
  beforeAll(() => {
    computeMs = 60_000
    outputBytes = settings.codeMaxOutputBytes.fallback
  })
  it.each([
    ['in lines without a word, more than the host takes up at once', 'for (let n = 0; n < 100_000; n++) console.log("")', { failed: 'output-limit' }],
    ['in one line', 'console.log("x".repeat(4e6))', null],
    ['in as many lines as it gets away with', 'for (let n = 0; n < 60_000; n++) console.log("")', null],
  ])('%s', async (_name, code, outcome) => expect(await run(code)).toEqual(outcome))
})

it('there are more than sixty of them', () => expect(Object.values(hostilePrograms).flat().length).toBeGreaterThanOrEqual(60))
