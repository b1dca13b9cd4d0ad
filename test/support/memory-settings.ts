import type { SettingsSource } from '../../extension/capabilities/settings-source.ts'

export type SettingValues = Readonly<Record<string, unknown>>

export interface MemorySettings extends SettingsSource {
  readonly user: Record<string, unknown>
  readonly workspace: Record<string, unknown>
}

/** Settings in memory; a workspace's value goes over the person's, as in the editor. */
export function memorySettings(user: SettingValues = {}, workspace: SettingValues = {}): MemorySettings {
  const stored = { user: { ...user }, workspace: { ...workspace } }
  const listeners = new Set<(changed: (key: string) => boolean) => void>()
  return {
    ...stored,
    get: (key) => stored.workspace[key] ?? stored.user[key],
    inspect: (key) => ({ user: stored.user[key], workspace: stored.workspace[key] }),
    set(key, value, where) {
      if (value === undefined) delete stored[where][key]
      else stored[where][key] = value
      for (const listener of listeners) listener((asked) => asked === key)
      return Promise.resolve()
    },
    onDidChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
