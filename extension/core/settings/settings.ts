import type { Undo } from '../../base/undo.ts'
import type { Emit } from '../kernel/plugin.ts'

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
}

declare module '../kernel/plugin.ts' {
  interface Services {
    settings: Settings
  }
  interface ExtensionPoints {
    'settings/updated': Emit<[key: string, next: unknown, previous: unknown]>
  }
}
