import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compose } from '../../extension/compose.ts'
import type {} from '../../extension/core/loop/points.ts'
import type {} from '../../extension/core/tools/confinement.ts'
import type {} from '../../extension/core/tools/service.ts'
import { createHeadlessWorld } from '../../extension/headless-world.ts'
import type { Figure } from './table.ts'
import { median } from './agent-runs.ts'

/** Single tools through the whole pipeline, beside the same work done bare. */
export async function toolFigures(tree: string, rg: string): Promise<readonly Figure[]> {
  const storage = mkdtempSync(join(tmpdir(), 'bosun-bench-tools-'))
  const file = join(storage, 'sample.ts')
  writeFileSync(file, Array.from({ length: 400 }, (_line, line) => `export const value${line} = ${line}\n`).join(''))
  // What a sandbox costs stands in rows of its own, so that the others are the same on every machine.
  const plain = await openApplication(tree, join(storage, 'plain'), 'off')
  const confined = await openApplication(tree, join(storage, 'confined'), 'auto')
  const { call } = plain
  const held = await confined.ctx.confinement.confine({ agent: confined.agent, token: { id: 'bench' } }, { command: 'bash', args: ['-c', 'true'], cwd: tree })
  const wrapped = held.sandbox === null ? undefined : held.program
  try {
    const pairs: readonly (Omit<Figure, 'value' | 'floor'> & { readonly count: number; readonly ours: () => Promise<unknown>; readonly bare: () => Promise<unknown>; readonly allowance?: (bareMs: number) => number })[] = [
      {
        name: 'read tool, beside twice fs.readFile and 2 ms', unit: 'ms', goal: 1, count: 60, allowance: (bareMs) => 2 * bareMs + 2,
        ours: () => call('read', { file_path: file }), bare: () => readFile(file, 'utf8'),
      },
      {
        name: 'bash tool, beside bash -c', unit: 'ms', goal: 1.5, count: 30,
        ours: () => call('bash', { command: 'true', description: 'Nothing' }), bare: () => run('bash', ['-c', 'true'], tree),
      },
      ...(wrapped === undefined
        ? []
        : [
            {
              name: 'bash tool in the sandbox, beside the sandbox alone', unit: 'ms' as const, goal: 1.5, count: 30,
              ours: () => confined.call('bash', { command: 'true', description: 'Nothing' }), bare: () => run(wrapped.command, wrapped.args, tree),
            },
            { name: 'the sandbox alone, beside bash -c', unit: 'ms' as const, count: 30, ours: () => run(wrapped.command, wrapped.args, tree), bare: () => run('bash', ['-c', 'true'], tree) },
          ]),
      {
        name: 'grep tool, beside ripgrep on the same tree', unit: 'ms', goal: 1.3, count: 5,
        ours: () => call('grep', { pattern: 'createLanguageService' }),
        bare: () => run(rg, ['--no-config', '--json', 'createLanguageService', '.'], tree),
      },
      {
        name: 'glob tool, beside ripgrep on the same tree', unit: 'ms', goal: 1.3, count: 5,
        ours: () => call('glob', { pattern: '**/*.d.ts', include_ignored: true }),
        bare: () => run(rg, ['--no-config', '--files', '--no-ignore', '--hidden', '-g', '*.d.ts', '.'], tree),
      },
    ]
    const figures: Figure[] = []
    for (const { count, ours, bare, allowance = (bareMs: number) => bareMs, ...figure } of pairs) {
      const times = { ours: [] as number[], bare: [] as number[] }
      // One of each before, so that both find what they need in memory.
      for (let round = -1; round < count; round++) {
        for (const [side, work] of [['ours', ours], ['bare', bare]] as const) {
          const startedAt = performance.now()
          await work()
          if (round >= 0) times[side].push(performance.now() - startedAt)
        }
      }
      figures.push({ ...figure, value: median(times.ours), floor: allowance(median(times.bare)) })
    }
    return figures
  } finally {
    await Promise.all([plain.dispose(), confined.dispose()])
    rmSync(storage, { recursive: true, force: true })
  }
}

async function openApplication(cwd: string, storage: string, use: 'auto' | 'off') {
  const world = await createHeadlessWorld({ cwd, storage, settings: { 'sandbox.use': use } })
  const { ctx, dispose } = compose(world)
  const agent = await ctx.agents.create({ cwd })
  return {
    agent,
    ctx,
    async call(name: string, args: object): Promise<void> {
      const result = await ctx.tools.execute({ callId: 'bench', name, arguments: args, agent, signal: AbortSignal.timeout(120_000) })
      if (result.isError) throw new Error(`${name}: ${result.error.message}`)
    },
    async dispose() {
      await dispose()
      await world.dispose()
    },
  }
}

function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
    child.stdout.resume()
    child.on('error', reject)
    child.on('close', () => resolve())
  })
}
