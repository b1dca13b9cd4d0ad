import type { Undo } from '../../base/undo.ts'
import type { HookDialect, HookFile, HookPoint, SkippedHook } from './hook.ts'

/** Commands of the person's and the project's configurations that run at moments of a session. Source: runtime specification 20. */
export interface Hooks {
  /** What is configured for a session in a folder, read anew, and what becomes of it. */
  report(cwd: string): Promise<HookReport>
  /** Which commands would run at a moment, in order, with what they would read; nothing runs. */
  dryRun(cwd: string, moment: { readonly point: HookPoint; readonly subject?: string; readonly input?: object }): Promise<readonly DryRunStep[]>
  /** The person has seen these files' commands and lets them run until they change. Errors: the failure of the settings. */
  allow(files: readonly Pick<HookFile, 'digest'>[]): Promise<void>
  /** Commands wait for consent, or no longer do. */
  onDidChange(listener: (cwd: string, waiting: readonly HookFile[]) => void): Undo
}

export interface HookReport {
  readonly files: readonly (HookFile & { readonly state: 'runs' | 'waits' })[]
  readonly skipped: readonly SkippedHook[]
  /** Why none runs at all. */
  readonly note?: string
}

export interface DryRunStep {
  readonly id: string
  readonly dialect: HookDialect
  readonly command: string
  /** Name of the folder it comes from, where the window has several. */
  readonly root?: string
  readonly state: 'runs' | 'waits'
  /** What it reads on standard input. */
  readonly stdin: string
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    hooks: Hooks
  }
}
