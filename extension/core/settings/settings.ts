import { HarnessError } from '../../base/harness-error.ts'
import type { Undo } from '../../base/undo.ts'
import type { Emit } from '../kernel/plugin.ts'

/** A change of the settings was not made; what stood there stands. */
export class SettingsError extends HarnessError<'SETTINGS_CONFLICT' | 'UNKNOWN_SETTING' | 'INVALID_SETTING'> {}

/** One validated setting; `key` without the product prefix. The manifest entry is tested for equality with it. */
export interface SettingSpec<T> {
  readonly key: string
  readonly fallback: T
  /** Gives the value or throws with words for the person. */
  readonly parse: (raw: unknown) => T
}

/** Validated settings, live: a bad edit keeps the last good value and is reported once. */
export interface Settings {
  get<T>(spec: SettingSpec<T>): T
  /** Called after a value changed, or what is wrong with it. */
  onDidChange(listener: (key: string) => void): Undo
  /** Bad values that stand in the settings now. */
  problems(): readonly { readonly key: string; readonly message: string }[]
  /** Everything that can be set as it stands now, secrets masked: for pages and reports. */
  describe(): readonly SettingDescription[]
  /** How often a namespace (what stands before the first dot of a key) was changed since the start. */
  revision(namespace: string): number
  /** Errors: `SettingsError`; `SETTINGS_CONFLICT` when the namespace is no longer at `expectedRevision`. */
  update(change: SettingChange): Promise<void>
}

export interface SettingChange {
  readonly key: string
  /** A place within the value; absent: the whole of it. */
  readonly path?: readonly string[]
  /** Undefined takes it away. */
  readonly value: unknown
  readonly where?: 'user' | 'workspace'
  readonly expectedRevision?: number
}

export interface SettingDescription {
  readonly key: string
  readonly description: string
  readonly scope: 'window' | 'machine' | 'application'
  /** When a change takes hold. */
  readonly applies: 'live' | 'restart'
  readonly fallback: unknown
  /** What holds. */
  readonly value: unknown
  /** Where it was set. */
  readonly setIn: 'user' | 'workspace' | null
  readonly problem?: string
}

export type SettingsChangeSource = 'document' | 'update'

declare module '../kernel/plugin.ts' {
  interface Services {
    settings: Settings
  }
  interface ExtensionPoints {
    /** `source`: somebody changed the document, or asked the service to. */
    'settings/updated': Emit<[key: string, next: unknown, previous: unknown, source: SettingsChangeSource]>
    'settings/document-updated': Emit<[namespace: string, revision: number]>
  }
}
