import { realpathSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../extension/capabilities/clock.ts'
import type { ProcessRunner } from '../../extension/capabilities/process.ts'
import type { ToolResult } from '../../extension/core/tools/definition.ts'
import type { Jobs } from '../../extension/features/jobs/service.ts'
import { createCommandEnvironment } from '../../extension/features/command-environment/command-environment.ts'
import { jobsPlugin } from '../../extension/features/jobs/plugin.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { createDirectRunner } from '../../extension/platform/node/direct-runner.ts'
import { jobTools } from '../../extension/tools/jobs/plugin.ts'
import { shellTools, type ShellToolsNeeds } from '../../extension/tools/shell/plugin.ts'
import { createFakeAgent } from './fake-agent.ts'
import { createFakeMachine } from './fake-machine.ts'
import { createMemoryBlobStore, type MemoryBlobStore } from './memory-blob-store.ts'
import { realClock } from './real-clock.ts'
import { createToolBench, type RunOptions, type ToolBench } from './tool-bench.ts'

export interface ShellBench extends ToolBench {
  /** The session's folder, which belongs to this bench. */
  readonly folder: string
  readonly blobs: MemoryBlobStore
  readonly jobs: Jobs
  bash(command: string, args?: object, options?: RunOptions): Promise<ToolResult>
  /** `job_list`, `job_output`, `job_kill`. */
  job(name: 'list' | 'output' | 'kill', args?: object): Promise<ToolResult>
  /** What the model was told, by the way it came. */
  told(): readonly string[]
  dispose(): Promise<void>
}

/** The shell and job tools over real programs, with one agent that has no loop. */
export async function createShellBench(
  over: Partial<ShellToolsNeeds> & { readonly processes?: ProcessRunner; readonly clock?: Clock; readonly sessionId?: string } = {},
): Promise<ShellBench> {
  const folder = realpathSync(await mkdtemp(join(tmpdir(), 'bosun-shell-')))
  const agent = createFakeAgent({ cwd: folder, ...(over.sessionId !== undefined && { id: over.sessionId }) })
  const made = createToolBench(agent)
  const blobs = createMemoryBlobStore()
  const { processes = createDirectRunner(), clock = realClock } = over
  await made.mount(jobsPlugin({ clock, logger: made.logger, machine: createFakeMachine(), processes }))
  await made.mount(
    shellTools({ processes, files: new NodeFileSystem(), blobs, clock, machine: createFakeMachine(), shellPath: () => null, timeoutMs: () => 120_000, offered: () => 'auto', environment: createCommandEnvironment({ dispatch: made.kernel.dispatch, machine: createFakeMachine(), logPath: (id) => `/logs/${id}` }), ...over }),
  )
  await made.mount(jobTools)
  return {
    ...made,
    folder,
    blobs,
    jobs: made.ctx.jobs,
    bash: (command, args = {}, options) => made.run('bash', { command, description: 'test', ...args }, options),
    job: (name, args = {}) => made.run(`job_${name}`, name === 'list' ? args : { job_id: 'bash-1', ...args }),
    told: () => agent.received.map(({ verb, message }) => `${verb}: ${message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')}`),
    async dispose() {
      await made.kernel.dispose()
      if (over.processes === undefined) await processes.dispose()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Time that runs so many times as fast, for what waits long by design while real programs run. */
export function createFastClock(times: number): Clock {
  return {
    now: () => Date.now(),
    monotonicMs: () => performance.now() * times,
    schedule: (delayMs, fire) => realClock.schedule(delayMs / times, fire),
  }
}
