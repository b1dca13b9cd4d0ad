import { HarnessError } from '../../base/harness-error.ts'
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
  /** False leaves facts about the workspace out. */
  readonly hasRuntimeContext: boolean
  /** False: the person's instruction files are not told. */
  readonly hasInstructions?: false
}

/** For the picker. */
export interface PresetSummary {
  readonly id: string
  readonly name: string
  readonly description: string
  /** Why it cannot be chosen now. */
  readonly problem?: string
}

export interface Presets {
  /** All presets in the order of the picker; one that cannot work is listed with its reason. */
  list(): readonly PresetSummary[]
  get(id: string): Preset | undefined
  /** Names only: the preset of a new session by the setting `agent.defaultPreset`. */
  defaultId(): string
  /** The standing layer of a preset, mounted at its first use. Errors: `PresetError` `UNKNOWN_PRESET`, `PRESET_BROKEN`. */
  scopeOf(id: string): ScopeKey
}

export type PresetErrorCode = 'UNKNOWN_PRESET' | 'PRESET_BROKEN' | 'AGENT_PRESET_LOCKED'

export class PresetError extends HarnessError<PresetErrorCode> {}

declare module '../kernel/plugin.ts' {
  interface Services {
    presets: Presets
  }
  interface ExtensionPoints {
    'agent-preset/selected': Emit<[sessionId: string, preset: string]>
  }
}
