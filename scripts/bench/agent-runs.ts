import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { treeMemory } from './process-tree.ts'
import { KINDS, startStepServer } from './step-server.ts'

export type Runner = 'floor' | 'bosun'

export interface AgentRun {
  /** Milliseconds between two requests, by step. */
  readonly stepMs: readonly number[]
  readonly startMs: number
  readonly peakBytes: number
  readonly brokenPrefixes: number
  readonly lastBody: string
}

export interface RunOptions {
  readonly steps: number
  readonly headless: string
  readonly rg: string
  /** Sampling costs time, so a run either measures time or memory. */
  readonly measureMemory?: boolean
}

/** One turn of `steps` tool calls through the floor script or through Bosun, on the same small workspace. */
export async function runAgent(runner: Runner, { steps, headless, rg, measureMemory }: RunOptions): Promise<AgentRun> {
  const cwd = sampleWorkspace()
  const storage = mkdtempSync(join(tmpdir(), 'bosun-bench-store-'))
  // The floor confines nothing either; what a sandbox costs a command is a row among the tools.
  writeFileSync(join(storage, 'settings.json'), JSON.stringify({ 'bosun.sandbox.use': 'off' }))
  const server = await startStepServer(steps)
  const startedAt = performance.now()
  const args =
    runner === 'floor'
      ? [join(import.meta.dirname, 'floor.mjs'), server.url, cwd]
      : [headless, 'run', '--cwd', cwd, '--base-url', server.url, '--model', 'bench', '--permissions', 'allow', '--storage', storage, '--max-steps', '0', '--prompt', 'go']
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, BENCH_RG: rg, BOSUN_HOME: storage },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let problems = ''
  child.stderr.on('data', (chunk: Buffer) => void (problems = (problems + chunk.toString()).slice(-4000)))
  let peakBytes = 0
  const sampler = measureMemory ? setInterval(() => (peakBytes = Math.max(peakBytes, treeMemory(child.pid ?? 0))), 100) : null
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  if (sampler) clearInterval(sampler)
  await server.close()
  rmSync(cwd, { recursive: true, force: true })
  rmSync(storage, { recursive: true, force: true })
  if (code !== 0 || server.arrivals.length !== steps + 1) {
    throw new Error(`${runner} ended with ${code} after ${server.arrivals.length} of ${steps + 1} requests.\n${problems}`)
  }
  return {
    stepMs: server.arrivals.slice(1).map((at, index) => at - (server.arrivals[index] ?? at)),
    startMs: (server.arrivals[0] ?? 0) - startedAt,
    peakBytes,
    brokenPrefixes: server.brokenPrefixes(),
    lastBody: server.lastBody(),
  }
}

/** Step times of one kind of tool. */
export const ofKind = (run: AgentRun, kind: (typeof KINDS)[number]): readonly number[] =>
  run.stepMs.filter((_ms, index) => KINDS[index % KINDS.length] === kind)

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

function sampleWorkspace(): string {
  const cwd = mkdtempSync(join(tmpdir(), 'bosun-bench-'))
  mkdirSync(join(cwd, 'src'))
  for (let file = 0; file < 40; file++) {
    const lines = Array.from({ length: 120 }, (_line, line) => `export const value${line} = ${file * line}${line === 60 ? ' // needle' : ''}`)
    writeFileSync(join(cwd, 'src', `module-${file}.ts`), `${lines.join('\n')}\n`)
  }
  return cwd
}
