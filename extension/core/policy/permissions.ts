import type { Json } from '../../base/json.ts'
import type { Undo } from '../../base/undo.ts'
import type { ScopeKey } from '../kernel/plugin.ts'
import type { SandboxMode } from '../log/event.ts'
import type { Session } from '../session/session.ts'
import type { Execution } from '../tools/definition.ts'
import type { PermissionRuleSetting } from '../settings/specs.ts'
import type { RuleScope } from './rules.ts'
import type { DescribeEffect, PlanEdit, ToolEffect } from './tool-effects.ts'

/** What each session may do, as the person chose it. Source: runtime specification 18.3, design 6.2. */
export interface Permissions {
  /** The mode in force: capped at `read-only` in a folder that is not trusted. */
  modeOf(sessionId: string): SandboxMode
  /** The preset whose knobs are those of the session; `custom` when none is. Capped like the mode. */
  presetOf(sessionId: string): SandboxMode | 'custom'
  /** The mode of a new session, from the preset of that id, else the setting `permissions.defaultPreset`; capped in the same way. */
  defaultMode(preset?: string): SandboxMode
  /**
   * Change a live session: logs `permission/preset`, then only the knobs that differ, and tells the model.
   * Errors: `Error` for a session that is not live here, or a wider mode in a folder that is not trusted.
   */
  select(sessionId: string, mode: SandboxMode): void
  /** The standing answers that hold in a session (all that are stored, without one), for the page that lists and revokes them. */
  rules(sessionId?: string): readonly ListedRule[]
  /** Errors: the failure of the settings; a rule of the workspace's settings can only be taken back there (`Error`). */
  revoke(rule: ListedRule): Promise<void>
  /** How often each rule had a say in a session, by its JSON text. */
  uses(sessionId: string): ReadonlyMap<string, number>
  /**
   * Hold sessions to reading for as long as `cap` gives words, which the refused call is told; plan mode is one.
   * What the person chose stays and comes back with the end of the cap. `call`: the one that is judged, where one is.
   */
  cap(cap: (session: Session, call?: CappedCall) => string | null): Undo
  /** What a call from that layer would do, as far as its arguments say. A tool that only shares its name with a known one is unknown. */
  effectOf(tool: string, args: Json, scope?: ScopeKey | null): ToolEffect
  /**
   * Say what the calls of a tool would do; without it each one asks. With `scope`, of the very tool that this layer has under the name now,
   * such as one that shadows another. Errors: `Error` when the tool is declared already, or the layer has none.
   */
  declare(tool: string, describe: DescribeEffect, scope?: ScopeKey): Undo
  /** Say how to work out what the edits of a known tool would change; `effectOf` then gives it. Errors: `Error` when it is declared already. */
  planEdits(tool: string, plan: PlanEdit): Undo
  onDidChange(listener: () => void): Undo
}

/** Where only the confinement of a call is asked for, its token alone says which it is. */
export type CappedCall = Pick<Execution, 'agent' | 'token'> & Partial<Pick<Execution, 'name' | 'arguments'>>

export interface ListedRule {
  /** For people: "Allow `npm test …` in /home/me/web". */
  readonly text: string
  readonly scope: RuleScope
  /** Written by the workspace's settings, which may only tighten. */
  readonly isFromWorkspace: boolean
  readonly rule: PermissionRuleSetting
}

declare module '../kernel/plugin.ts' {
  interface Services {
    permissions: Permissions
  }
}
