import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { ProcessRunner } from '../../capabilities/process.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/jobs/service.ts'
import { bashDialect, pwshDialect } from './shell-dialect.ts'
import { createShellTool } from './shell-tool.ts'

export interface ShellToolsNeeds {
  readonly processes: ProcessRunner
  readonly files: Pick<FileSystem, 'resolve' | 'stat'>
  readonly blobs: Pick<BlobStore, 'openSpill'>
  readonly clock: Clock
  readonly machine: Pick<Machine, 'platform' | 'bash' | 'pwsh'>
  /** The person's own choice of program; null: the machine's. */
  readonly shellPath: () => string | null
  readonly timeoutMs: () => number
}

/**
 * Registers the shell of this machine: `pwsh` on Windows, `bash` elsewhere, and only where there is one.
 * With `jobs` it offers `run_in_background`.
 */
export function shellTools({ machine, shellPath, timeoutMs, ...needs }: ShellToolsNeeds): Plugin {
  const dialect = machine.platform === 'win32' ? pwshDialect : bashDialect
  const found = machine.platform === 'win32' ? machine.pwsh : machine.bash
  return {
    name: 'tools-shell',
    inject: ['tools', 'jobs', 'systemPrompt'],
    apply(ctx) {
      const program = shellPath() ?? found
      if (program === null) return
      ctx.tools.register(
        createShellTool(dialect, { ...needs, jobs: ctx.jobs, program: () => shellPath() ?? program, defaultTimeoutMs: timeoutMs }),
      )
      ctx.systemPrompt.section({
        name: 'shell',
        order: 105,
        tools: [dialect.name],
        text: `A ${dialect.name} result that ends without an [exit code: …], [killed …] or [timed out …] line means success; check for one before you go on.`,
      })
    },
  }
}
