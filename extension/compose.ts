import type { Attention } from './capabilities/attention.ts'
import type { BlobStore } from './capabilities/blob-store.ts'
import type { Clock } from './capabilities/clock.ts'
import type { EventStore } from './capabilities/event-store.ts'
import type { FileSystem } from './capabilities/file-system.ts'
import type { Http } from './capabilities/http.ts'
import type { Logger } from './capabilities/logger.ts'
import type { Machine } from './capabilities/machine.ts'
import type { ProcessRunner } from './capabilities/process.ts'
import type { Search } from './capabilities/search.ts'
import type { Secrets } from './capabilities/secrets.ts'
import type { SettingsSource } from './capabilities/settings-source.ts'
import type { ShellSyntax } from './capabilities/shell-syntax.ts'
import type { Workspace } from './capabilities/workspace.ts'

/** The outside world, whole. Each root (editor, headless, test) gives one. */
export interface Capabilities {
  readonly attention: Attention
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly events: EventStore
  readonly files: FileSystem
  readonly http: Http
  readonly logger: Logger
  readonly machine: Machine
  readonly processes: ProcessRunner
  readonly search: Search
  readonly secrets: Secrets
  readonly settings: SettingsSource
  readonly shellSyntax: ShellSyntax
  readonly workspace: Workspace
}
