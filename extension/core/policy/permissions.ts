import type { Undo } from '../../base/undo.ts'
import type { SandboxMode } from '../log/event.ts'

/** What each session may do, as the person chose it. Source: runtime specification 18.3, design 6.2. */
export interface Permissions {
  /** The mode in force: capped at `read-only` in a folder that is not trusted. */
  modeOf(sessionId: string): SandboxMode
  /** The mode of a new session, from the setting `permissions.defaultPreset`, capped in the same way. */
  defaultMode(): SandboxMode
  /**
   * Change a live session: logs `permission/preset`, then only the knobs that differ, and tells the model.
   * Errors: `Error` for a session that is not live here, or a wider mode in a folder that is not trusted.
   */
  select(sessionId: string, mode: SandboxMode): void
  onDidChange(listener: () => void): Undo
}

declare module '../kernel/plugin.ts' {
  interface Services {
    permissions: Permissions
  }
}
