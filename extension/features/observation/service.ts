import type { Expectation, FileStat, FileTarget, FileVersion } from '../../capabilities/file-system.ts'
import type { Emit, Waterfall } from '../../core/kernel/plugin.ts'
import type { Agent } from '../../core/session/agent.ts'

/**
 * What each session has seen of each file: the stale-read guard. Survives a resume through its events.
 * Source: capability specification 4.
 */
export interface Observations {
  /** `text` is the whole exact text, where it is at hand and small: what changes later can be told then. */
  observe(agent: Agent | undefined, target: FileTarget, state: { readonly version: FileVersion; readonly text?: string } | 'absent'): void
  /** The text of a version that this session saw; undefined when it was not kept, and its log does not show it whole. */
  textOf(agent: Agent | undefined, version: FileVersion): Promise<string | undefined>
  /** A failure tells the model everything that changed up to this version: from its next step on, it has seen it. */
  disclose(agent: Agent | undefined, target: FileTarget, state: { readonly version: FileVersion; readonly text: string }): void
  /** What a `write` may rely on, as the first listener of `fs/write-intent` decides, else as this session has seen the file. Errors: `FileError` `FS_NOT_OBSERVED` for an existing file that was never read. */
  writeIntent(agent: Agent | undefined, target: FileTarget, stat: FileStat | null): Expectation | Promise<Expectation>
  /** What an `edit` may rely on, in the same way through `fs/edit-intent`. Errors: `FileError` `FS_NOT_OBSERVED`, `FS_NOT_FOUND` (observed absent), `FS_STALE_VERSION` (vanished). */
  editIntent(agent: Agent | undefined, target: FileTarget): EditIntent | Promise<EditIntent>
}

export interface EditIntent {
  readonly version: FileVersion
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    observations: Observations
  }
  interface ExtensionPoints {
    /** A listener that does not call `next` is the one that decides. */
    'fs/write-intent': Waterfall<[asked: { readonly agent?: Agent; readonly target: FileTarget; readonly stat: FileStat | null }], Expectation>
    'fs/edit-intent': Waterfall<[asked: { readonly agent?: Agent; readonly target: FileTarget }], EditIntent>
    'fs/observed': Emit<[news: { readonly agent?: Agent; readonly target: FileTarget; readonly version: FileVersion | null }]>
  }
}
declare module '../../core/log/event.ts' {
  interface EventMap {
    /** `ignorable`. A file's content hash as last seen, so that a resumed session may edit it. */
    'fs/observed': { readonly path: string; readonly version: string | null }
    /** `ignorable`. Logged before a call changes a file: where its bytes are kept as they were; a null digest means there was none. */
    'fs/before-image': { readonly callId: string; readonly path: string; readonly digest: string | null }
  }
}
