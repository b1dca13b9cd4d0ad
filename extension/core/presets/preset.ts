import { HarnessError } from '../../base/harness-error.ts'
import type { Undo } from '../../base/undo.ts'
import type { Emit, ScopeKey } from '../kernel/plugin.ts'
import type { PresentationMode } from '../tools/service.ts'

/**
 * A named surface of tools and words for one kind of work, as data.
 *
 * `tools` names every tool an agent of this preset may see; a name whose tool is not mounted is simply not there yet.
 * Source: runtime specification 17.
 */
export interface Preset {
  readonly id: string
  readonly name: string
  readonly description: string
  /** Place in the picker. */
  readonly order: number
  readonly presentation: PresentationMode
  readonly tools: readonly string[]
  /** Tools without which the preset is not offered at all. */
  readonly needs?: readonly string[]
  /** The whole system prompt, in the place of all sections. */
  readonly persona?: string
  /** More words for the system prompt. */
  readonly sections?: readonly { readonly name: string; readonly order: number; readonly text: string }[]
  /** False leaves facts about the workspace out. */
  readonly hasRuntimeContext: boolean
  /** False leaves instruction files out. Absent: true. */
  readonly hasInstructions?: boolean
  /** False: a long talk is never shortened by itself, only when the person asks. Absent: true. */
  readonly hasCompaction?: boolean
  /** False: tools that query sessions are not there, whatever the setting `history.tools` says. Absent: true. */
  readonly hasSessionTools?: boolean
  /** Whose tools of MCP servers join: of these servers, or of none. Absent: of all. */
  readonly mcpServers?: readonly string[] | false
  /** Whose tools and prompt sections of other extensions of the editor join: of these, by id, or of all. Absent: of none. */
  readonly extensions?: readonly string[] | true
  /** Its shell is one that stays from call to call, in the place of the one that is new for each. */
  readonly hasPersistentShell?: true
  /** What a new session may do, in the place of the setting; one of a workspace may only tighten it. */
  readonly permissions?: 'read-only' | 'workspace-write' | 'danger-full-access'
  /** Its file belongs to the workspace, not to the person. */
  readonly isFromWorkspace?: true
}

/** Where a preset comes from; an earlier one wins over a later one with the same id. */
export type PresetRoot = 'shipped' | 'user' | 'workspace'

/** For the picker. */
export interface PresetSummary {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly root: PresetRoot
  /** The file it comes from; absent for shipped ones. */
  readonly path?: string
  /** Why it cannot be chosen now. */
  readonly problem?: string
}

export interface Presets {
  /** Read the files of presets again. A session that runs keeps what it has; new ones get what stands there now. */
  discover(): Promise<void>
  /** All presets as last read, in the order of the picker; one that cannot work is listed with its reason. */
  list(): readonly PresetSummary[]
  /** Names only: the preset of a new session by the setting `agent.defaultPreset`. */
  defaultId(): string
  /** A preset as last read, by its id or alias; undefined for one that is not there or cannot be read. */
  get(id: string): Preset | undefined
  /** The standing layer of a preset, mounted at its first use. Errors: `PresetError` `UNKNOWN_PRESET`, `PRESET_BROKEN`. */
  scopeOf(id: string): ScopeKey
  /** The preset a layer stands on, in the generation it was mounted with. */
  presetOf(scope: ScopeKey): Preset | undefined
  /**
   * Copy a preset to be changed there: into the person's own folder, or into that of the first folder of the workspace. The file is whole
   * but for name and order, which are the new owner's to give, and closed to others. Gives its path.
   *
   * Errors: `PresetError` `UNKNOWN_PRESET`; `PRESET_EXISTS`: an id is never written over; `PRESET_BROKEN` for a bad id, a preset that cannot
   * be read, or a workspace without a folder that is trusted.
   */
  copy(id: string, newId: string, root?: 'user' | 'workspace'): Promise<string>
  /** Called for each layer of a preset that is mounted already, then for each as it is mounted. */
  onMount(listener: (scope: ScopeKey, preset: Preset) => void): Undo
}

export type PresetErrorCode = 'UNKNOWN_PRESET' | 'PRESET_BROKEN' | 'PRESET_EXISTS' | 'agent-preset-locked'

export class PresetError extends HarnessError<PresetErrorCode> {}

declare module '../kernel/plugin.ts' {
  interface Services {
    presets: Presets
  }
  interface ExtensionPoints {
    'agent-preset/selected': Emit<[sessionId: string, preset: string]>
  }
}
