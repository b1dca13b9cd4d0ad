import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { ProcessRunner } from '../../capabilities/process.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/jobs/service.ts'
import type { CommandEnvironment } from '../../features/command-environment/service.ts'
import { registerConfinable } from '../register-confinable.ts'
import { LeftPrograms } from './left-programs.ts'
import { bashDialect, programOf, pwshDialect } from './shell-dialect.ts'
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
  readonly environment: CommandEnvironment
  /** Which shells a model gets; `auto`: that of the system. Read once. */
  readonly offered: () => OfferedShells
}

export type OfferedShells = 'auto' | 'bash' | 'pwsh' | 'both'

/**
 * Registers the shell of this machine: `pwsh` on Windows, `bash` elsewhere, or those the person chose, and only where there is one.
 * With `jobs` it offers `run_in_background`.
 */
export function shellTools({ machine, shellPath, timeoutMs, offered, ...needs }: ShellToolsNeeds): Plugin {
  return {
    name: 'tools-shell',
    inject: ['tools', 'jobs', 'systemPrompt'],
    apply(ctx) {
      const left = new LeftPrograms()
      const confinement = ctx.get('confinement')
      ctx.on('agent/disposing', ({ id }) => left.endOwner(id))
      for (const dialect of [bashDialect, pwshDialect]) {
        const program = () => programOf(dialect.name, shellPath(), machine[dialect.name])
        const first = program()
        const make = () =>
          createShellTool(dialect, { ...needs, jobs: ctx.jobs, ...(confinement && { confinement }), onLeft: ({ id }, end) => left.note(id, end), program: () => program() ?? first ?? dialect.name, defaultTimeoutMs: timeoutMs })
        const isWanted = isOffered(dialect.name, offered(), machine.platform)
        if (first === null || !isWanted) {
          ctx.tools.declareAbsent({ needs: shellNeeds(dialect.name, isWanted) }, make)
          continue
        }
        registerConfinable(ctx, make())
        ctx.systemPrompt.section({
          name: dialect.name === 'bash' ? 'shell' : 'shell-pwsh',
          order: 105,
          tools: [dialect.name],
          text: `A ${dialect.name} result that ends without an [exit code: …], [killed …] or [timed out …] line means success; check for one before you go on.`,
        })
      }
    },
  }
}

/** What it takes before a shell is there that is not. */
export const shellNeeds = (name: 'bash' | 'pwsh', isOffered: boolean): string =>
  isOffered
    ? `${name === 'bash' ? 'bash' : 'PowerShell'} on this machine: none was found. The setting bosun.shell.path may name one.`
    : name === 'bash'
      ? 'Another system than Windows, or bash and the setting bosun.shell.offered.'
      : 'Windows, or PowerShell and the setting bosun.shell.offered.'

/** Two shells confuse models, so there is one unless the person wants both. */
export const isOffered = (name: 'bash' | 'pwsh', choice: OfferedShells, platform: Machine['platform']): boolean =>
  choice === 'both' || choice === name || (choice === 'auto' && (platform === 'win32') === (name === 'pwsh'))
