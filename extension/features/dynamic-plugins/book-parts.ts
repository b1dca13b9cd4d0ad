import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { CodeRuntime } from '../../capabilities/code-runtime.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Dispatcher, Fiber, Plugin } from '../../core/kernel/plugin.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Tools } from '../../core/tools/service.ts'
import type { CodeMode } from '../code-mode/service.ts'
import type { Inspectors } from './inspectors.ts'

/** What the owner of all plugins needs of the world and of other features. */
export interface BookParts {
  readonly codeRuntime: Pick<CodeRuntime, 'run' | 'check'>
  readonly clock: Pick<Clock, 'schedule'>
  readonly machine: Pick<Machine, 'randomId'>
  readonly files: Pick<FileSystem, 'resolve' | 'readText' | 'writeText'>
  readonly blobs: Pick<BlobStore, 'spillFolder'>
  readonly logger: Logger
  readonly dispatch: Dispatcher
  readonly tools: Pick<Tools, 'list'>
  readonly codeMode: () => Pick<CodeMode, 'callsWithin'>
  readonly inspectors: Inspectors
  /** Mount what a plugin brings in the layer of its session. */
  readonly mount: (agent: Agent, plugin: Plugin) => Fiber
  /** Sessions whose talk a session goes on from: what was kept there may be restored here. */
  readonly ancestors: (sessionId: string) => readonly string[]
  /** Why nothing of it is there; undefined while it is. */
  readonly problem: () => string | undefined
}
